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
