extension RetryPolicy {
    /// How long to wait after so many attempts: full jitter, on top of what the server asked for.
    ///
    /// The jitter lies between nothing and ``bound(after:)``. Whoever was told the same `Retry-After` does not come back
    /// at the same moment: the jitter is added to it, and it has no upper bound of its own.
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
