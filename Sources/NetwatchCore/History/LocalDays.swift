public import ReachabilityCore

/// A day as people of one place count it.
public struct LocalDay: Sendable, Hashable {
    /// The date.
    public let date: CivilDay
    /// From midnight to midnight, by nanoseconds since 1970; 23 to 25 hours, and none of a date that a place left out.
    public let span: Range<Instant>
}

/// The days of a place.
public struct LocalDays: Sendable {
    /// Tells how far local time is from UTC at a moment, in seconds east.
    private let offset: @Sendable (Timestamp) -> Int

    /// Takes what knows the place.
    public init(offset: @escaping @Sendable (Timestamp) -> Int) { self.offset = offset }

    /// The moment at which a day begins: midnight, or the first moment after it that there is.
    public func midnight(of day: CivilDay) -> Timestamp {
        let plain = day.daysSinceEpoch * 86_400
        func candidate(_ offsetMoment: Int64) -> Int64 {
            plain - Int64(offset(.init(seconds: offsetMoment, nanoseconds: 0)))
        }
        // Once for the offset, and again where it is another before that moment than at it.
        let first = candidate(plain)
        let second = candidate(first)
        // Where the clock is put forward at midnight, there is none: with the offset after that, it lies in the day before.
        let isBefore = self.day(of: .init(seconds: second, nanoseconds: 0)).daysSinceEpoch < day.daysSinceEpoch
        return .init(seconds: isBefore ? max(first, second) : second, nanoseconds: 0)
    }

    /// The day in which a moment lies.
    public func day(of time: Timestamp) -> CivilDay {
        .init(daysSinceEpoch: (time.seconds + Int64(offset(time))).flooredQuotient(86_400))
    }

    /// The days of which a window has a part; none of an empty one.
    public func days(in window: Range<Instant>) -> [LocalDay] {
        guard !window.isEmpty else { return [] }
        let first = day(of: .init(nanosecondsSinceEpoch: window.lowerBound.nanoseconds)).daysSinceEpoch
        let last = day(of: .init(nanosecondsSinceEpoch: window.upperBound.nanoseconds - 1)).daysSinceEpoch
        return (first...max(first, last)).map { number in
            let date = CivilDay(daysSinceEpoch: number)
            let start = Instant(midnight(of: date))
            return .init(date: date, span: start..<max(start, Instant(midnight(of: .init(daysSinceEpoch: number + 1)))))
        }
    }
}
