import NIOCore
import NetworkClientCore

/// Opens connections: resolves the name, connects (Happy Eyeballs, RFC 8305), negotiates with a proxy, performs the TLS
/// handshake.
///
/// Each stage has its own timeout, except for the proxy, which is included in the timeout for connecting.
struct Connector: Sendable {
    private let resolver: NameResolver
    private let tls: TLSClient?
    private let proxies: ProxyContext

    /// Creates a connector; without a TLS client, it can't open secure connections.
    init(resolver: NameResolver = .shared, tls: TLSClient?, proxies: ProxyContext = .init()) {
        self.resolver = resolver
        self.tls = tls
        self.proxies = proxies
    }

    /// Starts to open a connection on the loop, to the given addresses or to all addresses of the name.
    ///
    /// With a proxy, the addresses are the proxy's. `keepsFree` is the number of descriptors that must be free; with
    /// fewer, the attempt fails with `tooManyDescriptors`. A challenge of the server names `request`.
    ///
    /// `initialize` is called on the loop once TCP is connected and the proxy's tunnel is open, with the TLS handler in
    /// place and before the channel becomes active: handlers that it adds receive `channelActive` and all events after
    /// it.
    ///
    /// If it fails, the attempt's future fails with an `HTTPError`, always `neverSent`, and no descriptor stays open.
    func connect(
        to endpoint: Endpoint,
        at addresses: [SocketAddress]? = nil,
        limits: Timeouts,
        keepsFree: Int = RuntimeDescriptors.minimumFree,
        for request: OpeningRequest = .unknown,
        on loop: any EventLoop,
        initialize: @escaping @Sendable (any Channel) throws -> Void
    ) -> ConnectionAttempt {
        let plan = ConnectionProcess.Plan(
            endpoint: endpoint,
            addresses: addresses,
            limits: limits,
            keepsFree: keepsFree,
            resolver: resolver,
            tls: endpoint.isSecure ? endpoint.tls?.client ?? tls : nil,
            request: request,
            proxies: proxies,
            initialize: initialize
        )
        return ConnectionAttempt(plan, on: loop)
    }
}

/// An open connection, with TLS if the endpoint is secure.
struct EstablishedConnection: Sendable {
    /// The connection's channel.
    let channel: any Channel
    /// The durations and addresses of its stages.
    let metrics: ConnectMetrics
    /// The protocol that the server selected in the TLS handshake (ALPN); nil for none.
    let applicationProtocol: String?
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

    /// Starts the attempt.
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

    /// Cancels the attempt from any thread, and closes all its channels.
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

/// The durations of the stages of opening a connection, and their results.
public struct ConnectMetrics: Sendable, Hashable {
    /// The lookup of the host's name; nil for a numeric address or a Unix socket.
    public var resolve: Duration?
    /// Connecting, including all attempts.
    public var connect: Duration?
    /// The negotiation with the proxy until the tunnel was open, including TLS with the proxy; nil without a proxy, or
    /// if requests are forwarded to it.
    public var proxy: Duration?
    /// The TLS handshake; nil without TLS.
    public var tls: Duration?
    /// This machine's address and port, as in `192.0.2.2:51034`; nil for a Unix socket.
    public var localAddress: String?
    /// The server's address and port, or the proxy's, as in `[2001:db8::1]:443`, or the path of its Unix socket.
    public var remoteAddress: String?
    /// The negotiated TLS version, such as `TLSv1.3`.
    public var tlsVersion: String?
    /// The version of HTTP that the connection uses, `HTTP/1.1` or `HTTP/2`; nil until it is open.
    public var version: String?

    /// Creates empty metrics.
    public init() {}
}
