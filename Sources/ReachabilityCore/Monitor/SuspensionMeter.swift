/// Measures for how long the machine was suspended, by the difference of two clocks.
struct SuspensionMeter: Sendable, Hashable {
    private var total: Duration?

    /// Takes the time that the machine has been suspended since its start: `CLOCK_BOOTTIME` minus `CLOCK_MONOTONIC`.
    ///
    /// - Returns: How long it was suspended since the previous call; nil if that is less than
    ///   ``Pacing/shortestSuspension``, and at the first call.
    mutating func measure(_ total: Duration) -> Duration? {
        defer { self.total = total }
        guard let before = self.total, total - before >= Pacing.shortestSuspension else { return nil }
        return total - before
    }
}
