import NIOCore
import NIOHTTP1
import NetworkClientCore

/// The connections to one endpoint: does what the pure pool decides.
///
/// Confined to the session's event loop, which each entry checks.
final class HostConnections: HTTPConnectionOwner {
    let endpoint: Endpoint
    private let core: SessionCore
    private var pool: HostPool
    private var connections: [Connection?] = []
    private var vacant: [Int] = []
    private var waiting: [UInt64: RequestHandle] = [:]
    /// Those of the request that asked last: by them the next connection is opened, since it may serve any that waits.
    private var limits: Timeouts
    /// The addresses that were judged for the request that asked last; nil for all that the name has.
    private var addresses: [SocketAddress]?
    /// Fires when it is time to see whether there are descriptors again.
    private var shortageTimer: Scheduled<Void>?
    private static let shortageRetryInterval = TimeAmount.seconds(1)

    /// Exchanges that carry no request now, to be used again.
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

    /// How many connections there are, those included that are being opened.
    var count: Int { pool.connectionCount }

    /// A request wants a connection.
    func request(_ handle: RequestHandle) {
        core.loop.preconditionInEventLoop()
        let action = pool.request(handle.id)
        if case .use(let connection, _) = action { return use(connection, handle) }
        waiting[handle.id] = handle
        limits = handle.current.limits
        addresses = handle.run.scheduled?.addresses
        handle.enter(.pooled(self))
        perform(action)
    }

    /// A request that waits is wanted no more.
    func withdraw(_ handle: RequestHandle) {
        core.loop.preconditionInEventLoop()
        guard waiting.removeValue(forKey: handle.id) != nil else { return }
        perform(pool.withdraw(handle.id))
        forgetIfEmpty()
    }

    /// Closes all that is idle.
    func drain() {
        core.loop.preconditionInEventLoop()
        perform(pool.drain())
        forgetIfEmpty()
    }

    // MARK: What connections say

    var isClosing: Bool { core.isClosing }

    func connectionIsFree(_ connection: any HTTPConnection) { perform(pool.released(connection.id)) }

    /// A connection is closed, or about to be.
    ///
    /// One that was never open, because its handshake failed, is left to its attempt, which says why.
    func connectionWasClosed(_ connection: any HTTPConnection, whileBusy: Bool) {
        if let followed = connection as? any PathFollowing { core.followingKeeper?.unfollow(followed) }
        guard case .open(let current, _) = connections[connection.id], current === connection else { return }
        vacate(connection.id)
        perform(pool.closed(connection.id))
        forgetIfEmpty()
    }

    /// An exchange has ended, and can carry another request.
    func retire(_ exchange: Exchange) {
        if core.isClosing || pool.connectionCount == 0 { exchange.retire() } else { spareExchanges.append(exchange) }
    }

    // MARK: What the pool decides

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
        // It may have been opened before a request asked for its path.
        if handle.current.policy.isGated, let carrier = carrier as? HTTP1Connection { followPath(of: carrier) }
        let exchange = spareExchanges.popLast() ?? Exchange(self, core)
        if carrier.start(exchange) { return exchange.begin(handle, on: carrier, record) }
        // It turned out to be closed.
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
            on: core.loop
        ) { channel in try handler.install(in: channel) }
        connections[id] = .attempt(attempt, by: handler)
        let keeper = watchWay()
        pool.opening(id)
        attempt.established.assumeIsolated().whenComplete { [self] result in
            keeper?.letGo(GateKey(endpoint))
            switch result {
            case .success(let connection): opened(handler, connection)
            case .failure(let error): failed(handler, error)
            }
        }
    }

    /// Opens a connection that is not the client's own.
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

    /// Lets the keeper tell if the way goes while a connection is being opened, in a session that judges ways.
    private func watchWay() -> GateKeeper? {
        guard let keeper = core.followingKeeper, endpoint.socketPath == nil else { return nil }
        let key = GateKey(endpoint)
        keeper.hold(key)
        _ = keeper.verdict(for: key)
        return keeper
    }

    /// There is no way any more to where connections are being opened.
    func giveUpConnecting(_ wait: GateWait) {
        core.loop.preconditionInEventLoop()
        guard pool.isOpening else { return }
        for handle in waiting.values.sorted(by: { $0.id < $1.id }) where handle.current.policy.gate.waits {
            let reason = "the way to \(endpoint.way) went while it was connected to: what is missing is \(wait)"
            core.fail(handle, .init(.pathLost, processing: .neverSent, reason: reason))
        }
    }

    private func opened(_ handler: HTTP1Connection, _ connection: EstablishedConnection) {
        guard isOpening(handler) else {
            // Nobody waits for it any more: it was given up too late to fail.
            connection.channel.close(promise: nil)
            return
        }
        // Another one in its place would end the same way, over and over.
        guard !handler.isClosed else {
            let reason = "the connection to \(endpoint.text) was closed before it could be used"
            return failed(handler, HTTPError(.connectionLost, processing: .neverSent, reason: reason))
        }
        connections[handler.id] = .open(handler, .init(connection.metrics))
        followPath(of: handler)
        perform(pool.opened(handler.id, slots: handler.capacity))
        serveWaiting()
        handler.becomeIdle()
    }

    /// Serves requests that wait as long as there are free slots.
    private func serveWaiting() {
        while case let action = pool.next(), case .use = action { perform(action) }
    }

    /// Lets the path of a connection be followed from now on, in a session that judges paths.
    private func followPath(of connection: HTTP1Connection) {
        guard !connection.isFollowed, let keeper = core.followingKeeper, let addresses = connection.addresses else {
            return
        }
        connection.isFollowed = true
        let ends = ConnectionEnds(
            local: addresses.local,
            remote: addresses.remote,
            isBound: endpoint.binding.isToInterface,
            requirement: endpoint.requirement
        )
        keeper.follow(connection, ends)
    }

    /// Numbers are used again: an attempt that was given up may end after another has taken its number.
    private func isOpening(_ handler: HTTP1Connection) -> Bool {
        guard case .attempt(_, let current) = connections[handler.id] else { return false }
        return current === handler
    }

    private func failed(_ handler: HTTP1Connection, _ error: any Error) {
        guard isOpening(handler) else { return }
        vacate(handler.id)
        openingFailed(handler.id, error)
    }

    /// Fails the request for which a connection was to be opened, and goes on with others.
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

    /// Sees once in a while whether there are descriptors again, as long as requests wait for connections that others have.
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

extension LocalBinding {
    /// Whether packets leave through one interface and no other.
    fileprivate var isToInterface: Bool {
        switch self {
        case .interface, .interfaceIndex: true
        case .unbound, .address: false
        }
    }
}
