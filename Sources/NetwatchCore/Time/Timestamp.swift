/// A moment of the calendar.
package struct Timestamp: Sendable, Hashable, Comparable {
    /// Seconds since 1970-01-01T00:00:00Z, leap seconds not counted, as `CLOCK_REALTIME` has them.
    package var seconds: Int64
    /// Nanoseconds within the second, 0 to 999,999,999.
    package var nanoseconds: Int64

    /// Takes `tv_sec` and `tv_nsec` (clock_gettime(2)).
    package init(seconds: Int64, nanoseconds: Int64) {
        self.seconds = seconds
        self.nanoseconds = nanoseconds
    }

    /// Takes nanoseconds since 1970, as captures count.
    package init(nanosecondsSinceEpoch total: Int64) {
        let (quotient, remainder) = total.quotientAndRemainder(dividingBy: 1_000_000_000)
        seconds = remainder < 0 ? quotient - 1 : quotient
        nanoseconds = remainder < 0 ? remainder + 1_000_000_000 : remainder
    }

    /// The minute that it lies in, counted from 1970-01-01T00:00Z.
    package var minute: Int64 { seconds.flooredQuotient(60) }

    /// Whether a moment is before another.
    package static func < (left: Self, right: Self) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

/// A day of the proleptic Gregorian calendar.
package struct CivilDay: Sendable, Hashable {
    /// The year.
    package let year: Int64
    /// The month, 1 to 12.
    package let month: Int64
    /// The day, 1 to 31.
    package let day: Int64

    /// Finds the day that lies a number of days after 1970-01-01.
    ///
    /// Years are counted from March, so that the leap day is the last of a year and each month's length follows from one
    /// formula (153 days in five months). An era is 400 years, 146,097 days.
    package init(daysSinceEpoch: Int64) {
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
    package func flooredQuotient(_ divisor: Int64) -> Int64 {
        self / divisor - (self % divisor < 0 ? 1 : 0)
    }
}

extension Timestamp {
    /// Reads a moment as RFC 3339 writes it: `2026-11-20T21:00:00.123456+01:00`, or with `Z`.
    ///
    /// Of the fraction nine digits count. Seconds of 60, which leap seconds have, count as those of the next minute.
    package init?(rfc3339 text: some StringProtocol) {
        var reader = DigitReader(text.utf8)
        guard let day = reader.day(), reader.take("T") || reader.take("t") || reader.take(" "),
            let time = reader.timeOfDay()
        else { return nil }
        let nanoseconds = reader.fraction()
        guard let nanoseconds, let offset = reader.offset(), reader.isAtEnd else { return nil }
        self.init(seconds: day.daysSinceEpoch * 86_400 + time - offset, nanoseconds: nanoseconds)
    }

    /// The number of nanoseconds since 1970, limited to the years 1678 to 2262.
    package var nanosecondsSinceEpoch: Int64 {
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, beyond) = product.addingReportingOverflow(nanoseconds)
        return overflow || beyond ? (seconds < 0 ? .min : .max) : sum
    }
}

extension Timestamp {
    /// The moment as RFC 3339 has it, in UTC, with microseconds: `2026-11-20T20:00:00.123456Z`.
    package var text: String {
        let day = seconds.flooredQuotient(86_400)
        let second = seconds - day * 86_400
        let time = [second / 3600, second / 60 % 60, second % 60].map { $0.padded(2) }.joined(separator: ":")
        return "\(CivilDay(daysSinceEpoch: day).text)T\(time).\((nanoseconds / 1_000).padded(6))Z"
    }

    /// Returns the moment that is a duration later, limited to the years 1678 to 2262.
    package func advanced(by duration: Duration) -> Self {
        let (seconds, attoseconds) = duration.components
        let (product, isTooLong) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (length, isLonger) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        let (sum, isTooLate) = nanosecondsSinceEpoch.addingReportingOverflow(length)
        guard isTooLong || isLonger || isTooLate else { return .init(nanosecondsSinceEpoch: sum) }
        return .init(nanosecondsSinceEpoch: duration < .zero ? .min : .max)
    }
}

extension Int64 {
    /// The decimal digits, with zeros before them.
    package func padded(_ width: Int) -> String {
        String(repeating: "0", count: Swift.max(0, width - String(self).count)) + String(self)
    }
}

extension CivilDay {
    /// The number of days since 1970-01-01.
    package var daysSinceEpoch: Int64 { Self.days(year, month) + day - 1 }

    /// Takes a date; nil where the calendar has no such day.
    package init?(year: Int64, month: Int64, day: Int64) {
        guard (0...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        let start = Self.days(year, month)
        let next = month == 12 ? Self.days(year + 1, 1) : Self.days(year, month + 1)
        guard start + day - 1 < next else { return nil }
        self.init(daysSinceEpoch: start + day - 1)
    }

    /// Reads `2026-11-20`.
    package init?(_ text: some StringProtocol) {
        var reader = DigitReader(text.utf8)
        guard let day = reader.day(), reader.isAtEnd else { return nil }
        self = day
    }

    /// `2026-11-20`.
    package var text: String { "\(year.padded(4))-\(month.padded(2))-\(day.padded(2))" }

    /// The number of days from 1970-01-01 to the first of a month.
    private static func days(_ year: Int64, _ month: Int64) -> Int64 {
        let marchYear = month <= 2 ? year - 1 : year
        let era = marchYear.flooredQuotient(400)
        let yearOfEra = marchYear - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}

/// Reads numbers of so many digits, and the marks between them.
struct DigitReader {
    private var rest: [UInt8].SubSequence

    init(_ text: some Sequence<UInt8>) { rest = Array(text)[...] }

    /// Whether nothing is left.
    var isAtEnd: Bool { rest.isEmpty }

    /// Takes a mark, if it comes next.
    mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard rest.first == UInt8(ascii: mark) else { return false }
        rest.removeFirst()
        return true
    }

    /// Takes so many digits.
    mutating func number(_ digits: Int) -> Int64? {
        guard rest.count >= digits else { return nil }
        var value: Int64 = 0
        for byte in rest.prefix(digits) {
            guard (0x30...0x39).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - 0x30)
        }
        rest = rest.dropFirst(digits)
        return value
    }

    /// `2026-11-20`.
    mutating func day() -> CivilDay? {
        guard let year = number(4), take("-"), let month = number(2), take("-"), let day = number(2) else { return nil }
        return .init(year: year, month: month, day: day)
    }

    /// `21:00` or `21:00:00`, in seconds.
    mutating func timeOfDay() -> Int64? {
        guard let hour = number(2), take(":"), let minute = number(2), hour < 24, minute < 60 else { return nil }
        guard take(":") else { return hour * 3600 + minute * 60 }
        guard let second = number(2), second <= 60 else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    /// `.123456` in nanoseconds, 0 where there is none; nil for a point without digits.
    mutating func fraction() -> Int64? {
        guard take(".") else { return 0 }
        var (value, scale, count) = (Int64(0), Int64(100_000_000), 0)
        while let digit = number(1) {
            value += digit * scale
            scale /= 10
            count += 1
        }
        return count > 0 ? value : nil
    }

    /// `Z` or `+01:00`, in seconds east.
    mutating func offset() -> Int64? {
        if take("Z") || take("z") { return 0 }
        let sign: Int64 = take("+") ? 1 : take("-") ? -1 : 0
        guard sign != 0, let hours = number(2), take(":"), let minutes = number(2), hours < 24, minutes < 60 else {
            return nil
        }
        return sign * (hours * 3600 + minutes * 60)
    }
}
