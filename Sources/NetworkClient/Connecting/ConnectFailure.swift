import Glibc
import NIOCore
import NIOPosix
import NetworkClientCore

/// Converts the failure to connect to one or several addresses into one error.
struct ConnectFailure {
    private let endpoint: Endpoint
    private let targets: [SocketAddress]

    init(_ endpoint: Endpoint, _ targets: [SocketAddress]) {
        self.endpoint = endpoint
        self.targets = targets
    }

    /// Returns the most informative of the errors, with all addresses in its reason.
    func error(for error: any Error) -> HTTPError {
        guard let several = error as? NIOConnectionError else {
            return self.error(for: error, at: targets.first)
        }
        let failures = several.connectionErrors.map { ($0.target, self.error(for: $0.error, at: $0.target)) }
        guard var worst = failures.map(\.1).min(by: { Self.rank($0.code) < Self.rank($1.code) }) else {
            return .init(
                .nameNotFound,
                processing: .neverSent,
                reason: "'\(endpoint.host)' has no address to connect to",
                cause: error
            )
        }
        guard failures.count > 1 else { return worst }
        let list = failures.map { "\($0.text): \(Self.short($1))" }.joined(separator: "; ")
        worst.reason += " (all addresses of \(endpoint.host) were tried: \(list))"
        worst.cause = error
        return worst
    }

    /// The rank of an error; the most informative one has the lowest: first a resource that this process lacks, then
    /// the reply that came from farthest away.
    ///
    /// 'No route' is reported only if there is none to any of the addresses.
    private static func rank(_ code: HTTPError.Code) -> Int {
        let order: [HTTPError.Code] = [
            .tooManyDescriptors, .interfaceNotFound, .connectionRefused, .connectTimedOut, .hostUnreachable,
            .prohibited,
            .blackholed, .addressNotAvailable, .networkUnreachable,
        ]
        return order.firstIndex(of: code) ?? 2
    }

    private static func short(_ error: HTTPError) -> String {
        error.errno.map { String(cString: strerror($0)) } ?? error.reason
    }

    private func error(for error: any Error, at address: SocketAddress?) -> HTTPError {
        if let error = error as? HTTPError { return error }
        let target = address?.text ?? endpoint.text
        guard let failure = error as? IOError else {
            return .init(
                .connectFailed,
                processing: .neverSent,
                reason: "connecting to \(target) failed: \(error)",
                cause: error
            )
        }
        let (code, reason) = endpoint.socketPath == nil ? Self.network(failure, target) : Self.local(failure, target)
        return .init(code, processing: .neverSent, reason: reason, errno: failure.errnoCode, cause: error)
    }

    /// connect(2) and bind(2) of a Unix socket; unix(7).
    private static func local(_ failure: IOError, _ path: String) -> (HTTPError.Code, String) {
        switch failure.errnoCode {
        case ECONNREFUSED:
            (.connectionRefused, "nobody listens on the Unix socket \(path): see whether its server runs")
        case ENOENT:
            (.connectFailed, "there is no Unix socket \(path): see whether its server runs, and where it listens")
        case EACCES, EPERM:
            (.prohibited, "this user may not write to the Unix socket \(path): see the permissions of its path")
        case EAGAIN: (.connectFailed, "the queue of the Unix socket \(path) is full: its server is too slow or stuck")
        case EMFILE, ENFILE: (.tooManyDescriptors, descriptors(failure, path))
        default: (.connectFailed, "connecting to the Unix socket \(path) failed: \(text(failure))")
        }
    }

    /// connect(2) and bind(2) of TCP; ip(7), and the kernel's route types.
    private static func network(_ failure: IOError, _ target: String) -> (HTTPError.Code, String) {
        switch failure.errnoCode {
        case ECONNREFUSED:
            (.connectionRefused, "\(target) refuses connections: see whether the server runs and listens there")
        case ENETUNREACH, ENETDOWN:
            (
                .networkUnreachable,
                "there is no route to \(target): see whether the network is up ('ip route get' tells)"
            )
        case EHOSTUNREACH, EHOSTDOWN:
            (.hostUnreachable, "\(target) can't be reached: a router or route reports it, or a neighbour is silent")
        case EACCES, EPERM:
            (
                .prohibited,
                "connections to \(target) are prohibited: see the routes ('ip route get'), rules and firewall"
            )
        case EINVAL:
            (.blackholed, "a blackhole route swallows what goes to \(target): see 'ip route get' and 'ip rule'")
        case EADDRNOTAVAIL:
            (.addressNotAvailable, "the source address for \(target) is gone, or all local ports are in use")
        case ENODEV, ENXIO:
            (.interfaceNotFound, "the interface for \(target) is gone: 'ip link' lists the interfaces")
        case ETIMEDOUT:
            (.connectTimedOut, "\(target) does not respond: see whether the server is up and no firewall is in the way")
        case EMFILE, ENFILE:
            (.tooManyDescriptors, descriptors(failure, target))
        default:
            (.connectFailed, "connecting to \(target) failed: \(text(failure))")
        }
    }

    private static func descriptors(_ failure: IOError, _ target: String) -> String {
        "no socket can be opened for \(target): \(text(failure)); close some, or raise the limit (ulimit -n)"
    }

    private static func text(_ failure: IOError) -> String { String(cString: strerror(failure.errnoCode)) }
}
