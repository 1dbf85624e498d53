import CLinux
import CommandLineSupport
import Glibc
import NetwatchCore
import Reachability
import ReachabilityCore
import Synchronization

/// Resolves a name on a thread of its own, because getaddrinfo(3) cannot be given a deadline.
///
/// A thread that still waits for its resolution when nobody does any more ends with the process.
final class HostResolver: Sendable {
    private let kept: Kept

    /// The result, once it is known.
    var resolution: Resolution? { kept.resolution.withLock { $0 } }

    /// Starts to resolve a name.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - namespace: The network namespace from which the name server is asked.
    ///   - wakeup: Told when the resolution is there.
    /// - Throws: The errno, if there is no thread to be had.
    init(_ name: String, in namespace: NetworkNamespace, wakeup: Wakeup) throws(SystemError) {
        let kept = Kept()
        self.kept = kept
        try DetachedThread.start {
            let resolution = Self.resolve(name, in: namespace)
            kept.resolution.withLock { $0 = resolution }
            wakeup.signal()
        }
    }

    /// The result of resolving a name.
    enum Resolution: Hashable, Sendable {
        /// Its addresses, best first (RFC 6724).
        case addresses([IPAddress])
        /// There are none, and why.
        case failed(String)

        /// The addresses; none if that failed.
        var addresses: [IPAddress] {
            if case .addresses(let addresses) = self { addresses } else { [] }
        }
    }

    /// Resolves a name, or gives up at a deadline (nil is never).
    static func resolve(
        _ name: String,
        in namespace: NetworkNamespace,
        beside session: MonitorSession,
        until deadline: Instant?
    ) throws(ToolError) -> Resolution {
        let resolver: HostResolver
        do throws(SystemError) {
            resolver = try HostResolver(name, in: namespace, wakeup: session.wakeup)
        } catch {
            throw error.toolError("start a thread to resolve '\(name.escapedForTerminal)'")
        }
        while true {
            if let resolution = resolver.resolution { return resolution }
            if try session.next(until: deadline) == .deadline { return .failed("no name server answered in time") }
        }
    }

    private final class Kept: Sendable {
        let resolution = Mutex<Resolution?>(nil)
    }

    private static func resolve(_ name: String, in namespace: NetworkNamespace) -> Resolution {
        do throws(SystemError) { try enter(namespace) } catch { return .failed(error.description) }
        var hints = addrinfo()
        // One entry for each address instead of one for each kind of socket.
        hints.ai_socktype = Int32(SOCK_DGRAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let failure = getaddrinfo(name, nil, &hints, &list)
        guard failure == 0 else { return .failed(failure == EAI_SYSTEM ? SystemError.last.description : text(failure)) }
        defer { freeaddrinfo(list) }
        let entries = sequence(first: list) { $0?.pointee.ai_next }.prefix { $0 != nil }
        let addresses = entries.compactMap { $0.flatMap(address) }
        return addresses.isEmpty ? .failed("it has no address") : .addresses(addresses)
    }

    /// Only this thread enters the namespace (setns(2)).
    private static func enter(_ namespace: NetworkNamespace) throws(SystemError) {
        guard let file = namespace.file else { return }
        let descriptor = try retryingOnInterrupt { open(file, O_RDONLY | O_CLOEXEC) }
        defer { close(descriptor) }
        _ = try retryingOnInterrupt { setns(descriptor, 0) }
    }

    private static func text(_ failure: Int32) -> String {
        gai_strerror(failure).map { String(cString: $0) } ?? "error \(failure)"
    }

    private static func address(_ entry: UnsafeMutablePointer<addrinfo>) -> IPAddress? {
        guard let socketAddress = entry.pointee.ai_addr else { return nil }
        switch entry.pointee.ai_family {
        case AF_INET:
            return socketAddress.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                IPAddress(ipv4: UInt32(bigEndian: $0.pointee.sin_addr.s_addr))
            }
        case AF_INET6:
            return socketAddress.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                let bytes = withUnsafeBytes(of: $0.pointee.sin6_addr) { Array($0) }
                return IPAddress(family: .ipv6, bits: bytes.reduce(0) { $0 << 8 | UInt128($1) })
            }
        default: return nil
        }
    }
}
