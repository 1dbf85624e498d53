/// A delay before the next attempt that doubles with each failure, up to a maximum, and restarts after a success.
package struct Backoff: Sendable, Hashable {
    /// The delay after the first failure.
    private let shortest: Duration
    /// The maximum delay.
    private let longest: Duration
    /// The delay after the next failure.
    private var next: Duration

    /// Creates a backoff without failures.
    package init(from shortest: Duration, to longest: Duration) {
        self.shortest = shortest
        self.longest = longest
        next = shortest
    }

    /// Records a failure and returns the delay before the next attempt.
    package mutating func failed() -> Duration {
        defer { next = min(next * 2, longest) }
        return next
    }

    /// Records a failure and returns a random delay, from zero to that of ``failed()``.
    ///
    /// With full jitter, what failed at the same time is not tried again at the same time.
    package mutating func failed(jitter generator: inout some RandomNumberGenerator) -> Duration {
        .nanoseconds(Int64.random(in: 0...Int64(failed() / .nanoseconds(1)), using: &generator))
    }

    /// Records a success.
    package mutating func succeeded() { next = shortest }
}
