/// As whom a session appears, and to whom.
///
/// A server that answers 401 is answered by the strongest scheme that it offers of those understood: a bearer token, Digest
/// (RFC 7616) with SHA-256 or MD5, Basic (RFC 7617). Credentials belong to an origin (scheme, host and port), and never go
/// to another, not by a redirect either.
public struct AuthenticationPolicy: Sendable {
    /// Credentials that are known beforehand.
    public var credentials: [SpaceCredential]
    /// Has credentials of those that are not; nil for nobody.
    public var handler: AuthenticationHandler?
    /// Bearer tokens.
    public var tokens: [BearerTokens]

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - credentials: Credentials that are known beforehand.
    ///   - tokens: Bearer tokens.
    ///   - handler: Has credentials of those that are not.
    public init(
        credentials: [SpaceCredential] = [],
        tokens: [BearerTokens] = [],
        handler: AuthenticationHandler? = nil
    ) {
        self.credentials = credentials
        self.tokens = tokens
        self.handler = handler
    }

    /// As nobody: a 401 is the answer.
    public static let none = Self()

    /// Whether it knows anybody.
    var isEmpty: Bool { credentials.isEmpty && tokens.isEmpty && handler == nil }
}

/// A credential and where it is good for.
public struct SpaceCredential: Sendable, Hashable {
    /// The credential.
    public let credential: Credential
    /// The origin, as a URL such as `https://api.example.com`; its path does not count.
    public let origin: String
    /// The realm; nil for all of the origin's.
    public let realm: String?

    /// Says where a credential is good for.
    ///
    /// - Parameters:
    ///   - credential: The credential.
    ///   - origin: The origin, as a URL.
    ///   - realm: The realm as the server calls it; nil for all.
    public init(_ credential: Credential, for origin: String, realm: String? = nil) {
        self.credential = credential
        self.origin = origin
        self.realm = realm
    }
}
