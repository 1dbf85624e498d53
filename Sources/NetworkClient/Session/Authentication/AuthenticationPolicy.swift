import NIOHTTP1
import NetworkClientCore

/// The credentials and tokens of a session.
///
/// After a 401, the request is resent with the strongest supported scheme that the server offers: a bearer token (RFC
/// 6750), Digest (RFC 7616) with SHA-256 or MD5, or Basic (RFC 7617). Credentials belong to an origin (scheme, host and
/// port), and are never sent to another one, not even after a redirect.
public struct AuthenticationPolicy: Sendable {
    /// The known credentials.
    public var credentials: [SpaceCredential]
    /// The handler that supplies other credentials; nil for none.
    public var handler: AuthenticationHandler?
    /// The sources of bearer tokens, at most one for each origin.
    ///
    /// With several, the session's initializer throws ``HTTPError/Code/invalidConfiguration``.
    public var tokens: [BearerTokens]
    /// The netrc file with credentials for hosts for which ``credentials`` has none; nil, the default, for none.
    public var netrc: NetrcSource?
    /// The mechanism for the scheme Negotiate; nil, the default, for none.
    package var mechanism: (any SecurityMechanism)?

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - credentials: The known credentials.
    ///   - tokens: The sources of bearer tokens, at most one for each origin.
    ///   - netrc: The netrc file with further credentials.
    ///   - handler: The handler that supplies other credentials.
    public init(
        credentials: [SpaceCredential] = [],
        tokens: [BearerTokens] = [],
        netrc: NetrcSource? = nil,
        handler: AuthenticationHandler? = nil
    ) {
        self.credentials = credentials
        self.tokens = tokens
        self.netrc = netrc
        self.handler = handler
    }

    /// No authentication: a 401 is the request's response.
    public static let none = Self()

    /// Whether there is nothing to respond to challenges with.
    var isEmpty: Bool {
        credentials.isEmpty && tokens.isEmpty && handler == nil && netrc == nil && mechanism == nil
    }
}

/// A credential with its protection space (RFC 9110, 11.5).
public struct SpaceCredential: Sendable, Hashable {
    /// The credential.
    public let credential: Credential
    /// The origin as a URL, such as `https://api.example.com`; its path is ignored.
    public let origin: String
    /// The realm; nil for all realms of the origin.
    public let realm: String?
    /// Whether it is sent with the first request as Basic, before the server requires it.
    public let isPreemptive: Bool

    /// Creates a credential for a protection space.
    ///
    /// - Parameters:
    ///   - credential: The credential.
    ///   - origin: The origin as a URL. An invalid one makes the session's initializer throw
    ///     ``HTTPError/Code/invalidConfiguration``.
    ///   - realm: The realm as in the server's challenge; nil for all realms.
    ///   - isPreemptive: Whether it is sent with the first request as Basic, before the server requires it. The server,
    ///     and everyone on the path without TLS, then has the password even if it would have accepted Digest.
    public init(_ credential: Credential, for origin: String, realm: String? = nil, isPreemptive: Bool = false) {
        self.credential = credential
        self.origin = origin
        self.realm = realm
        self.isPreemptive = isPreemptive
    }
}

/// A challenge for an authentication handler.
public struct AuthenticationQuestion: Sendable {
    /// The request that was challenged; the first one, if several wait for the same reply.
    public let request: RequestHandle
    /// The origin that requires authentication, as a URL.
    public let origin: String
    /// The challenge (RFC 9110, 11.3).
    public let challenge: AuthenticationChallenge
    /// The head of the response with the challenge.
    public let response: HTTPResponse
}

/// A handler's reply to a challenge.
public enum AuthenticationReply: Sendable {
    /// Use this credential, for this and all later requests in the protection space, until the server rejects it.
    case credential(Credential)
    /// Use the credentials of the policy, as if there were no handler.
    case byDefault
    /// Skip this challenge: the handler is called for the next weaker one, if there is one.
    case passOver
    /// Do not authenticate: the 401 is the request's response.
    case refuse
}

/// A closure that supplies credentials for challenges.
///
/// Called in a task of its own, once for all requests that receive the same challenge at the same time. An error that
/// it throws fails them with ``HTTPError/Code/authenticationFailed``, with the error as the cause. The total time
/// limits of the requests include the time in the closure.
public typealias AuthenticationHandler =
    @Sendable (_ question: AuthenticationQuestion) async throws -> AuthenticationReply

/// A source of bearer tokens for an origin (RFC 6750), which refreshes a rejected token once for all requests.
///
/// ```swift
/// let tokens = BearerTokens(for: "https://api.example.com", token: saved) { refused in
///     try await login.refresh()
/// }
/// ```
/// Rejected requests (401) wait for the new token, and are resent with it once. If the new token is rejected too, there
/// is no further refresh for ten seconds: the 401 is then the response. Requests that the closure makes have no token.
public struct BearerTokens: Sendable {
    /// A closure that obtains a token.
    ///
    /// - Parameter refused: The rejected token; nil if there was none.
    /// - Returns: The new token.
    public typealias Refresh = @Sendable (_ refused: String?) async throws -> String

    /// The origin as a URL, such as `https://api.example.com`; its path is ignored.
    public let origin: String
    /// The first token.
    let token: String?
    /// Whether the first token is obtained before the first request.
    let isPreemptive: Bool
    let refresh: Refresh

    /// Creates a source of tokens.
    ///
    /// - Parameters:
    ///   - origin: The origin of the tokens as a URL. An invalid one makes the session's initializer throw
    ///     ``HTTPError/Code/invalidConfiguration``.
    ///   - token: The first token. If nil, requests are sent without a token, and one is obtained after a 401.
    ///   - isPreemptive: Whether, if there is no token, one is obtained before the first request is sent.
    ///   - refresh: Obtains the next token. An error that it throws fails all waiting requests with
    ///     ``HTTPError/Code/tokenRefreshFailed``, with the error as the cause.
    public init(
        for origin: String,
        token: String? = nil,
        isPreemptive: Bool = false,
        refresh: @escaping Refresh
    ) {
        self.origin = origin
        self.token = token
        self.isPreemptive = isPreemptive
        self.refresh = refresh
    }

    /// Whether the current task is obtaining a token.
    @TaskLocal static var isRefreshing = false
}

extension BearerTokens: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The origin, without the token.
    public var description: String { "BearerTokens(for: \(origin))" }
    /// The same as ``description``.
    public var debugDescription: String { description }
    /// A mirror without children: one would be the token.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// The credentials of one request.
final class RequestCredentials: Sendable {
    /// The request's own credential, and its origin; nil to use those of the session.
    let own: (credential: Credential, origin: HTTPOrigin)?
    /// Whether its own credential is sent before the server requires it.
    let isPreemptive: Bool

    private init(own: (credential: Credential, origin: HTTPOrigin)?, isPreemptive: Bool = false) {
        self.own = own
        self.isPreemptive = isPreemptive
    }

    /// The session's credentials.
    static let shared = RequestCredentials(own: nil)

    /// Creates credentials for a request with its own credential.
    convenience init(_ credential: Credential, for origin: HTTPOrigin, isPreemptive: Bool) {
        self.init(own: (credential, origin), isPreemptive: isPreemptive)
    }

    /// Returns the request's own credential, if it is for an origin.
    func credential(at origin: HTTPOrigin) -> Credential? {
        own.flatMap { $0.origin == origin ? $0.credential : nil }
    }
}
