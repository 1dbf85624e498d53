import Glibc
import NIOCore
import NIOPosix
public import Reachability
public import ReachabilityCore

/// A gate for those who keep their own client: holds each request until there is a path to where it wants to go.
///
/// ```swift
/// let gate = ConnectivityGate(requirement: .notCellular, timeout: .seconds(60))
/// let pass = try await gate.pass(to: url)
/// // … any client: keep to pass.interface, if there is one
/// ```
///
/// It judges as a session's own gate does: the destination's own path, not the machine's; a request without a
/// requirement is never held while nobody knows. ``HTTPSession`` does all of this by itself.
///
/// All members can be used from any thread.
public final class ConnectivityGate: Sendable {
    private let connectivity: any Connectivity
    private let requirement: PathRequirement
    private let timeout: Duration?
    private let visits: GateVisits

    /// Makes a gate.
    ///
    /// - Parameters:
    ///   - connectivity: Who knows the ways out; by default `ReachabilityMonitor.shared`.
    ///   - requirement: What paths must be. With any but ``PathRequirement/any`` the connection must be bound as the
    ///     pass says: unbound, its packets leave by whatever path the kernel prefers, then and later.
    ///   - timeout: How long to wait at most, on a clock that goes on while the machine is suspended; nil for ever.
    public convenience init(
        connectivity: any Connectivity = ReachabilityMonitor.shared,
        requirement: PathRequirement = .any,
        timeout: Duration? = nil
    ) {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        self.init(connectivity, requirement, timeout, .shared, loop)
    }

    init(
        _ connectivity: any Connectivity,
        _ requirement: PathRequirement,
        _ timeout: Duration?,
        _ resolver: NameResolver,
        _ loop: any EventLoop
    ) {
        self.connectivity = connectivity
        self.requirement = requirement
        self.timeout = timeout
        visits = GateVisits(connectivity, resolver, loop)
    }

    deinit { visits.end() }

    /// Waits until a request to a URL may go; returns at once if it may now.
    ///
    /// - Parameters:
    ///   - url: Where it leads; `http` and `https` are known.
    ///   - isFailed: Whether an attempt has just failed for want of a path (ENETUNREACH, EHOSTUNREACH …). Then the
    ///     kernel is asked again, and where it really has none, the request waits although the machine is online.
    /// - Returns: What the request must keep to.
    /// - Throws: ``HTTPError``: `invalidURL`; `connectivityTimedOut`, which tells what it waited for, for how long, and
    ///   why there is no path; `cancelled`, at once, if the task is.
    public func pass(to url: String, afterFailure isFailed: Bool = false) async throws(HTTPError) -> GatePass {
        let url = try HTTPURL(url)
        if requirement == .any, !isFailed, connectivity.status != .notReachable { return .init() }
        let key = GateKey(host: url.host, port: url.port, socketPath: nil, requirement: requirement)
        let visit = GateVisits.Visit(key, isDoubted: isFailed, timeout)
        let visits = visits
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { visits.begin(visit, $0) }
        } onCancel: {
            visits.cancel(visit)
        }
        return try result.get()
    }
}

/// What a request must keep to that was let through a gate.
public struct GatePass: Sendable, Hashable {
    /// The interface to which its connection must be bound; nil if it may leave by any, or does not leave this machine.
    public var interface: InterfaceIndex?
    /// The addresses to which there is a way, the best first; nil if none was judged, as online without a requirement.
    public var addresses: [IPAddress]?

    /// Sets both.
    public init(interface: InterfaceIndex? = nil, addresses: [IPAddress]? = nil) {
        self.interface = interface
        self.addresses = addresses
    }

    /// The interface's name (if_indextoname(3)); nil if there is none, or it has gone.
    public var interfaceName: String? {
        guard let interface, interface > 0 else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
            if_indextoname(UInt32(interface), buffer.baseAddress).map { String(cString: $0) }
        }
    }

    /// Binds a socket that is not connected yet to the interface, if there is one to keep to.
    ///
    /// `SO_BINDTOIFINDEX`, socket(7): without privilege it can be set once.
    ///
    /// - Parameter socket: The socket's descriptor.
    /// - Throws: ``HTTPError`` with code ``HTTPError/Code/interfaceNotFound`` and the kernel's errno.
    public func bind(_ socket: CInt) throws(HTTPError) {
        guard var index = interface else { return }
        let size = socklen_t(MemoryLayout.size(ofValue: index))
        guard setsockopt(socket, SOL_SOCKET, Self.bindToInterface, &index, size) != 0 else { return }
        let reason = "the socket can't be bound to the interface with index \(index): \(HTTPError.describe(errno))"
        throw .init(.interfaceNotFound, .neverSent, reason, errno: errno)
    }

    /// `SO_BINDTOIFINDEX` (`asm-generic/socket.h`).
    private static let bindToInterface: CInt = 62
}

extension GatePass {
    /// What an open gate says.
    init(_ binding: LocalBinding, _ addresses: [SocketAddress]?) {
        self.init(addresses: addresses?.compactMap { IPAddress($0) })
        if case .interfaceIndex(let index) = binding { interface = index }
    }
}
