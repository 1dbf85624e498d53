import ReachabilityCore

/// The time that the live view shows: updated rarely, so that the screen rarely changes.
///
/// Ages are measured by a clock that continues during suspension, and shown as of ``shown``: in the first minute
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

    /// The moment as of which ages are shown.
    var shown: Instant { .init(nanoseconds: elapsed.nanoseconds - sinceStep) }

    /// The day since 1970-01-01 by local time.
    var today: Int64 { LocalTime(now).day }

    /// The part that is shown, for comparison.
    var face: Face { .init(shown: shown, today: today) }

    /// When it changes, by `CLOCK_MONOTONIC`.
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

/// A moment as a clock on the wall shows it.
package struct LocalTime: Sendable, Hashable {
    /// Seconds since the beginning of 1970, by local time.
    private let seconds: Int64
    private let nanoseconds: Int64
    /// The offset of local time from UTC then, in seconds east.
    private let utcOffset: Int

    init(_ moment: ViewMoment) { self.init(moment.time, utcOffset: moment.utcOffset) }

    /// Takes a moment, and the offset of local time from UTC then, in seconds east.
    package init(_ time: Timestamp, utcOffset: Int) {
        seconds = time.seconds &+ Int64(utcOffset)
        nanoseconds = time.nanoseconds
        self.utcOffset = utcOffset
    }

    /// The days since 1970-01-01.
    package var day: Int64 { seconds.flooredQuotient(86_400) }

    /// The time until midnight.
    var untilMidnight: Duration { .seconds(86_400 - secondOfDay) - .nanoseconds(nanoseconds) }

    /// `14:02:11`.
    var second: String {
        [secondOfDay / 3600, secondOfDay / 60 % 60, secondOfDay % 60].map { $0.padded(2) }.joined(separator: ":")
    }

    /// `14:02:11.123`.
    private var millisecond: String { second + "." + (nanoseconds / 1_000_000).padded(3) }

    /// `20 Nov 14:02`, as wide as ``millisecond``.
    private var dayAndMinute: String {
        let date = CivilDay(daysSinceEpoch: day)
        let number = date.day < 10 ? " \(date.day)" : "\(date.day)"
        return "\(number) \(Self.months[Int(date.month - 1)]) \(second.prefix(5))"
    }

    /// `2026-11-20 14:02:11.123456 +01:00`.
    var whole: String {
        let minutes = Int64(utcOffset.magnitude / 60)
        let zone = "\(utcOffset < 0 ? "-" : "+")\((minutes / 60).padded(2)):\((minutes % 60).padded(2))"
        return "\(CivilDay(daysSinceEpoch: day).text) \(second).\((nanoseconds / 1000).padded(6)) \(zone)"
    }

    /// Shown next to others of today, or of one day.
    ///
    /// - Parameters:
    ///   - today: The day since 1970-01-01 on which it is read.
    ///   - precise: Whether milliseconds are wanted.
    /// - Returns: The time, with the date if it is of another day.
    package func text(on today: Int64, precise: Bool) -> String {
        if day != today { return dayAndMinute }
        return precise ? millisecond : second
    }

    private var secondOfDay: Int64 { seconds - day * 86_400 }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
