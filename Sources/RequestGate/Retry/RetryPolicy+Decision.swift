import NetworkClientCore

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
