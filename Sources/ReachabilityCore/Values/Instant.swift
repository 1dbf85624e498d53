/// A moment on the machine's monotonic clock, handed in from outside: the pure rooms never read a clock.
public struct Instant: InstantProtocol, Sendable, Hashable {
    /// Nanoseconds of `CLOCK_MONOTONIC`, which stops while the machine is suspended (clock_gettime(2)).
    public let nanoseconds: Int64

    /// Makes a moment from nanoseconds of `CLOCK_MONOTONIC`.
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// The moment that lies a duration after this one.
    public func advanced(by duration: Duration) -> Self {
        let (seconds, attoseconds) = duration.components
        return .init(nanoseconds: nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    /// How long it is from this moment to another; what is beyond 292 years counts as that.
    public func duration(to other: Self) -> Duration {
        let (difference, overflow) = other.nanoseconds.subtractingReportingOverflow(nanoseconds)
        return .nanoseconds(overflow ? (other < self ? .min : .max) : difference)
    }

    /// The earlier of two moments, of which either may never come.
    static func earlier(_ one: Self?, _ other: Self?) -> Self? {
        guard let one else { return other }
        guard let other else { return one }
        return min(one, other)
    }

    /// Orders by time.
    public static func < (left: Self, right: Self) -> Bool { left.nanoseconds < right.nanoseconds }
}
