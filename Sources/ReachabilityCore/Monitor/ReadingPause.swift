/// How long reading some of the tables took, and how long it rests for that.
struct ReadingPause: Sendable, Hashable {
    /// Until when nothing is read; nil if it never rested.
    private(set) var end: Instant?
    private var spent = Duration.zero
    private var last: Instant?

    private static let longest = Duration.seconds(5)
    /// The kernel makes a datagram of a dump in a fraction of this; a longer step was spent elsewhere.
    ///
    /// The process was stopped, or heard what happened meanwhile: that must not delay the reading which it needs then.
    private static let longestStep = Duration.milliseconds(1)

    /// Notes a step of the reading: from a request, or a datagram, to the next datagram.
    mutating func step(from earlier: Instant, to now: Instant) {
        spent += min(earlier.duration(to: now), Self.longestStep)
        last = now
    }

    /// Rests from the last step on, so many times as long as the reading took; a rest before it may last longer.
    mutating func rest(_ factor: Int) {
        guard let last else { return }
        hold(until: last.advanced(by: min(spent * factor, Self.longest)))
        spent = .zero
        self.last = nil
    }

    /// Rests until a moment at least.
    mutating func hold(until moment: Instant) { end = max(moment, end ?? moment) }

    /// Whether it rests now.
    func isResting(at now: Instant) -> Bool { end.map { $0 > now } ?? false }
}
