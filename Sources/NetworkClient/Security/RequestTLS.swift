import Locking

/// The TLS client of a request with options of its own: a part of the key of the connection pools.
///
/// Two are equal if their options are. A challenge handler can't be compared, so that options with one equal only
/// themselves.
final class RequestTLS: Sendable, Hashable {
    /// Makes the handlers of the connections.
    let client: TLSClient
    /// Whether only certificates are accepted that prove the server.
    let provesServers: Bool
    /// The options; nil if they have a challenge handler.
    private let options: ComparableTLSOptions?

    /// Creates a client.
    ///
    /// - Throws: ``HTTPError/Code/invalidConfiguration`` if the options contradict themselves.
    init(_ options: TLSOptions) throws(HTTPError) {
        client = try TLSClient(options)
        provesServers = options.provesServers
        self.options = options.challengeHandler == nil ? .init(options) : nil
    }

    static func == (left: RequestTLS, right: RequestTLS) -> Bool {
        left === right || left.options != nil && left.options == right.options
    }

    func hash(into hasher: inout Hasher) {
        if let options { hasher.combine(options) } else { hasher.combine(ObjectIdentifier(self)) }
    }
}

/// The TLS options without the challenge handler.
struct ComparableTLSOptions: Sendable, Hashable {
    private let policy: SecurityPolicy
    private let policiesByHost: [String: SecurityPolicy]
    private let clientIdentity: ClientIdentity?
    private let roots: TrustRoots
    private let minimumVersion: TLSOptions.Version

    init(_ options: TLSOptions) {
        policy = options.policy
        policiesByHost = options.policiesByHost
        clientIdentity = options.clientIdentity
        roots = options.roots
        minimumVersion = options.minimumVersion
    }
}

/// The TLS clients for the options of single requests, so that one is created for equal options.
final class RequestTLSCache: Sendable {
    /// The maximum number of clients that are kept.
    private static let capacity = 32

    private let clients = Lock<[ComparableTLSOptions: RequestTLS]>([:])

    /// Returns the client for some options.
    ///
    /// - Throws: ``HTTPError/Code/invalidConfiguration`` if the options contradict themselves.
    func tls(for options: TLSOptions) throws(HTTPError) -> RequestTLS {
        guard options.challengeHandler == nil else { return try RequestTLS(options) }
        let key = ComparableTLSOptions(options)
        if let known = clients.withLock({ $0[key] }) { return known }
        let new = try RequestTLS(options)
        clients.withLock { clients in
            if clients.count >= Self.capacity { clients = [:] }
            clients[key] = new
        }
        return new
    }
}
