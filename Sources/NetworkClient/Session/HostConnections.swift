import NIOCore
import NIOHTTP1
import NetworkClientCore
import RequestGate

/// The connections to one endpoint: carries out the decisions of ``HostPool``.
///
/// Confined to the session's event loop, which each entry point checks.
final class HostConnections: HTTPConnectionOwner {
    let endpoint: Endpoint
    private let core: SessionCore
    private var pool: HostPool
    private var connections: [Connection?] = []
    private var vacant: [Int] = []
    private var waiting: [UInt64: RequestHandle] = [:]
    /// The timeouts of the last request that was queued; they apply to new connections, which may serve any waiting
    /// request.
    private var limits: Timeouts
    /// The addresses for the last request that was queued; nil for all addresses of the host.
    private var addresses: [SocketAddress]?
    /// The number of the last request that was queued.
    private var lastQueued: UInt64 = 0
    /// The timer of the next check for free descriptors.
    private var shortageTimer: Scheduled<Void>?
    private static let shortageRetryInterval = TimeAmount.seconds(1)

    /// Exchanges without a request, to be reused.
    private var spareExchanges: [Exchange] = []

    private enum Connection {
        case attempt(ConnectionAttempt, by: HTTP1Connection)
        case open(any HTTPConnection, ConnectionRecord)
    }

    init(_ endpoint: Endpoint, core: SessionCore) {
        self.endpoint = endpoint
        self.core = core
        limits = core.configuration.timeouts
        pool = .init(limit: core.configuration.maximumConnectionsPerHost)
    }

    /// The number of connections, including those that are being opened.
    var count: Int { pool.connectionCount }

    /// Starts a request on a connection, or queues it for one.
    func request(_ handle: RequestHandle) {
        core.loop.preconditionInEventLoop()
        let action = pool.request(handle.id, rank: handle.current.policy.priority.rank(at: .now()))
        if case .use(let connection, _) = action { return use(connection, handle) }
        waiting[handle.id] = handle
        limits = handle.current.limits
        addresses = handle.run.scheduled?.addresses
        lastQueued = handle.id
        handle.enter(.pooled(self))
        perform(action)
    }

    /// Removes a request that waits for a connection.
    func withdraw(_ handle: RequestHandle) {
        core.loop.preconditionInEventLoop()
        guard waiting.removeValue(forKey: handle.id) != nil else { return }
        perform(pool.withdraw(handle.id))
        forgetIfEmpty()
    }

    /// Closes the idle connections.
    func drain() {
        core.loop.preconditionInEventLoop()
        perform(pool.drain())
        forgetIfEmpty()
    }

    // MARK: HTTPConnectionOwner

    var isClosing: Bool { core.isClosing }

    func connectionIsFree(_ connection: any HTTPConnection) { perform(pool.released(connection.id)) }

    /// Removes a connection that is closed, or about to be.
    ///
    /// One that was never open, because its handshake failed, is handled by its attempt, which has the error.
    func connectionWasClosed(_ connection: any HTTPConnection, whileBusy: Bool) {
        if let followed = connection as? any PathFollowing { core.followingKeeper?.unfollow(followed) }
        guard case .open(let current, _) = connections[connection.id], current === connection else { return }
        vacate(connection.id)
        perform(pool.closed(connection.id))
        forgetIfEmpty()
    }

    /// Keeps an exchange that has ended, so that it is reused.
    func retire(_ exchange: Exchange) {
        if core.isClosing || pool.connectionCount == 0 { exchange.retire() } else { spareExchanges.append(exchange) }
    }

    // MARK: Actions of the pool

    private func perform(_ action: HostPool.Action) {
        switch action {
        case .none: break
        case .use(let connection, let request):
            guard let handle = waiting.removeValue(forKey: request) else { return }
            use(connection, handle)
        case .open: open()
        case .close(let connections): for connection in connections { close(connection) }
        case .abandon(let connections): for connection in connections { close(connection) }
        case .fail: break
        }
    }

    private func use(_ connection: Int, _ handle: RequestHandle) {
        guard case .open(let carrier, let record) = connections[connection] else { return }
        let exchange = spareExchanges.popLast() ?? Exchange(self, core)
        let isGated = handle.current.policy.isGated
        if carrier.start(exchange) {
            exchange.begin(handle, on: carrier, record)
            // It may have been opened before a request asked for its path. This looks the path up, and the first bytes of
            // the request need not wait for that.
            if isGated, let carrier = carrier as? HTTP1Connection { followPath(of: carrier) }
            return
        }
        // The connection is already closed.
        retire(exchange)
        vacate(connection)
        perform(pool.closed(connection))
        request(handle)
    }

    private func close(_ connection: Int) {
        let closed = connections[connection]
        vacate(connection)
        switch closed {
        case .open(let connection, _): connection.close()
        case .attempt(let attempt, _): attempt.cancel()
        case nil: break
        }
    }

    private func open() {
        let id = vacant.popLast() ?? connections.count
        if id == connections.count { connections.append(nil) }
        if let make = core.configuration.makeConnection { return open(id, by: make) }
        let handler = HTTP1Connection(
            id,
            self,
            on: core.loop,
            maximumHeadSize: core.configuration.maximumHeadSize,
            idleTimeout: core.configuration.idleTimeout
        )
        let attempt = core.connector.connect(
            to: endpoint,
            at: addresses,
            limits: limits,
            keepsFree: count > 0 ? RuntimeDescriptors.comfortablyFree : RuntimeDescriptors.minimumFree,
            for: openingRequest,
            on: core.loop
        ) { channel in try handler.install(in: channel) }
        connections[id] = .attempt(attempt, by: handler)
        let keeper = watchPath()
        pool.opening(id)
        attempt.established.assumeIsolated().whenComplete { [self] result in
            keeper?.letGo(GateKey(endpoint))
            switch result {
            case .success(let connection): opened(handler, connection)
            case .failure(let error): failed(handler, error)
            }
        }
    }

    /// The request that a challenge of the server names; a placeholder if no challenge handler can ask for it.
    private var openingRequest: OpeningRequest {
        let hasHandler = endpoint.tls?.client.hasChallengeHandler ?? (core.configuration.tls.challengeHandler != nil)
        guard endpoint.isSecure, hasHandler else { return .unknown }
        guard let handle = waiting[lastQueued] ?? waiting.values.min(by: { $0.id < $1.id }) else { return .unknown }
        return .init(id: handle.id, description: handle.current.description)
    }

    /// Opens a connection with the session's own connection maker.
    private func open(_ id: Int, by make: ConnectionMaker) {
        pool.opening(id)
        let request = ConnectionRequest(
            id: id,
            host: endpoint.host,
            port: endpoint.port,
            owner: self,
            loop: core.loop
        )
        do {
            let connection = try make(request)
            connections[id] = .open(connection, .init(.init()))
            perform(pool.opened(id, slots: connection.capacity))
            serveWaiting()
        } catch {
            vacant.append(id)
            openingFailed(id, error)
        }
    }

    /// Watches the path while a connection is being opened; ``giveUpConnecting(_:)`` is called if it is lost.
    ///
    /// - Returns: The gate keeper, whose key is to be released; nil in a session without a gate.
    private func watchPath() -> GateKeeper? {
        guard let keeper = core.followingKeeper, endpoint.socketPath == nil else { return nil }
        let key = GateKey(endpoint)
        keeper.hold(key)
        _ = keeper.verdict(for: key)
        return keeper
    }

    /// Fails the requests that wait for a connection and have a gate, because the path is lost while one is being
    /// opened.
    func giveUpConnecting(_ wait: GateWait) {
        core.loop.preconditionInEventLoop()
        guard pool.isOpening else { return }
        for handle in waiting.values.sorted(by: { $0.id < $1.id }) where handle.current.policy.gate.waits {
            let reason = "the path to \(endpoint.way) was lost while connecting: the request needs \(wait)"
            core.fail(handle, .init(.pathLost, processing: .neverSent, reason: reason))
        }
    }

    private func opened(_ handler: HTTP1Connection, _ connection: EstablishedConnection) {
        guard isOpening(handler) else {
            // The attempt was cancelled too late to fail.
            connection.channel.close(promise: nil)
            return
        }
        // This is an error, since opening another connection might end the same way forever.
        guard !handler.isClosed else {
            let reason = "the connection to \(endpoint.text) was closed before it could be used"
            return failed(handler, HTTPError(.connectionLost, processing: .neverSent, reason: reason))
        }
        connections[handler.id] = .open(handler, .init(connection.metrics))
        perform(pool.opened(handler.id, slots: handler.capacity))
        serveWaiting()
        handler.becomeIdle()
        followPath(of: handler)
    }

    /// Starts waiting requests as long as there are free slots.
    private func serveWaiting() {
        while case let action = pool.next(), case .use = action { perform(action) }
    }

    /// Starts following the path of a connection, in a session with a gate.
    private func followPath(of connection: HTTP1Connection) {
        guard !connection.isFollowed, !connection.isClosed, let keeper = core.followingKeeper,
            let addresses = connection.addresses
        else { return }
        connection.isFollowed = true
        let ends = ConnectionEnds(
            local: addresses.local,
            remote: addresses.remote,
            isBound: endpoint.binding.isToInterface,
            requirement: endpoint.requirement
        )
        keeper.follow(connection, ends)
    }

    /// Returns whether a connection is still being opened.
    ///
    /// Numbers are reused: an attempt that was cancelled may end after another one has received its number.
    private func isOpening(_ handler: HTTP1Connection) -> Bool {
        guard case .attempt(_, let current) = connections[handler.id] else { return false }
        return current === handler
    }

    private func failed(_ handler: HTTP1Connection, _ error: any Error) {
        guard isOpening(handler) else { return }
        vacate(handler.id)
        openingFailed(handler.id, error)
    }

    /// Fails the request for which a connection was being opened, and continues with others.
    private func openingFailed(_ id: Int, _ error: any Error) {
        let isShortage = (error as? HTTPError)?.code == .tooManyDescriptors
        let action = pool.openingFailed(id, isShortage: isShortage)
        if case .fail(let request) = action, let handle = waiting.removeValue(forKey: request) {
            core.fail(
                handle,
                (error as? HTTPError) ?? .init(.connectFailed, processing: .neverSent, reason: "\(error)", cause: error)
            )
        }
        perform(pool.next())
        retryAfterShortage()
        forgetIfEmpty()
    }

    /// Checks periodically for free descriptors while requests wait because of a shortage.
    private func retryAfterShortage() {
        guard pool.isShort, shortageTimer == nil else { return }
        let interval = Self.shortageRetryInterval
        shortageTimer = core.loop.assumeIsolated().scheduleTask(in: interval) { [weak self] in
            guard let self else { return }
            shortageTimer = nil
            perform(pool.retryAfterShortage())
            retryAfterShortage()
        }
    }

    private func vacate(_ id: Int) {
        guard connections[id] != nil else { return }
        connections[id] = nil
        vacant.append(id)
    }

    private func forgetIfEmpty() {
        guard pool.isEmpty else { return }
        for exchange in spareExchanges { exchange.retire() }
        spareExchanges = []
        core.pools.forget(self)
    }
}

extension RequestPriority {
    /// Returns the rank of a request that begins to wait for a connection.
    ///
    /// Each level is worth 30 seconds of waiting, as in the line of requests that wait for a path, so that no request
    /// waits forever.
    fileprivate func rank(at now: NIODeadline) -> Int64 {
        Int64(clamping: now.uptimeNanoseconds) - Int64(rawValue) * 30_000_000_000
    }
}

extension LocalBinding {
    /// Whether packets leave only through one interface.
    fileprivate var isToInterface: Bool {
        switch self {
        case .interface, .interfaceIndex: true
        case .unbound, .address: false
        }
    }
}
