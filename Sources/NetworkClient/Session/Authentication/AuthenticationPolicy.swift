import NIOHTTP1
import NetworkClientCore

/// As whom a session appears, and to whom.
///
/// A server that answers 401 is answered by the strongest scheme that it offers of those understood: a bearer token,
/// Digest (RFC 7616) with SHA-256 or MD5, Basic (RFC 7617). Credentials belong to an origin (scheme, host and port),
/// and never go to another, not by a redirect either.
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

/// A challenge, as a handler sees it.
public struct AuthenticationQuestion: Sendable {
    /// The request that was challenged; of several at once, the first.
    public let request: RequestHandle
    /// The origin that asks, as a URL; of a proxy, the proxy's.
    public let origin: String
    /// Its challenge.
    public let challenge: AuthenticationChallenge
    /// The head of the answer with the challenge.
    public let response: HTTPResponse
}

/// What a handler says to a challenge.
public enum AuthenticationReply: Sendable {
    /// This credential answers; it is used for the whole protection space from now on, until it is refused.
    case credential(Credential)
    /// The policy's credentials decide, as if there were no handler.
    case byDefault
    /// This challenge is not answered: the next weaker one is asked for, if there is one.
    case passOver
    /// No challenge is answered: the 401 is the request's answer.
    case refuse
}

/// Has credentials for challenges.
///
/// Called in a task of its own, once for all requests that are challenged alike at the same time. What it throws fails
/// them with ``HTTPError/Code/authenticationFailed``, and becomes the cause. While it thinks, their deadlines go on.
public typealias AuthenticationHandler =
    @Sendable (_ question: AuthenticationQuestion) async throws -> AuthenticationReply

/// Bearer tokens for an origin (RFC 6750): one is got again when it is refused, once for all requests that were
/// refused.
///
/// ```swift
/// let tokens = BearerTokens(for: "https://api.example.com", token: saved) { refused in
///     try await login.refresh()
/// }
/// ```
/// Requests that were refused wait for the new token and go again with it, once each. Who got a token that is refused
/// at once gets no other one for ten seconds: the 401 is the answer then. Requests that the closure itself makes carry
/// no token.
public struct BearerTokens: Sendable {
    /// Gets a token.
    ///
    /// - Parameter refused: The token that was refused; nil if there was none.
    /// - Returns: The new one.
    public typealias Refresh = @Sendable (_ refused: String?) async throws -> String

    /// The origin, as a URL such as `https://api.example.com`; its path does not count.
    public let origin: String
    /// The token to begin with.
    let token: String?
    let refresh: Refresh

    /// Says how tokens are got.
    ///
    /// - Parameters:
    ///   - origin: The origin that they are for, as a URL.
    ///   - token: The first one; without, the first request is sent without, and one is got when it is refused.
    ///   - refresh: Gets the next one. What it throws fails all requests that wait for it with
    ///     ``HTTPError/Code/tokenRefreshFailed``, and becomes the cause.
    public init(for origin: String, token: String? = nil, refresh: @escaping Refresh) {
        self.origin = origin
        self.token = token
        self.refresh = refresh
    }

    /// Whether a token is being got by the present task.
    @TaskLocal static var isRefreshing = false
}

extension BearerTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// For which origin they are.
    public var description: String { "BearerTokens(for: \(origin))" }
    /// As ``description``.
    public var debugDescription: String { description }
    /// Has no children: one is the token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// As whom one request appears; nil where nobody is to.
final class RequestCredentials: Sendable {
    /// Its own credential, and the origin for which it is meant.
    let own: (credential: Credential, origin: HTTPOrigin)?

    private init(own: (credential: Credential, origin: HTTPOrigin)?) { self.own = own }

    /// As its session does.
    static let shared = RequestCredentials(own: nil)

    /// By its own credential, else as its session does.
    convenience init(_ credential: Credential, for origin: HTTPOrigin) {
        self.init(own: (credential, origin))
    }

    /// The request's own credential, where it is at the origin for which it is meant.
    func credential(at origin: HTTPOrigin) -> Credential? {
        own.flatMap { $0.origin == origin ? $0.credential : nil }
    }
}

extension HTTPSession {
    /// As whom a request appears: by its options, the URL's user information, the session's policy.
    ///
    /// Who sets `Authorization` has it so; nothing is added then, and nothing answered.
    func login(for url: HTTPURL, _ options: RequestOptions, _ headers: HTTPHeaders) -> RequestCredentials? {
        let mayAppear = options.credential != nil || url.hasCredentials || !configuration.authentication.isEmpty
        guard mayAppear, options.authenticates, !headers.contains(name: "Authorization") else { return nil }
        if let credential = options.credential { return .init(credential, for: url.origin) }
        if let user = url.user { return .init(.init(user: user, password: url.password ?? ""), for: url.origin) }
        // What gets a token must not wait for it.
        if !configuration.authentication.tokens.isEmpty, BearerTokens.isRefreshing { return nil }
        return .shared
    }
}
