import NIOCore
import NIOPosix
import NetworkClientCore

/// One connection on its way, from the name over the addresses to the handshake; lives on its event loop.
final class ConnectionProcess {
    /// What is to be opened, and how.
    struct Plan: Sendable {
        let endpoint: Endpoint
        /// The addresses, if they are known: nothing is looked up then.
        let addresses: [SocketAddress]?
        let limits: Timeouts
        let resolver: NameResolver
        let tls: TLSClient?
        let initialize: @Sendable (any Channel) throws -> Void
    }

    private let plan: Plan
    private let loop: any EventLoop
    private let promise: EventLoopPromise<EstablishedConnection>
    private var metrics = ConnectMetrics()
    private var isOver = false
    private var query: NameQuery?
    private var timer: Scheduled<Void>?
    private var stageStart = ContinuousClock.now
    /// The channels of all addresses that are being tried, then the one that won.
    private var channels: [any Channel] = []
    private var targets: [SocketAddress] = []

    init(_ plan: Plan, _ promise: EventLoopPromise<EstablishedConnection>, on loop: any EventLoop) {
        self.plan = plan
        self.loop = loop
        self.promise = promise
    }

    private var endpoint: Endpoint { plan.endpoint }

    // MARK: Resolving

    func start() {
        do throws(HTTPError) {
            if let addresses = plan.addresses {
                try connect(to: addresses.map(endpoint.withPort))
            } else if let address = try endpoint.literalAddress() {
                try connect(to: [address])
            } else {
                resolve()
            }
        } catch {
            fail(error)
        }
    }

    private func resolve() {
        let query = plan.resolver.resolve(endpoint.host, limit: plan.limits.resolve, on: loop)
        self.query = query
        query.addresses.assumeIsolated().whenComplete { [self] result in
            guard !isOver else { return }
            self.query = nil
            metrics.resolve = lap()
            do {
                try connect(to: result.get().map(endpoint.withPort))
            } catch {
                fail(error as? HTTPError ?? .init(.nameLookupFailed, .neverSent, "\(error)", cause: error))
            }
        }
    }

    // MARK: Connecting

    private func connect(to addresses: [SocketAddress]) throws(HTTPError) {
        let source = try LocalEnd(endpoint.binding)
        targets = try source.reachable(addresses, of: endpoint)
        let me = NIOLoopBound(self, eventLoop: loop)
        let bootstrap = source.apply(to: ClientBootstrap(group: loop), isUnix: endpoint.socketPath != nil)
            .connectTimeout(.hours(24))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try me.value.prepare(channel) }
            }
        limit(plan.limits.connect) { [self] in timedOut() }
        HandedOver(targets, on: loop).connect(bootstrap).assumeIsolated().whenComplete { [self] result in
            guard !isOver else { return }
            switch result {
            case .success(let channel): connected(channel)
            case .failure(let error): fail(ConnectFailure(endpoint, targets).error(for: error))
            }
        }
    }

    /// Makes one of the channels ready; what comes after TCP is in place before the first byte.
    private func prepare(_ channel: any Channel) throws {
        guard !isOver else { throw Self.cancelled(endpoint) }
        channels.append(channel)
        guard endpoint.isSecure else { return }
        guard let tls = plan.tls else {
            throw HTTPError(
                .invalidConfiguration,
                .neverSent,
                "a secure connection needs a TLS client: give the connector one"
            )
        }
        let (handler, verdict) = try tls.makeHandler(host: endpoint.nameForTLS)
        try channel.pipeline.syncOperations.addHandlers(handler, HandshakeHandler(handler, verdict))
    }

    private func connected(_ channel: any Channel) {
        timer?.cancel()
        metrics.connect = lap()
        metrics.localAddress = endpoint.socketPath == nil ? channel.localAddress?.text : nil
        metrics.remoteAddress = endpoint.socketPath ?? channel.remoteAddress?.text
        channels = [channel]
        do {
            try plan.initialize(channel)
            if endpoint.isSecure {
                try secure(channel)
            } else {
                succeed(channel)
            }
        } catch {
            fail(
                error as? HTTPError
                    ?? .init(.connectFailed, .neverSent, "the connection can't be set up: \(error)", cause: error)
            )
        }
    }

    // MARK: TLS

    private func secure(_ channel: any Channel) throws {
        let handshake = try channel.pipeline.syncOperations.handler(type: HandshakeHandler.self)
        limit(plan.limits.tls) { [self] in
            fail(
                .init(
                    .tlsTimedOut,
                    .neverSent,
                    """
                    the TLS handshake with \(endpoint.text) took longer than \(plan.limits.tls ?? .zero): \
                    see whether the server speaks TLS there
                    """
                )
            )
        }
        handshake.whenComplete { [self] result in
            guard !isOver else { return }
            switch result {
            case .success(let version):
                metrics.tls = lap()
                metrics.tlsVersion = version
                succeed(channel)
            case .failure(let error):
                fail(handshake.verdict.error(for: error, host: endpoint.nameForTLS))
            }
        }
    }

    // MARK: The end

    func cancel() { fail(Self.cancelled(endpoint)) }

    static func cancelled(_ endpoint: Endpoint) -> HTTPError {
        .init(.cancelled, .neverSent, "connecting to \(endpoint.text) was cancelled")
    }

    private func timedOut() {
        let tried = targets.map(\.text).joined(separator: ", ")
        fail(
            .init(
                .connectTimedOut,
                .neverSent,
                """
                no answer from \(endpoint.text) within \(plan.limits.connect ?? .zero) (tried \(tried)): \
                see whether the server is up and no firewall is in the way
                """
            )
        )
    }

    private func succeed(_ channel: any Channel) {
        guard !isOver else { return }
        end()
        promise.succeed(.init(channel: channel, metrics: metrics))
    }

    private func fail(_ error: HTTPError) {
        guard !isOver else { return }
        let channels = channels
        let query = query
        end()
        query?.cancel()
        // First the reason: handlers that see their channel closed would find another.
        promise.fail(error)
        for channel in channels { channel.close(promise: nil) }
    }

    private func end() {
        isOver = true
        timer?.cancel()
        timer = nil
        query = nil
        channels = []
    }

    private func limit(_ duration: Duration?, _ body: @escaping () -> Void) {
        timer?.cancel()
        timer = duration.map { loop.assumeIsolated().scheduleTask(in: .init($0), body) }
    }

    /// How long this stage took; the next one begins.
    private func lap() -> Duration {
        let now = ContinuousClock.now
        defer { stageStart = now }
        return now - stageStart
    }
}
