import NIOCore
import NetworkClientCore

/// Opens connections: resolves, connects (Happy Eyeballs, RFC 8305), gets past a proxy, speaks TLS.
///
/// Each stage has its own limit, but the proxy, which the limit for connecting includes.
struct Connector: Sendable {
    private let resolver: NameResolver
    private let tls: TLSClient?
    private let proxies: ProxyContext

    /// Makes a connector; without a TLS client, it opens no secure connections.
    init(resolver: NameResolver = .shared, tls: TLSClient?, proxies: ProxyContext = .init()) {
        self.resolver = resolver
        self.tls = tls
        self.proxies = proxies
    }

    /// Starts to open a connection, on the loop; to addresses that are known already, or to all that the name has.
    ///
    /// Where a proxy is in use, these are the proxy's. `keepsFree` is how many descriptors must be free besides; with
    /// fewer, the attempt fails with `tooManyDescriptors`.
    ///
    /// `initialize` is called on the loop when the TCP connection stands, and leads past the proxy, with the TLS
    /// handler in place and before the channel is told that it is active: handlers that it adds see `channelActive` and
    /// all that comes after.
    ///
    /// If it fails, the attempt's future fails with an `HTTPError`, always `neverSent`, and no descriptor is left.
    func connect(
        to endpoint: Endpoint,
        at addresses: [SocketAddress]? = nil,
        limits: Timeouts,
        keepsFree: Int = RuntimeDescriptors.minimumFree,
        on loop: any EventLoop,
        initialize: @escaping @Sendable (any Channel) throws -> Void
    ) -> ConnectionAttempt {
        let plan = ConnectionProcess.Plan(
            endpoint: endpoint,
            addresses: addresses,
            limits: limits,
            keepsFree: keepsFree,
            resolver: resolver,
            tls: endpoint.isSecure ? tls : nil,
            proxies: proxies,
            initialize: initialize
        )
        return ConnectionAttempt(plan, on: loop)
    }
}

/// A connection that is open, and speaks TLS if it was to.
struct EstablishedConnection: Sendable {
    /// The connection's channel.
    let channel: any Channel
    /// How it came to be.
    let metrics: ConnectMetrics
}

/// A connection that is being opened.
struct ConnectionAttempt: Sendable {
    /// Succeeds when the connection can be used, on the loop.
    let established: EventLoopFuture<EstablishedConnection>
    private let state: NIOLoopBoundBox<State>

    private enum State {
        case new
        case running(ConnectionProcess)
        case cancelled
    }

    /// Starts.
    init(_ plan: ConnectionProcess.Plan, on loop: any EventLoop) {
        let promise = loop.makePromise(of: EstablishedConnection.self)
        let state = NIOLoopBoundBox.makeBoxSendingValue(State.new, eventLoop: loop)
        established = promise.futureResult
        self.state = state
        Self.run(on: loop) {
            if case .cancelled = state.value {
                promise.fail(ConnectionProcess.cancelled(plan.endpoint))
            } else {
                let process = ConnectionProcess(plan, promise, on: loop)
                state.value = .running(process)
                process.start()
            }
        }
    }

    /// Gives up, from any thread: closes whatever is open.
    ///
    /// The future fails with `cancelled`. Does nothing once the connection is established.
    func cancel() {
        let state = state
        Self.run(on: established.eventLoop) {
            if case .running(let process) = state.value {
                process.cancel()
            } else {
                state.value = .cancelled
            }
        }
    }

    private static func run(on loop: any EventLoop, _ body: @escaping @Sendable () -> Void) {
        if loop.inEventLoop { body() } else { loop.execute(body) }
    }
}

/// How long the stages of opening a connection took, and what came of them.
public struct ConnectMetrics: Sendable, Hashable {
    /// The lookup of the host's name; nil for a numeric address or a Unix socket.
    public var resolve: Duration?
    /// Connecting, all attempts together.
    public var connect: Duration?
    /// What the proxy took to lead to the origin, its own TLS included; nil without a proxy, or where it is handed
    /// requests.
    public var proxy: Duration?
    /// The TLS handshake; nil without TLS.
    public var tls: Duration?
    /// This machine's address and port, as in `192.0.2.2:51034`; nil for a Unix socket.
    public var localAddress: String?
    /// The server's address and port, or the proxy's, as in `[2001:db8::1]:443`, or the path of its Unix socket.
    public var remoteAddress: String?
    /// The version of TLS that was agreed on, as in `TLSv1.3`.
    public var tlsVersion: String?

    /// Makes metrics of a connection that has not come far.
    public init() {}
}
