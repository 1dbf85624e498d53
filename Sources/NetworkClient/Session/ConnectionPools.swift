/// The pools of a session's connections, by endpoint; confined to the session's event loop.
final class ConnectionPools {
    private unowned let core: SessionCore
    private var pools: [Endpoint: HostConnections] = [:]
    /// The endpoints whose servers require HTTP/1.1, although they selected HTTP/2 (RFC 9113, 7).
    private(set) var requiringHTTP1: Set<Endpoint> = []
    private static let maximumRequiringHTTP1 = 1000
    /// The pool that was used last: most requests have the same endpoint as the previous one.
    private var recent: HostConnections?

    init(_ core: SessionCore) { self.core = core }

    /// The number of connections, including those that are being opened.
    var connectionCount: Int { pools.values.reduce(0) { $0 + $1.count } }

    /// Returns the pool of an endpoint, and creates it if there is none.
    func pool(of endpoint: Endpoint) -> HostConnections {
        if let recent, recent.endpoint == endpoint { return recent }
        let pool = pools[endpoint] ?? HostConnections(endpoint, core: core)
        pools[endpoint] = pool
        recent = pool
        return pool
    }

    /// Starts a WebSocket on a stream of a connection that carries the requests of its origin (RFC 8441).
    ///
    /// - Returns: Whether there is such a connection; if not, the WebSocket needs one of its own.
    func startOnStream(_ handle: WebSocketRequest) -> Bool {
        var endpoint = handle.endpoint
        guard pools[endpoint]?.hasReservation(for: handle) != true else { return false }
        (endpoint.http2, endpoint.needsTunnel) = (core.configuration.http2, false)
        return pools[endpoint]?.startOnStream(handle) ?? false
    }

    /// Removes a pool without connections, so that the memory of a session does not grow with the number of hosts.
    func forget(_ pool: HostConnections) {
        guard pools[pool.endpoint] === pool else { return }
        pools[pool.endpoint] = nil
        if recent === pool { recent = nil }
    }

    /// Records that the server of an endpoint requires HTTP/1.1.
    func requireHTTP1(at endpoint: Endpoint) {
        if requiringHTTP1.count >= Self.maximumRequiringHTTP1 { requiringHTTP1 = [] }
        requiringHTTP1.insert(endpoint)
    }

    /// Closes all idle connections.
    func drain() {
        for pool in pools.values { pool.drain() }
    }

    /// Fails the requests that wait for a connection to a destination whose path is lost, so that they wait for a path.
    func giveUpConnecting(_ key: GateKey, _ wait: GateWait) {
        for pool in Array(pools.values) where GateKey(pool.endpoint) == key { pool.giveUpConnecting(wait) }
    }
}
