import Glibc
import NIOCore
import NIOPosix
import NetworkClientCore

/// One attempt to open a connection, from the lookup through TCP and the proxy to the TLS handshake; confined to its
/// event loop.
final class ConnectionProcess {
    /// The parameters of the connection to open.
    struct Plan: Sendable {
        let endpoint: Endpoint
        /// The addresses of the host or its proxy, if they are known: nothing is looked up then.
        let addresses: [SocketAddress]?
        let limits: Timeouts
        /// The number of descriptors that must be free before a socket is opened.
        let keepsFree: Int
        let resolver: NameResolver
        let tls: TLSClient?
        /// The request that a challenge of the server names.
        let request: OpeningRequest
        let proxies: ProxyContext
        let initialize: @Sendable (any Channel) throws -> Void
    }

    private let plan: Plan
    private let loop: any EventLoop
    private let promise: EventLoopPromise<EstablishedConnection>
    private var metrics = ConnectMetrics()
    private var isOver = false
    private var query: NameQuery?
    /// The timer of the stage that has a limit.
    private var timer: Scheduled<Void>?
    private var stageStart = ContinuousClock.now
    /// The channels of all addresses that are being tried, then the one that won.
    private var channels: [PreparedChannel] = []
    private var targets: [SocketAddress] = []
    /// The negotiation with the proxy; nil if there is no proxy, or the tunnel is open.
    private var passage: ProxyNegotiation?
    /// The dialogue with the proxy on the connections that are being opened.
    private var dialogue: ProxyDialogue?
    /// The endpoint that TCP connects to: the proxy, or the origin.
    private let nextHop: Endpoint

    init(_ plan: Plan, _ promise: EventLoopPromise<EstablishedConnection>, on loop: any EventLoop) {
        self.plan = plan
        self.loop = loop
        self.promise = promise
        nextHop = plan.endpoint.nextHop
        guard let proxy = plan.endpoint.proxy else { return }
        passage = .init(proxy, to: plan.endpoint, plan.proxies)
    }

    var endpoint: Endpoint { plan.endpoint }

    // MARK: Resolving

    func start() {
        if passage?.needsAddresses == true { return resolveOrigin() }
        do throws(HTTPError) {
            if let addresses = plan.addresses {
                try connect(to: addresses.map(nextHop.withPort))
            } else if let address = try nextHop.literalAddress() {
                try connect(to: [address])
            } else {
                resolveNextHop()
            }
        } catch {
            fail(named(error))
        }
    }

    private func resolveNextHop() {
        resolve(nextHop.host) { [self] addresses throws(HTTPError) in
            do throws(HTTPError) {
                try connect(to: addresses.get().map(nextHop.withPort))
            } catch {
                throw named(error)
            }
        }
    }

    /// Looks a name up and calls a closure with the result.
    private func resolve(
        _ host: String,
        _ next: @escaping (Result<[SocketAddress], HTTPError>) throws(HTTPError) -> Void
    ) {
        let query = plan.resolver.resolve(host, limit: plan.limits.resolve, on: loop)
        self.query = query
        query.addresses.assumeIsolated().whenComplete { [self] result in
            guard !isOver else { return }
            self.query = nil
            metrics.resolve = (metrics.resolve ?? .zero) + lap()
            let addresses = result.mapError { error in
                error as? HTTPError
                    ?? .init(.nameLookupFailed, processing: .neverSent, reason: "\(error)", cause: error)
            }
            do throws(HTTPError) { try next(addresses) } catch { fail(error) }
        }
    }

    // MARK: Connecting

    private func connect(to addresses: [SocketAddress]) throws(HTTPError) {
        targets = try SocketBinding(endpoint.binding).reachable(addresses, of: nextHop)
        limit(.connect)
        try connect()
    }

    /// Connects to the targets; the timer for connecting keeps running.
    private func connect() throws(HTTPError) {
        guard RuntimeDescriptors.areFree(plan.keepsFree) else {
            let error = IOError(errnoCode: EMFILE, reason: "few descriptors are left")
            throw ConnectFailure(nextHop, targets).error(for: error)
        }
        let source = try SocketBinding(endpoint.binding)
        dialogue = passage?.dialogue()
        let me = NIOLoopBound(self, eventLoop: loop)
        let bootstrap = source.apply(to: ClientBootstrap(group: loop), isUnix: endpoint.socketPath != nil)
            .connectTimeout(.hours(24))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture { try me.value.prepare(channel) }
            }
        PreresolvedAddresses(targets, on: loop).connect(bootstrap).assumeIsolated().whenComplete { [self] result in
            guard !isOver else { return }
            switch result {
            case .success(let channel): connected(channel)
            case .failure(let error): fail(named(ConnectFailure(nextHop, targets).error(for: error)))
            }
        }
    }

    /// Adds the handlers between TCP and the user's to one of the channels, before the first byte.
    private func prepare(_ channel: any Channel) throws {
        guard !isOver else { throw Self.cancelled(endpoint) }
        try Self.closeOnExecution(channel)
        if endpoint.socketPath == nil { try endpoint.serviceType?.apply(to: channel) }
        channels.append(try PreparedChannel(channel, plan, dialogue))
    }

    /// Makes programs that this process executes not inherit the socket: it would stay open in them (fcntl(2)).
    private static func closeOnExecution(_ channel: any Channel) throws {
        try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) { socket in
            _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        }
    }

    private func connected(_ channel: any Channel) {
        guard let prepared = channels.first(where: { $0.channel === channel }) else { return cancel() }
        channels = [prepared]
        metrics.connect = (metrics.connect ?? .zero) + lap()
        metrics.localAddress = endpoint.socketPath == nil ? channel.localAddress?.text : nil
        metrics.remoteAddress = endpoint.socketPath ?? channel.remoteAddress?.text
        if passage == nil { initialize(prepared) { $0() } } else { pass(prepared) }
    }

    /// Adds the user's handlers, and continues with TLS.
    ///
    /// - Parameters:
    ///   - prepared: The channel.
    ///   - announce: Fires `channelActive` for the handlers, calls its argument, which makes the connection ready for
    ///     use, and then forwards the bytes that have already been received for it.
    private func initialize(_ prepared: PreparedChannel, _ announce: (_ ready: () -> Void) -> Void) {
        timer?.cancel()
        do {
            try plan.initialize(prepared.channel)
        } catch {
            let reason = "the connection can't be set up: \(error)"
            return fail(
                error as? HTTPError ?? .init(.connectFailed, processing: .neverSent, reason: reason, cause: error)
            )
        }
        guard let handshake = prepared.handshake else { return announce { succeed(prepared.channel) } }
        announce { secure(prepared.channel, handshake) }
    }

    // MARK: TLS

    private func secure(_ channel: any Channel, _ handshake: HandshakeHandler) {
        limit(.tls)
        handshake.whenComplete { [self] result in
            guard !isOver else { return }
            switch result {
            case .success(let result):
                metrics.tls = lap()
                metrics.tlsVersion = result.version
                succeed(channel, applicationProtocol: result.applicationProtocol)
            case .failure(let error):
                fail(handshake.verdict.error(for: error, host: endpoint.nameForTLS))
            }
        }
    }

    // MARK: The end

    func cancel() { fail(Self.cancelled(endpoint)) }

    static func cancelled(_ endpoint: Endpoint) -> HTTPError {
        .init(.cancelled, processing: .neverSent, reason: "connecting to \(endpoint.text) was cancelled")
    }

    private func handshakeTimedOut() {
        let reason = """
            the TLS handshake with \(endpoint.text) took longer than \(plan.limits.tls ?? .zero): \
            see whether the server speaks TLS there
            """
        fail(.init(.tlsTimedOut, processing: .neverSent, reason: reason))
    }

    private func connectingTimedOut() {
        if metrics.remoteAddress != nil, let error = proxyTimedOut(channels.first) { return fail(error) }
        let tried = targets.map(\.text).joined(separator: ", ")
        let reason = """
            no response from \(nextHop.text) within \(plan.limits.connect ?? .zero) (tried \(tried)): \
            see whether the server is up and no firewall is in the way
            """
        fail(named(.init(.connectTimedOut, processing: .neverSent, reason: reason)))
    }

    private func succeed(_ channel: any Channel, applicationProtocol: String? = nil) {
        guard !isOver else { return }
        end()
        metrics.version = applicationProtocol == "h2" || endpoint.assumesHTTP2 ? "HTTP/2" : "HTTP/1.1"
        promise.succeed(.init(channel: channel, metrics: metrics, applicationProtocol: applicationProtocol))
    }

    private func fail(_ error: HTTPError) {
        guard !isOver else { return }
        let channels = channels
        let query = query
        end()
        query?.cancel()
        // Fail the promise first: otherwise handlers that see their channel closed would report another reason.
        promise.fail(error)
        for prepared in channels { prepared.channel.close(promise: nil) }
    }

    private func end() {
        isOver = true
        timer?.cancel()
        timer = nil
        query = nil
        channels = []
    }

    /// Closes the connection to the proxy, because another one may succeed.
    private func abandonChannels() {
        let abandoned = channels
        channels = []
        for prepared in abandoned { prepared.channel.close(promise: nil) }
    }

    /// Starts the timeout of a stage, in place of the one before.
    ///
    /// A timer that fires late starts again. The event loop runs it before it looks at the sockets, so after a time in which
    /// the process was stopped, or its thread did not run, the kernel may have received what the peer sent in time.
    private func limit(_ stage: Timeouts.Stage, restarts: Int = 0) {
        timer?.cancel()
        timer = plan.limits[stage].map { limit in
            let due = NIODeadline.now() + .init(limit)
            return loop.assumeIsolated().scheduleTask(deadline: due) { [self] in
                let isLate = NIODeadline.now() - due > Self.maximumLateness
                if isLate, restarts < Self.maximumRestarts { return self.limit(stage, restarts: restarts + 1) }
                if stage == .tls { handshakeTimedOut() } else { connectingTimedOut() }
            }
        }
    }

    /// The lateness of a timer from which the event loop may have missed what the kernel has received.
    private static let maximumLateness = TimeAmount.milliseconds(100)
    /// The number of restarts after which a timeout counts even if the event loop is always late.
    private static let maximumRestarts = 3

    /// Returns the duration of the current stage, and starts the next one.
    private func lap() -> Duration {
        let now = ContinuousClock.now
        defer { stageStart = now }
        return now - stageStart
    }
}

/// The part of the connection that involves the proxy.
extension ConnectionProcess {
    private var failure: ProxyFailure? { endpoint.proxy.map { .init(proxy: $0, endpoint: endpoint) } }

    /// Attributes an error of the next hop to the proxy, if there is one.
    private func named(_ error: HTTPError) -> HTTPError { failure?.of(error) ?? error }

    /// Looks up the origin, for a proxy that needs its address.
    private func resolveOrigin() {
        resolve(endpoint.host) { [self] addresses throws(HTTPError) in
            passage?.take(try addresses.get())
            if passage?.needsAddresses == true {
                throw .init(.nameNotFound, processing: .neverSent, reason: "'\(endpoint.host)' has no address")
            }
            start()
        }
    }

    /// Waits for the TLS handshake with the proxy, if there is one, and then opens the tunnel.
    private func pass(_ prepared: PreparedChannel) {
        guard let handshake = prepared.proxyHandshake else { return open(prepared) }
        handshake.whenComplete { [self] result in
            guard !isOver else { return }
            switch result {
            case .success: open(prepared)
            case .failure(let error): fail(named(handshake.verdict.error(for: error, host: nextHop.nameForTLS)))
            }
        }
    }

    /// Asks the proxy to connect to the origin.
    private func open(_ prepared: PreparedChannel) {
        guard let tunnel = prepared.tunnel else {
            passage = nil
            return initialize(prepared) { $0() }
        }
        tunnel.begin { [self] outcome in
            guard !isOver else { return }
            switch outcome {
            case .open(let rest):
                passage = nil
                metrics.proxy = (metrics.proxy ?? .zero) + lap()
                initialize(prepared) { ready in tunnel.stepAside(rest, ready) }
            case .refused(let refusal): refused(refusal)
            case .lost(let cause): fail(failure?.error(forLoss: cause) ?? Self.cancelled(endpoint))
            }
        }
    }

    private func refused(_ refusal: ProxyRefusal) {
        metrics.proxy = (metrics.proxy ?? .zero) + lap()
        if let step = passage?.tokenStep(after: refusal) { return obtainToken(by: step, refusal) }
        guard passage?.mayRetry(after: refusal) == true else {
            return fail(failure?.error(for: refusal) ?? Self.cancelled(endpoint))
        }
        reconnect()
    }

    /// Opens another connection to the proxy.
    private func reconnect() {
        abandonChannels()
        metrics.remoteAddress = nil
        do throws(HTTPError) { try connect() } catch { fail(named(error)) }
    }

    /// Obtains a token for the proxy off the event loop, and asks the proxy again.
    private func obtainToken(by step: ProxyTokenStep, _ refusal: ProxyRefusal) {
        let me = NIOLoopBound(self, eventLoop: loop)
        let loop = loop
        Task {
            let result: Result<SecurityStep, any Error>
            do {
                result = .success(try await step.context.step(step.token))
            } catch {
                result = .failure(error)
            }
            let isFirst = step.token == nil
            loop.execute { me.value.obtained(result, isFirst: isFirst, refusal) }
        }
    }

    private func obtained(_ result: Result<SecurityStep, any Error>, isFirst: Bool, _ refusal: ProxyRefusal) {
        guard !isOver, let proxy = passage?.proxy else { return }
        switch result {
        case .failure(let cause):
            fail(named(.negotiationFailed(.proxyAuthenticationRequired, "\(proxy)", .neverSent, cause)))
        case .success(let step):
            guard let token = step.token else {
                return fail(failure?.error(for: refusal) ?? Self.cancelled(endpoint))
            }
            passage?.take(token, isComplete: step.isComplete)
            // The tokens after the first belong to the connection.
            guard !isFirst, let prepared = channels.first, prepared.channel.isActive, let tunnel = prepared.tunnel,
                let dialogue = passage?.dialogue()
            else { return reconnect() }
            tunnel.renew(dialogue)
            open(prepared)
        }
    }

    /// The error if the timeout for connecting expires while the proxy is being negotiated with.
    private func proxyTimedOut(_ prepared: PreparedChannel?) -> HTTPError? {
        guard let proxy = passage?.proxy, let failure else { return nil }
        if let refusal = prepared?.tunnel?.refusalSoFar() { return failure.error(for: refusal) }
        let reason = "it did not lead there within \(plan.limits.connect ?? .zero): see whether \(proxy) is a proxy"
        return failure.of(.init(.connectTimedOut, processing: .neverSent, reason: reason))
    }
}

/// Resolved addresses, passed to NIO's Happy Eyeballs in place of lookups.
///
/// NIO alternates between the addresses of its 'AAAA' and its 'A' query, beginning with the former, and does not look
/// at their family. So the family that RFC 6724 sorted first is passed as 'AAAA': on a machine where IPv6 is broken or
/// less preferred, IPv4 is tried first.
struct PreresolvedAddresses: Resolver, Sendable {
    private let first: [SocketAddress]
    private let others: [SocketAddress]
    private let loop: any EventLoop

    init(_ addresses: [SocketAddress], on loop: any EventLoop) {
        let family = addresses.first?.protocol
        first = addresses.filter { $0.protocol == family }
        others = addresses.filter { $0.protocol != family }
        self.loop = loop
    }

    /// Connects to the only address, or races several.
    func connect(_ bootstrap: ClientBootstrap) -> EventLoopFuture<any Channel> {
        if let only = first.first, first.count + others.count == 1 { return bootstrap.connect(to: only) }
        return bootstrap.resolver(self).connect(host: "", port: 0)
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        loop.makeSucceededFuture(first)
    }

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        loop.makeSucceededFuture(others)
    }

    func cancelQueries() {}
}
