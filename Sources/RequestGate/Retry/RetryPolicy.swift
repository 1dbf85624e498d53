import NetworkClientCore

/// How often and when a request that failed goes again.
public struct RetryPolicy: Sendable, Hashable {
    /// How many attempts there are at most, the first included; waits for connectivity are none.
    public var maximumAttempts: Int
    /// The upper bound of the first delay; each further bound is twice the one before.
    public var baseDelay: Duration
    /// The bound that no delay exceeds, unless a server asks for more by `Retry-After`.
    public var maximumDelay: Duration
    /// The statuses after which an idempotent request goes again.
    public var retryableStatuses: Set<Int>
    /// The statuses after which every other request goes again too: those that say that nothing was done.
    public var statusesOfUnprocessed: Set<Int>

    /// Sets each number.
    public init(
        maximumAttempts: Int = 3,
        baseDelay: Duration = .milliseconds(500),
        maximumDelay: Duration = .seconds(20),
        retryableStatuses: Set<Int> = [408, 429, 500, 502, 503, 504],
        statusesOfUnprocessed: Set<Int> = [421, 425, 429]
    ) {
        self.maximumAttempts = maximumAttempts
        self.baseDelay = baseDelay
        self.maximumDelay = maximumDelay
        self.retryableStatuses = retryableStatuses
        self.statusesOfUnprocessed = statusesOfUnprocessed
    }

    /// One attempt and no more.
    public static let never = Self(maximumAttempts: 1)
    /// Three attempts, full jitter up to 0.5 s, 1 s, … 20 s.
    public static let standard = Self()

    /// Whether anything is ever sent again.
    public var retries: Bool { maximumAttempts > 1 }
}

extension RetryPolicy {
    /// Whether a request that failed goes again, when, and why.
    ///
    /// | how far it came | transient, timeout, refused | path lost | status | permanent |
    /// |---|---|---|---|---|
    /// | never sent | goes again | waits | by the status | has failed |
    /// | refused unprocessed | goes again if replayable | waits if replayable | by the status | has failed |
    /// | maybe processed | if idempotent and replayable | waits if both | by the status, if idempotent | has failed |
    /// | answered, in part | if idempotent and replayable | waits if both | by the status | has failed |
    ///
    /// By the status: if the body is replayable and the status is in ``statusesOfUnprocessed``, or in
    /// ``retryableStatuses`` and the request is idempotent. No more than ``maximumAttempts``; waiting for a path is no
    /// attempt, but who was sent already waits only under a policy that retries.
    ///
    /// - Parameters:
    ///   - failure: how the last attempt ended.
    ///   - traits: what may be done with the request.
    ///   - attempts: how many attempts were made, the failed one included.
    ///   - generator: where the jitter comes from.
    /// - Returns: what follows, and why.
    public func decide(
        _ failure: AttemptFailure,
        _ traits: RequestTraits,
        attempts: Int,
        using generator: inout some RandomNumberGenerator
    ) -> RetryDecision {
        if failure.kind == .permanent { return .giveUp(because: .permanent) }
        if failure.kind == .pathLost, failure.processing == .neverSent { return .waitForPath }
        guard retries else { return .giveUp(because: .noPolicy) }
        switch verdict(failure, traits) {
        case .mayNot(let reason): return .giveUp(because: reason)
        case .may where failure.kind == .pathLost: return .waitForPath
        case .may(let reason):
            guard attempts < maximumAttempts else { return .giveUp(because: .attempts) }
            return .retry(in: delay(after: attempts, failure.retryAfter, using: &generator), because: reason)
        }
    }

    private enum Verdict {
        case may(RetryReason)
        case mayNot(GiveUpReason)
    }

    private func verdict(_ failure: AttemptFailure, _ traits: RequestTraits) -> Verdict {
        let verdict =
            if case .status(let status) = failure.kind {
                self.verdict(status: status, failure.processing, traits)
            } else {
                Self.verdict(failure.processing, traits)
            }
        // A body that was never sent was not read either.
        guard case .may = verdict, failure.processing != .neverSent, !traits.isReplayable else { return verdict }
        return .mayNot(.notReplayable)
    }

    private static func verdict(_ processing: Processing, _ traits: RequestTraits) -> Verdict {
        switch processing {
        case .neverSent: .may(.neverSent)
        case .refusedUnprocessed: .may(.refusedUnprocessed)
        case .maybeProcessed, .answered: traits.isIdempotent ? .may(.idempotent) : .mayNot(.notIdempotent)
        }
    }

    /// A status tells of its own attempt; that an earlier one may have been processed remains true.
    private func verdict(status: Int, _ processing: Processing, _ traits: RequestTraits) -> Verdict {
        let saysUnprocessed = statusesOfUnprocessed.contains(status)
        guard saysUnprocessed || retryableStatuses.contains(status) else { return .mayNot(.status) }
        let isHarmless = traits.isIdempotent || (saysUnprocessed && processing != .maybeProcessed)
        return isHarmless ? .may(.status) : .mayNot(.notIdempotent)
    }
}

extension RetryPolicy {
    /// How long to wait after so many attempts: full jitter, on top of what the server asked for.
    ///
    /// The jitter lies between nothing and ``bound(after:)``. A request that was told the same `Retry-After` does not
    /// come back at the same moment: the jitter is added to it, and it has no upper bound of its own.
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

    /// The upper bound of the delay after so many attempts: 0.5 s, 1 s, 2 s … 20 s by the standard policy.
    public func bound(after attempts: Int) -> Duration {
        let cap = max(maximumDelay.clampedNanoseconds, 0)
        let base = max(baseDelay.clampedNanoseconds, 0)
        let doublings = max(attempts, 1) - 1
        if base == 0 { return .zero }
        guard doublings < base.leadingZeroBitCount else { return .nanoseconds(cap) }
        return .nanoseconds(min(base << Int64(doublings), cap))
    }
}
