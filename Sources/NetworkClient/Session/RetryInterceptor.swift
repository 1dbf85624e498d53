/// Has the last word on what follows a failed attempt; nil leaves it at the policy's decision.
///
/// It may let go again what the policy gives up, and the other way round; budget, deadline and the user's own pause still
/// hold. Called on the session's event loop: it must not block.
public typealias RetryInterceptor = @Sendable (_ attempt: FailedAttempt) -> RetryDecision?

/// An attempt that failed, as an interceptor sees it.
public struct FailedAttempt: Sendable {
    /// The request.
    public let request: RequestHandle
    /// What went wrong; for a status, with the head of the answer.
    public let error: HTTPError
    /// How many attempts there were, waits not counted.
    public let attempts: Int
    /// What the policy, the budget and the deadline say.
    public let decision: RetryDecision
}
