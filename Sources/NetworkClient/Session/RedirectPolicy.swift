import NetworkClientCore

/// The policy for redirects: whether and how often they are followed.
///
/// 301 and 302 change POST to GET, 303 changes all methods but HEAD to GET, and 307 and 308 change nothing (RFC 9110,
/// 15.4). `Authorization`, `Cookie` and `Proxy-Authorization` are not sent to another origin (scheme, host and port).
public struct RedirectPolicy: Sendable {
    /// Whether redirects are followed; if not, a redirect is the request's response.
    public var follows: Bool
    /// The maximum number, and whether redirects from https to http are followed.
    var rules: RedirectRules
    /// The names, in any case, of further header fields that are not sent to another origin.
    ///
    /// Their values are also hidden in descriptions and in ``RequestHandle/curlCommand``.
    public var secretFields: [String]
    /// The closure that makes the final decision about each redirect; nil to follow the rules.
    public var decision: RedirectDecision?

    /// The maximum number of redirects; one more fails the request with ``HTTPError/Code/tooManyRedirects``.
    ///
    /// The default is 20.
    public var limit: Int {
        get { rules.limit }
        set { rules.limit = newValue }
    }

    /// Whether redirects from https to http are followed; if not, the default, they fail with
    /// ``HTTPError/Code/redirectRefused``.
    public var allowsDowngrade: Bool {
        get { rules.allowsDowngrade }
        set { rules.allowsDowngrade = newValue }
    }

    /// Follows redirects.
    ///
    /// - Parameters:
    ///   - limit: The maximum number; one more fails the request with ``HTTPError/Code/tooManyRedirects``.
    ///   - allowsDowngrade: Whether redirects from https to http are followed.
    ///   - secretFields: The names of further header fields that are not sent to another origin.
    ///   - decision: Makes the final decision about each redirect that the rules allow.
    /// - Returns: The policy.
    public static func follow(
        limit: Int = 20,
        allowsDowngrade: Bool = false,
        secretFields: [String] = [],
        decision: RedirectDecision? = nil
    ) -> Self {
        .init(
            follows: true,
            rules: .init(limit: limit, allowsDowngrade: allowsDowngrade),
            secretFields: secretFields,
            decision: decision
        )
    }

    /// Follows no redirects: a redirect is the request's response.
    public static let refuse = Self(follows: false, rules: .init(limit: 0), secretFields: [], decision: nil)
}

/// A closure that makes the final decision about a redirect.
///
/// Called on the session's event loop; it must not block.
public typealias RedirectDecision = @Sendable (_ redirect: ProposedRedirect) -> RedirectChoice

/// A redirect that the rules allow.
public struct ProposedRedirect: Sendable {
    /// The request.
    public let request: RequestHandle
    /// The head of the redirect response.
    public let response: HTTPResponse
    /// The number of redirects that were followed before.
    public let followed: Int
    /// The next request, without the fields that must not be sent to another origin.
    public let next: HTTPRequest
}

/// A decision about a redirect.
public enum RedirectChoice: Sendable {
    /// Follow it.
    case follow
    /// Send a different request, with this method, URL and fields.
    ///
    /// It has the body of ``ProposedRedirect/next``, if any, and the `Content-Length`, `Transfer-Encoding` and `Expect` of
    /// that body, whatever its fields say. If its URL has another origin, `Host` is adapted unless it
    /// was changed too. An invalid URL fails the request with ``HTTPError/Code/invalidURL``.
    case change(HTTPRequest)
    /// Return it as the request's response.
    case refuse
}

/// A redirect that was followed.
public struct Redirect: Sendable, Hashable {
    /// The status of the redirect, such as 302.
    public let status: Int
    /// The URL that redirected, without user information and query.
    public let from: String
    /// The URL that was requested next, without user information and query.
    public let to: String
}
