import ReachabilityCore

/// How far a body is, and how fast: its own state only, so that a test can play any.
struct ProgressMeter: Hashable {
    /// Over how long the rate is taken: long enough to read, short enough to follow.
    static let window = Duration.seconds(3)

    /// How many bytes went or came.
    private(set) var received = 0
    /// How many will, if the server has said it.
    private(set) var expected: Int?
    private var samples: [Sample] = []

    private struct Sample: Hashable {
        var time: Instant
        var received: Int
    }

    /// Takes what is known at a moment; with fewer bytes than before, it begins anew.
    mutating func note(_ received: Int, of expected: Int?, at now: Instant) {
        if received < self.received { samples = [] }
        self.received = received
        self.expected = expected
        samples.append(.init(time: now, received: received))
        // The newest of those that are too old is where the window begins.
        while samples.count > 2, samples[1].time.advanced(by: Self.window) <= now { samples.removeFirst() }
    }

    /// Bytes a second within the window; nil until there is something to tell it from.
    var rate: Double? {
        guard let first = samples.first, let last = samples.last, last.time > first.time else { return nil }
        let seconds = Double(last.time.nanoseconds - first.time.nanoseconds) / 1_000_000_000
        return Double(last.received - first.received) / seconds
    }

    /// How long the rest takes at this rate; nil where that can't be told.
    var timeLeft: Duration? {
        guard let expected, let rate, rate > 0, expected >= received else { return nil }
        let seconds = (Double(expected - received) / rate).rounded(.up)
        return seconds < 360_000 ? .seconds(Int(seconds)) : nil
    }
}
