import ReachabilityCore

/// The time as the live view tells it: seldom, so that the screen changes seldom.
///
/// Ages are counted on a clock that goes on while the machine is suspended, and told as of ``shown``: in the first minute
/// after something has happened that is the last whole second, later the last whole minute.
struct ViewClock: Sendable {
    /// The last moment that was handed in.
    private(set) var now: ViewMoment
    /// The same on the clock that ages are counted on.
    private(set) var elapsed: Instant
    /// When something happened last whose age is shown.
    private var anchor: Instant

    init(_ now: ViewMoment) {
        self.now = now
        elapsed = now.instant.advanced(by: now.suspended)
        anchor = elapsed
    }

    /// The moment of which ages are told.
    var shown: Instant { .init(nanoseconds: elapsed.nanoseconds - sinceStep) }

    /// The day since 1970-01-01 by local time.
    var today: Int64 { LocalTime(now).day }

    /// What is shown of it, for comparison.
    var face: Face { .init(shown: shown, today: today) }

    /// When it is another, by `CLOCK_MONOTONIC`.
    var nextChange: Instant {
        let rest = Duration.nanoseconds(step - sinceStep)
        return now.instant.advanced(by: min(rest, LocalTime(now).untilMidnight))
    }

    /// Takes a moment.
    ///
    /// - Returns: For how long the machine was suspended just before it; nil if it was not.
    mutating func take(_ moment: ViewMoment) -> Duration? {
        let asleep = moment.suspended - now.suspended
        let wasSuspended = asleep >= Self.shortestSuspension
        let suspended = wasSuspended ? moment.suspended : now.suspended
        now = moment
        now.suspended = suspended
        elapsed = max(elapsed, moment.instant.advanced(by: suspended))
        return wasSuspended ? asleep : nil
    }

    /// Something has happened at the last moment.
    mutating func noteEvent() { anchor = elapsed }

    /// In nanoseconds.
    private var age: Int64 { elapsed.nanoseconds - anchor.nanoseconds }

    /// In nanoseconds.
    private var step: Int64 { age < 60_000_000_000 ? 1_000_000_000 : 60_000_000_000 }

    /// In nanoseconds.
    private var sinceStep: Int64 { age % step }

    /// Less may be the time between the readings of two clocks.
    private static let shortestSuspension = Duration.seconds(1)

    struct Face: Hashable {
        var shown: Instant
        var today: Int64
    }
}
