/// Bearer tokens for an origin (RFC 6750): one is got anew when it is refused, once for all requests that were refused.
///
/// ```swift
/// let tokens = BearerTokens(for: "https://api.example.com", token: saved) { refused in
///     try await login.refresh()
/// }
/// ```
/// Requests that were refused wait for the new token and go again with it, once each. Who got a token that is refused at
/// once gets no other one for ten seconds: the 401 is the answer then. Requests that the closure itself makes carry no
/// token.
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
