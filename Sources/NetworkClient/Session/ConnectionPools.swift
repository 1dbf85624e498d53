/// The pools of a session's connections, by endpoint; confined to the session's event loop.
final class ConnectionPools {
    private unowned let core: SessionCore
    private var pools: [Endpoint: HostConnections] = [:]
    /// The pool that was used last: most requests go where the one before went.
    private var recent: HostConnections?

    init(_ core: SessionCore) { self.core = core }

    /// How many connections there are, those included that are being opened.
    var connectionCount: Int { pools.values.reduce(0) { $0 + $1.count } }

    /// The pool of an endpoint, made if there is none.
    func pool(of endpoint: Endpoint) -> HostConnections {
        if let recent, recent.endpoint == endpoint { return recent }
        let pool = pools[endpoint] ?? HostConnections(endpoint, core: core)
        pools[endpoint] = pool
        recent = pool
        return pool
    }

    /// Forgets a pool without a connection, so that a session that talks to many hosts does not grow.
    func forget(_ pool: HostConnections) {
        guard pools[pool.endpoint] === pool else { return }
        pools[pool.endpoint] = nil
        if recent === pool { recent = nil }
    }

    /// Closes all idle connections.
    func drain() {
        for pool in pools.values { pool.drain() }
    }

    /// Ends the waiting for connections to where there is no route any more: the requests wait for a route instead.
    func giveUpConnecting(_ key: GateKey, _ wait: GateWait) {
        for pool in Array(pools.values) where GateKey(pool.endpoint) == key { pool.giveUpConnecting(wait) }
    }
}
