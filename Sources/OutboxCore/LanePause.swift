/// A pause of a lane after a failure of its destination; it is stored, and continues after a restart.
package struct LanePause: Sendable, Hashable {
    /// The number of failed attempts since the last success, not counting those that were under way at the same time.
    package var failures: Int
    /// The time at which one item is sent as a probe.
    package var until: BoxTime
    /// The end of the server's `Retry-After`, which nothing shortens.
    package var retryAfterEnd: BoxTime?

    package init(failures: Int, until: BoxTime, retryAfterEnd: BoxTime?) {
        self.failures = failures
        self.until = until
        self.retryAfterEnd = retryAfterEnd
    }

    /// The shortest pause.
    package static let minimum = Duration.seconds(30)
    /// The longest pause, unless the server demands a longer one.
    package static let maximum = Duration.seconds(3_600)

    /// Creates the pause that follows a failure.
    ///
    /// The first lasts 30 to 45 seconds, each further one twice as long, up to one hour.
    ///
    /// - Parameters:
    ///   - previous: The pause before the probe that failed; nil for the first failure.
    ///   - retryAfter: The server's `Retry-After`.
    ///   - now: The current time.
    ///   - generator: The source of the jitter.
    package init(
        after previous: Self?,
        _ retryAfter: Duration?,
        at now: BoxTime,
        using generator: inout some RandomNumberGenerator
    ) {
        failures = (previous?.failures ?? 0) + 1
        let bound = min(Self.minimum * (1 << min(failures - 1, 20)), Self.maximum * 2 / 3)
        let jitter = Int64.random(in: 0...bound.wholeNanoseconds / 2, using: &generator)
        let delay = bound + .nanoseconds(jitter)
        retryAfterEnd = retryAfter.map { now.advanced(by: max($0, .zero)) } ?? previous?.retryAfterEnd
        until = max(now.advanced(by: delay), retryAfterEnd ?? now)
    }

    /// Ends the pause because a path came back, but not before the server's `Retry-After`.
    package mutating func pathReturned(at now: BoxTime) {
        until = min(until, max(now, retryAfterEnd ?? now))
    }

    /// Extends the pause to the `Retry-After` of another item's response.
    package mutating func extend(by retryAfter: Duration, at now: BoxTime) {
        let end = now.advanced(by: max(retryAfter, .zero))
        retryAfterEnd = max(retryAfterEnd ?? end, end)
        until = max(until, end)
    }
}
