import Glibc
import NIOCore
import NIOPosix
public import Reachability
public import ReachabilityCore

/// A gate for another HTTP client: holds each request until there is a path to its destination.
///
/// ```swift
/// let gate = ConnectivityGate(requirement: .notCellular, timeout: .seconds(60))
/// let pass = try await gate.pass(to: url)
/// // … any client: bind to pass.interface, if there is one
/// ```
///
/// It decides like a session's own gate: by the path to the destination, not by the machine's default path. A request
/// without a requirement is never held while the state of the network is unknown. ``HTTPSession`` does all of this by
/// itself.
///
/// All members can be used from any thread.
public final class ConnectivityGate: Sendable {
    private let connectivity: any Connectivity
    private let requirement: PathRequirement
    private let timeout: Duration?
    private let waiters: GateWaiters

    /// Makes a gate.
    ///
    /// - Parameters:
    ///   - connectivity: The source of network paths; by default `ReachabilityMonitor.shared`.
    ///   - requirement: The requirement on paths. With any other than ``PathRequirement/any`` the connection must be
    ///     bound as the pass specifies: the packets of an unbound socket use whatever path the kernel prefers, then and
    ///     later.
    ///   - timeout: The maximum time to wait, on a clock that continues while the machine is suspended; nil for no
    ///     limit.
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
        waiters = GateWaiters(connectivity, resolver, loop)
    }

    deinit { waiters.end() }

    /// Waits until a request to a URL may start; returns immediately if it may start now.
    ///
    /// - Parameters:
    ///   - url: The URL of the request, with the scheme `http` or `https`.
    ///   - isFailed: Whether an attempt has just failed because there was no path (ENETUNREACH, EHOSTUNREACH …). The
    ///     kernel is then asked again, and if it has no path, the request waits although the machine is online.
    /// - Returns: The interface and the addresses that the request must use.
    /// - Throws: ``HTTPError``: `invalidURL`; `connectivityTimedOut`, whose reason says what the request waited for,
    ///   for how long, and why there is no path; `cancelled`, immediately, if the task is cancelled.
    public func pass(to url: String, afterFailure isFailed: Bool = false) async throws(HTTPError) -> GatePass {
        let url = try HTTPURL(url)
        if requirement == .any, !isFailed, connectivity.status != .notReachable { return .init() }
        let key = GateKey(host: url.host, port: url.port, socketPath: nil, requirement: requirement)
        let waiter = GateWaiters.Waiter(key, needsRevalidation: isFailed, timeout)
        let waiters = waiters
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { waiters.begin(waiter, $0) }
        } onCancel: {
            waiters.cancel(waiter)
        }
        return try result.get()
    }
}

/// The interface and the addresses that a request must use after it has passed a gate.
public struct GatePass: Sendable, Hashable {
    /// The interface to which its connection must be bound; nil if it may use any, or does not leave this machine.
    public var interface: InterfaceIndex?
    /// The reachable addresses, the preferred one first; nil if they were not evaluated, as when the machine is online
    /// and there is no requirement.
    public var addresses: [IPAddress]?

    /// Makes a pass.
    public init(interface: InterfaceIndex? = nil, addresses: [IPAddress]? = nil) {
        self.interface = interface
        self.addresses = addresses
    }

    /// The interface's name (if_indextoname(3)); nil if there is no interface, or it no longer exists.
    public var interfaceName: String? {
        guard let interface, interface > 0 else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(IF_NAMESIZE)) { buffer in
            if_indextoname(UInt32(interface), buffer.baseAddress).map { String(cString: $0) }
        }
    }

    /// Binds a socket that is not connected yet to the interface, if there is one.
    ///
    /// `SO_BINDTOIFINDEX`, socket(7): without privileges it can be set once.
    ///
    /// - Parameter socket: The socket's descriptor.
    /// - Throws: ``HTTPError`` with code ``HTTPError/Code/interfaceNotFound`` and the kernel's errno.
    public func bind(_ socket: CInt) throws(HTTPError) {
        guard var index = interface else { return }
        let size = socklen_t(MemoryLayout.size(ofValue: index))
        guard setsockopt(socket, SOL_SOCKET, Self.bindToInterface, &index, size) != 0 else { return }
        let reason = "the socket can't be bound to the interface with index \(index): \(HTTPError.describe(errno))"
        throw .init(.interfaceNotFound, processing: .neverSent, reason: reason, errno: errno)
    }

    /// `SO_BINDTOIFINDEX` (`asm-generic/socket.h`).
    private static let bindToInterface: CInt = 62
}

extension GatePass {
    /// Makes the pass for an open gate.
    init(_ binding: LocalBinding, _ addresses: [SocketAddress]?) {
        self.init(addresses: addresses?.compactMap { IPAddress($0) })
        if case .interfaceIndex(let index) = binding { interface = index }
    }
}
