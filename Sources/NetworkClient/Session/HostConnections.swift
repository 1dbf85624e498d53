import NIOCore
import NIOHTTP1
import NetworkClientCore
import ReachabilityCore
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
    /// Whether the server requires HTTP/1.1, although it selected HTTP/2 (RFC 9113, 7).
    private var requiresHTTP1: Bool
    /// The timer of the next check for free descriptors.
    private var shortageTimer: Scheduled<Void>?
    private static let shortageRetryInterval = TimeAmount.seconds(1)

    /// The connections that are reserved for the next attempt of a request, by the request.
    private var reserved: [UInt64: Int] = [:]

    /// Exchanges without a request, to be reused.
    private var spareExchanges: [Exchange] = []
    /// Whether a connection was opened while no request asked for its path.
    private var hasUnfollowed = false

    private enum Connection {
        case attempt(ConnectionAttempt, by: ConnectionOpening)
        case open(any HTTPConnection, ConnectionRecord)
    }

    init(_ endpoint: Endpoint, core: SessionCore) {
        self.endpoint = endpoint
        self.core = core
        limits = core.configuration.timeouts
        requiresHTTP1 = core.pools.requiringHTTP1.contains(endpoint)
        let isOwn = core.configuration.makeConnection == nil && !requiresHTTP1
        let sharing: HostPool.Sharing = endpoint.offersHTTP2 ? .unknown : endpoint.assumesHTTP2 ? .shared : .exclusive
        pool = .init(limit: core.configuration.maximumConnectionsPerHost, sharing: isOwn ? sharing : .exclusive)
    }

    /// The number of connections, including those that are being opened.
    var count: Int { pool.connectionCount }

    /// Starts a request on a connection, or queues it for one.
    func request(_ handle: RequestHandle) {
        core.loop.preconditionInEventLoop()
        if !reserved.isEmpty, let connection = reserved.removeValue(forKey: handle.id) {
            return use(connection, handle)
        }
        let action = pool.request(handle.id, rank: handle.current.policy.priority.rank(at: .now()))
        if case .use(let connection, _) = action { return use(connection, handle) }
        waiting[handle.id] = handle
        limits = handle.current.limits
        addresses = handle.run.scheduled?.addresses
        lastQueued = handle.id
        handle.enter(.pooled(self))
        perform(action)
        // It may have failed, or found a connection meanwhile.
        guard case .pooled = handle.run.state else { return }
        if core.events.isObserved(handle) { core.events.tell(.waiting, handle) }
        core.limit(handle)
    }

    /// Starts a WebSocket on a stream of an open connection whose server allows that (RFC 8441).
    ///
    /// - Returns: Whether there is such a connection, with a free stream.
    func startOnStream(_ handle: WebSocketRequest) -> Bool {
        core.loop.preconditionInEventLoop()
        let id = connections.indices.first { index in
            guard case .open(let connection, _) = connections[index] else { return false }
            return connection.allowsExtendedConnect && connection.capacity > 0
        }
        guard let id, pool.take(id) else { return false }
        use(id, handle)
        return true
    }

    /// Whether a connection is reserved for the next attempt of a request.
    func hasReservation(for handle: RequestHandle) -> Bool { reserved[handle.id] != nil }

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

    // MARK: Reserved connections

    /// Reserves a connection for the next attempt of the request that it carries: no other request is sent on it
    /// before.
    func reserve(_ connection: any HTTPConnection, for handle: RequestHandle) { reserved[handle.id] = connection.id }

    /// Closes the connection that is still reserved for a request: its server expects the rest of a handshake.
    func cancelReservation(of request: UInt64) {
        guard let id = reserved.removeValue(forKey: request), case .open(let connection, _) = connections[id] else {
            return
        }
        connection.close()
    }

    // MARK: HTTPConnectionOwner

    /// Whether connections are closed as soon as they are idle; not while one is reserved, which would be closed too.
    ///
    /// The session closes them with its last request.
    var isClosing: Bool { core.isClosing && reserved.isEmpty }

    func connectionIsFree(_ connection: any HTTPConnection) {
        if !reserved.isEmpty, reserved.values.contains(connection.id) { return }
        let action = pool.released(connection.id)
        if action != .none { perform(action) }
    }

    func connectionLimitChanged(_ connection: any HTTPConnection, to limit: Int, isFinal: Bool) {
        guard case .open(let current, _) = connections[connection.id], current === connection else { return }
        perform(pool.changeSlots(of: connection.id, to: limit, isFinal: isFinal))
        serveWaiting()
    }

    func connectionRequiresHTTP1(_ connection: any HTTPConnection) {
        requiresHTTP1 = true
        pool.sharing = .exclusive
        core.pools.requireHTTP1(at: endpoint)
    }

    /// Removes a connection that is closed, or about to be.
    ///
    /// One that was never open, because its handshake failed, is handled by its attempt, which has the error.
    func connectionWasClosed(_ connection: any HTTPConnection, whileBusy: Bool) {
        if let followed = connection as? any PathFollowing { core.gate.followingKeeper?.unfollow(followed) }
        guard case .open(let current, _) = connections[connection.id], current === connection else { return }
        if !reserved.isEmpty { reserved = reserved.filter { $0.value != connection.id } }
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
        case .fail, .failAll: break
        }
    }

    private func use(_ connection: Int, _ handle: RequestHandle) {
        guard case .open(let carrier, let record) = connections[connection] else { return }
        let exchange = spareExchanges.popLast() ?? Exchange(self, core)
        let isGated = handle.current.policy.isGated
        if carrier.start(exchange) {
            exchange.begin(handle, on: carrier, record)
            if isGated, hasUnfollowed { followPaths() }
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
        var endpoint = endpoint
        if requiresHTTP1 { endpoint.http2 = .off }
        let opening = ConnectionOpening(id, to: endpoint, for: self, core)
        let attempt = core.connector.connect(
            to: endpoint,
            at: addresses,
            limits: limits,
            keepsFree: count > 0 ? RuntimeDescriptors.comfortablyFree : RuntimeDescriptors.minimumFree,
            for: openingRequest,
            on: core.loop
        ) { channel in try opening.prepare(channel) }
        connections[id] = .attempt(attempt, by: opening)
        let keeper = watchPath()
        pool.opening(id)
        attempt.established.assumeIsolated().whenComplete { [self] result in
            keeper?.letGo(GateKey(endpoint))
            switch result {
            case .success(let connection): opened(opening, connection)
            case .failure(let error): failed(opening, error)
            }
        }
    }

    /// The request that a challenge of the server names; unknown if there is no challenge handler.
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
        guard let keeper = core.gate.followingKeeper, endpoint.socketPath == nil else { return nil }
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

    private func opened(_ opening: ConnectionOpening, _ established: EstablishedConnection) {
        guard isOpening(opening) else {
            // The attempt was cancelled too late to fail.
            established.channel.close(promise: nil)
            return
        }
        let connection: any SocketConnection
        do {
            connection = try opening.finish(established)
        } catch {
            // This is an error, since opening another connection might end the same way forever.
            established.channel.close(promise: nil)
            return failed(opening, error)
        }
        connections[connection.id] = .open(connection, .init(established.metrics))
        if !requiresHTTP1 { pool.sharing = connection.isMultiplexed ? .shared : .exclusive }
        perform(pool.opened(connection.id, slots: connection.capacity))
        serveWaiting()
        connection.becomeIdle()
        followPath(of: connection)
    }

    /// Starts waiting requests as long as there are free slots, and opens the connections that others need.
    private func serveWaiting() {
        while case let action = pool.next(), action != .none { perform(action) }
    }

    /// Starts the WebSocket of a request on a connection that has left the pool, or on a stream of one.
    func opened(
        _ handle: WebSocketRequest,
        _ released: any UpgradedStream,
        _ head: HTTPResponseHead,
        _ agreement: WebSocketHandshake.Agreement
    ) {
        let connection = WebSocketConnection(handle, released, agreement)
        if handle.run.scheduled != nil { core.dispatcher.finishHop(handle) }
        handle.enter(.upgraded(connection))
        if let keeper = core.gate.followingKeeper, let addresses = connection.addresses {
            follow(connection, addresses, keeper)
        }
        connection.start(head)
    }

    /// Starts following the path of a connection, in a session with a gate, once its first bytes are sent.
    ///
    /// The loop waits while the path is looked up, and a new channel sends nothing before the callbacks of its connecting
    /// have returned.
    private func followPath(of connection: any SocketConnection) {
        guard core.gate.followingKeeper != nil else {
            hasUnfollowed = true
            return
        }
        guard !connection.isFollowed, connection.addresses != nil else { return }
        connection.isFollowed = true
        core.loop.assumeIsolated().execute { [self] in
            guard !connection.isClosed, let keeper = core.gate.followingKeeper, let addresses = connection.addresses
            else { return }
            follow(connection, addresses, keeper)
        }
    }

    /// Starts following the connections that were opened before a request asked for its path.
    private func followPaths() {
        hasUnfollowed = false
        for case .open(let connection as any SocketConnection, _) in connections { followPath(of: connection) }
    }

    private func follow(
        _ connection: any PathFollowing,
        _ addresses: (local: IPAddress, remote: IPAddress),
        _ keeper: GateKeeper
    ) {
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
    private func isOpening(_ opening: ConnectionOpening) -> Bool {
        guard case .attempt(_, let current) = connections[opening.id] else { return false }
        return current === opening
    }

    private func failed(_ opening: ConnectionOpening, _ error: any Error) {
        guard isOpening(opening) else { return }
        vacate(opening.id)
        openingFailed(opening.id, error)
    }

    /// Fails the request for which a connection was being opened, and continues with others.
    private func openingFailed(_ id: Int, _ error: any Error) {
        let isShortage = (error as? HTTPError)?.code == .tooManyDescriptors
        let action = pool.openingFailed(id, isShortage: isShortage)
        let failure =
            (error as? HTTPError) ?? .init(.connectFailed, processing: .neverSent, reason: "\(error)", cause: error)
        switch action {
        case .fail(let request): fail(request, failure)
        case .failAll(let requests): for request in requests { fail(request, failure) }
        case .none, .use, .open, .close, .abandon: break
        }
        perform(pool.next())
        retryAfterShortage()
        forgetIfEmpty()
    }

    private func fail(_ request: UInt64, _ error: HTTPError) {
        if let handle = waiting.removeValue(forKey: request) { core.fail(handle, error) }
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
