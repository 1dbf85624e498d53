public import ReachabilityCore

/// A moment, on the clocks that the live view reads; handed in from outside.
public struct ViewMoment: Sendable, Hashable {
    /// The calendar's time, which may be set back and forth; for what is shown as a time of day alone.
    public var time: Timestamp
    /// How far local time is from UTC then, in seconds east.
    public var utcOffset: Int
    /// `CLOCK_MONOTONIC`, for everything that is counted.
    public var instant: Instant
    /// For how long the machine has been suspended since it was booted: `CLOCK_BOOTTIME` less `CLOCK_MONOTONIC`.
    ///
    /// What was suspended counts as unknown. A few microseconds that lie between the readings of the two do no harm.
    public var suspended: Duration

    /// Makes a moment.
    public init(time: Timestamp, utcOffset: Int = 0, instant: Instant, suspended: Duration = .zero) {
        self.time = time
        self.utcOffset = utcOffset
        self.instant = instant
        self.suspended = suspended
    }
}
