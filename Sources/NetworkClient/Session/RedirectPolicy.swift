import NetworkClientCore

/// Whether redirects are followed, how many, and what is taken along.
///
/// By RFC 9110, 15.4: 301 and 302 turn a POST into a GET, 303 all but HEAD; 307 and 308 change nothing. To another origin
/// (scheme, host or port) no `Authorization`, `Cookie` or `Proxy-Authorization` goes along.
public struct RedirectPolicy: Sendable {
    /// Whether they are followed at all; if not, they are the answer.
    public var follows: Bool
    /// How many, and whether from https to http.
    var rules: RedirectRules
    /// Fields of the user's own that do not go to another origin either; their names in any case.
    public var secretFields: [String]
    /// Has the last word on each; nil for the rules'.
    public var decision: RedirectDecision?

    /// How many are followed at most; with one more, the request fails with ``HTTPError/Code/tooManyRedirects``.
    public var limit: Int {
        get { rules.limit }
        set { rules.limit = newValue }
    }

    /// Whether they are followed from https to http too.
    public var allowsDowngrade: Bool {
        get { rules.allowsDowngrade }
        set { rules.allowsDowngrade = newValue }
    }

    /// Follows them.
    ///
    /// - Parameters:
    ///   - limit: How many at most; with one more, the request fails with ``HTTPError/Code/tooManyRedirects``.
    ///   - allowsDowngrade: Whether from https to http too.
    ///   - secretFields: Fields that do not go to another origin, beside those that never do.
    ///   - decision: Has the last word on each that the rules would follow.
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

    /// Follows none: a redirect is an answer like others.
    public static let refuse = Self(follows: false, rules: .init(limit: 0), secretFields: [], decision: nil)
}

/// Has the last word on a redirect.
///
/// Called on the session's event loop: it must not block.
public typealias RedirectDecision = @Sendable (_ redirect: ProposedRedirect) -> RedirectChoice

/// A redirect that the rules would follow.
public struct ProposedRedirect: Sendable {
    /// The request.
    public let request: RequestHandle
    /// The head of the answer that leads elsewhere.
    public let response: HTTPResponse
    /// How many were followed before.
    public let followed: Int
    /// What is sent next, by the rules: without what must not go to another origin.
    public let next: HTTPRequest
}

/// What becomes of a redirect.
public enum RedirectChoice: Sendable {
    /// It is followed.
    case follow
    /// Something else is sent: method, URL and fields as they are here.
    ///
    /// The body goes along if it would have. Where the URL has another origin than ``ProposedRedirect/next``, so has `Host`,
    /// unless it was changed too. What is no URL that can be asked fails the request.
    case change(HTTPRequest)
    /// It is the answer.
    case refuse
}

/// A redirect that was followed.
public struct Redirect: Sendable, Hashable {
    /// The answer's status.
    public let status: Int
    /// The URL that was asked, without user information and query.
    public let from: String
    /// The URL that was asked next, without user information and query.
    public let to: String
}
