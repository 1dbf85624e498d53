/// How long to wait before the next attempt: longer after each failure, up to a bound, short again after a success.
struct Backoff: Sendable, Hashable {
    /// The wait after the first failure.
    let shortest: Duration
    /// The wait that is not exceeded.
    let longest: Duration
    private(set) var failures = 0

    init(from shortest: Duration, to longest: Duration) {
        self.shortest = shortest
        self.longest = longest
    }

    /// Notes a failure, and says how long to wait: twice as long as after the one before.
    mutating func failed() -> Duration {
        defer { failures += 1 }
        var wait = shortest
        for _ in 0..<failures where wait < longest { wait *= 2 }
        return min(wait, longest)
    }

    /// Notes a success.
    mutating func succeeded() { failures = 0 }
}
