import Glibc
import LinuxSystem
import NIOCore

/// The result of a name lookup.
enum LookupResult: Sendable {
    /// The addresses, in the order in which to try them (RFC 6724); their ports are 0.
    case addresses([SocketAddress])
    /// getaddrinfo's code and the errno after it.
    case failure(code: Int32, errno: Int32)

    /// The addresses, or the failure as an error.
    func result(for name: String) -> Result<[SocketAddress], HTTPError> {
        switch self {
        case .addresses(let addresses): .success(addresses)
        case .failure(let code, let errno): .failure(Self.error(code, errno, name))
        }
    }

    private static func error(_ code: Int32, _ errno: Int32, _ name: String) -> HTTPError {
        // Regardless of glibc's code: if it can open neither a file nor a socket, it reports that there is no such
        // name.
        if errno == EMFILE || errno == ENFILE {
            return .init(
                .tooManyDescriptors,
                processing: .neverSent,
                reason:
                    "'\(name)' can't be looked up with so many descriptors open; close some, or raise the limit (ulimit -n)",
                errno: errno
            )
        }
        return switch code {
        case EAI_NONAME:
            .init(.nameNotFound, processing: .neverSent, reason: "there is no host named '\(name)': check its spelling")
        case noData:
            .init(
                .nameNotFound,
                processing: .neverSent,
                reason: "the name '\(name)' exists, but has no address: check its spelling"
            )
        case EAI_AGAIN:
            .init(
                .nameTemporarilyUnresolvable,
                processing: .neverSent,
                reason:
                    "no name server responds for '\(name)': see whether the network is up, and /etc/resolv.conf right"
            )
        case EAI_SYSTEM:
            .init(
                .nameLookupFailed,
                processing: .neverSent,
                reason: "the name '\(name)' can't be looked up: \(String(cString: strerror(errno)))",
                errno: errno
            )
        default:
            .init(
                .nameLookupFailed,
                processing: .neverSent,
                reason: "the name '\(name)' can't be looked up: \(String(cString: gai_strerror(code)))"
            )
        }
    }

    /// EAI_NODATA, which glibc returns, but declares only for _GNU_SOURCE.
    static let noData: Int32 = -5
}

/// The system's resolver, with SwiftNIO's address type.
enum SystemLookup {
    /// Looks up a name's addresses; blocks until the name servers have responded or timed out.
    static func addresses(of name: String) -> LookupResult { addresses(of: name, isNumeric: false) }

    /// Looks up a name's addresses, or only parses a numeric address, which doesn't block.
    static func addresses(of name: String, isNumeric: Bool) -> LookupResult {
        switch AddressLookup.addresses(of: name, isNumeric: isNumeric) {
        case .addresses(let addresses): .addresses(addresses.map(SocketAddress.init))
        case .failure(let code, let errno): .failure(code: code, errno: errno)
        }
    }
}

extension SocketAddress {
    /// Creates an address with port 0.
    fileprivate init(_ resolved: ResolvedAddress) {
        switch resolved.socketAddress {
        case .ipv4(let address): self.init(address, host: "")
        case .ipv6(let address): self.init(address, host: "")
        }
    }
}
