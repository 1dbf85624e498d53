import NetworkClientCore

/// The number of attempts of a request, and the delays between them.
public struct RetryPolicy: Sendable, Hashable {
    /// The maximum number of attempts, including the first.
    ///
    /// Waiting for connectivity does not count as an attempt.
    public var maximumAttempts: Int
    /// The upper bound of the first delay.
    ///
    /// It doubles with each further attempt.
    public var baseDelay: Duration
    /// The maximum of that bound.
    ///
    /// Only a server's `Retry-After` can cause a longer delay.
    public var maximumDelay: Duration
    /// The statuses after which an idempotent request is retried.
    public var retryableStatuses: Set<Int>
    /// The statuses after which other requests are retried too: those by which the server has not processed the
    /// request.
    public var unprocessedStatuses: Set<Int>

    /// Creates a policy.
    public init(
        maximumAttempts: Int = 3,
        baseDelay: Duration = .milliseconds(500),
        maximumDelay: Duration = .seconds(20),
        retryableStatuses: Set<Int> = [408, 429, 500, 502, 503, 504],
        unprocessedStatuses: Set<Int> = [421, 425, 429]
    ) {
        self.maximumAttempts = maximumAttempts
        self.baseDelay = baseDelay
        self.maximumDelay = maximumDelay
        self.retryableStatuses = retryableStatuses
        self.unprocessedStatuses = unprocessedStatuses
    }

    /// One attempt without retries.
    public static let never = Self(maximumAttempts: 1)
    /// Three attempts with full jitter, bounded by 0.5 s, 1 s, … 20 s.
    public static let standard = Self()

    /// Whether the policy allows more than one attempt.
    public var retries: Bool { maximumAttempts > 1 }
}

extension RetryPolicy {
    /// Decides whether and when a failed request is retried, and why.
    ///
    /// | progress | transient, timeout, refused | path lost | status | permanent |
    /// |---|---|---|---|---|
    /// | never sent | retries | waits | by the status | fails |
    /// | refused unprocessed | retries if replayable | waits if replayable | by the status | fails |
    /// | maybe processed | if idempotent and replayable | waits if both | by the status, if idempotent | fails |
    /// | response received in part | retries if idempotent and replayable | waits if both | by the status | fails |
    ///
    /// "By the status": the body is replayable, and either the status is in ``unprocessedStatuses``, or it is in
    /// ``retryableStatuses`` and the request is idempotent. There are at most ``maximumAttempts``. Waiting for a path
    /// is not an attempt, but a request that was sent waits only under a policy that retries.
    ///
    /// - Parameters:
    ///   - failure: The failure of the last attempt.
    ///   - traits: The properties of the request.
    ///   - attempts: The number of attempts so far, including the failed one.
    ///   - generator: The source of the jitter.
    /// - Returns: The decision and its reason.
    package func decide(
        _ failure: AttemptFailure,
        _ traits: RequestTraits,
        attempts: Int,
        using generator: inout some RandomNumberGenerator
    ) -> RetryDecision {
        if failure.kind == .permanent { return .giveUp(because: .permanent) }
        if failure.kind == .pathLost, failure.processing == .neverSent { return .waitForPath }
        guard retries else { return .giveUp(because: .noPolicy) }
        switch verdict(failure, traits) {
        case .rejected(let reason): return .giveUp(because: reason)
        case .allowed where failure.kind == .pathLost: return .waitForPath
        case .allowed(let reason):
            guard attempts < maximumAttempts else { return .giveUp(because: .attempts) }
            return .retry(in: delay(after: attempts, failure.retryAfter, using: &generator), because: reason)
        }
    }

    private enum Verdict {
        case allowed(RetryReason)
        case rejected(GiveUpReason)
    }

    private func verdict(_ failure: AttemptFailure, _ traits: RequestTraits) -> Verdict {
        let verdict =
            if case .status(let status) = failure.kind {
                self.verdict(status: status, failure.processing, traits)
            } else {
                Self.verdict(failure.processing, traits)
            }
        // If nothing was sent, no part of the body was consumed either.
        guard case .allowed = verdict, failure.processing != .neverSent, !traits.isReplayable else { return verdict }
        return .rejected(.notReplayable)
    }

    private static func verdict(_ processing: Processing, _ traits: RequestTraits) -> Verdict {
        switch processing {
        case .neverSent: .allowed(.neverSent)
        case .refusedUnprocessed: .allowed(.refusedUnprocessed)
        case .maybeProcessed, .answered: traits.isIdempotent ? .allowed(.idempotent) : .rejected(.notIdempotent)
        }
    }

    /// Returns the verdict on a status.
    ///
    /// It applies to its own attempt only: an earlier one may still have been processed.
    private func verdict(status: Int, _ processing: Processing, _ traits: RequestTraits) -> Verdict {
        let saysUnprocessed = unprocessedStatuses.contains(status)
        guard saysUnprocessed || retryableStatuses.contains(status) else { return .rejected(.status) }
        let isHarmless = traits.isIdempotent || (saysUnprocessed && processing != .maybeProcessed)
        return isHarmless ? .allowed(.status) : .rejected(.notIdempotent)
    }
}

extension RetryPolicy {
    /// Returns the delay after a number of attempts: full jitter in addition to the server's `Retry-After`.
    ///
    /// The jitter is between zero and ``bound(after:)``. It is added to `Retry-After`, which has no upper bound, so
    /// that clients that received the same value don't all return at the same moment.
    func delay(
        after attempts: Int,
        _ retryAfter: Duration?,
        using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let bound = bound(after: attempts).clampedNanoseconds
        let jitter = Int64.random(in: 0...max(bound, 0), using: &generator)
        let floor = max(retryAfter?.clampedNanoseconds ?? 0, 0)
        let (sum, overflows) = floor.addingReportingOverflow(jitter)
        return .nanoseconds(overflows ? .max : sum)
    }

    /// Returns the upper bound of the jitter after a number of attempts: 0.5 s, 1 s, 2 s … 20 s by the standard policy.
    package func bound(after attempts: Int) -> Duration {
        let cap = max(maximumDelay.clampedNanoseconds, 0)
        let base = max(baseDelay.clampedNanoseconds, 0)
        let doublings = max(attempts, 1) - 1
        if base == 0 { return .zero }
        guard doublings < base.leadingZeroBitCount else { return .nanoseconds(cap) }
        return .nanoseconds(min(base << Int64(doublings), cap))
    }
}
