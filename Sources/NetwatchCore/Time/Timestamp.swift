/// A moment of the calendar.
public struct Timestamp: Sendable, Hashable, Comparable {
    /// Seconds since 1970-01-01T00:00:00Z, leap seconds not counted, as `CLOCK_REALTIME` has them.
    public var seconds: Int64
    /// Nanoseconds within the second, 0 to 999,999,999.
    public var nanoseconds: Int64

    /// Takes `tv_sec` and `tv_nsec` (clock_gettime(2)).
    public init(seconds: Int64, nanoseconds: Int64) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Takes nanoseconds since 1970, as captures count.
    public init(nanosecondsSinceEpoch total: Int64) {
        let (quotient, remainder) = total.quotientAndRemainder(dividingBy: 1_000_000_000)
        seconds = remainder < 0 ? quotient - 1 : quotient
        nanoseconds = remainder < 0 ? remainder + 1_000_000_000 : remainder
    }

    /// The minute that it lies in, counted from 1970-01-01T00:00Z.
    public var minute: Int64 { seconds.flooredQuotient(60) }

    /// Whether a moment is before another.
    public static func < (left: Self, right: Self) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

/// A day of the proleptic Gregorian calendar.
public struct CivilDay: Sendable, Hashable {
    /// The year.
    public let year: Int64
    /// The month, 1 to 12.
    public let month: Int64
    /// The day, 1 to 31.
    public let day: Int64

    /// Finds the day that lies a number of days after 1970-01-01.
    ///
    /// Years are counted from March, so that the leap day is the last of a year and each month's length follows from one
    /// formula (153 days in five months). An era is 400 years, 146,097 days.
    public init(daysSinceEpoch: Int64) {
        let shifted = daysSinceEpoch + 719_468  // From 0000-03-01.
        let era = shifted.flooredQuotient(146_097)
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }
}

extension Int64 {
    /// The quotient rounded down, where `/` rounds towards zero.
    public func flooredQuotient(_ divisor: Int64) -> Int64 {
        self / divisor - (self % divisor < 0 ? 1 : 0)
    }
}
