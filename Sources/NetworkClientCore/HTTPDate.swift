/// A date of a header field in one of its three formats (RFC 9110, 5.6.7), with a resolution of one second.
///
/// The formats are `Sun, 06 Nov 1994 08:49:37 GMT` and the obsolete `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6
/// 08:49:37 1994`. The day of the week has to be valid, but need not match the date, since it is redundant.
package struct HTTPDate: Sendable, Hashable {
    /// Seconds since 1970-01-01 00:00:00 UTC.
    package let seconds: Int64
    /// The year in the Gregorian calendar.
    package let year: Int

    /// Parses a date; nil if it is invalid.
    ///
    /// - Parameters:
    ///   - text: The date.
    ///   - currentYear: The reference for a two-digit year, which is at most 50 years later.
    package init?(_ text: some StringProtocol, currentYear: Int = 2020) {
        guard text.utf8.count <= 64 else { return nil }
        let words = text.split { " ,-\t".contains($0) }
        guard let first = words.first, Self.weekdays.contains(where: { $0 == first || $0.prefix(3) == first }) else {
            return nil
        }
        switch words.count {
        case 6 where words[5] == "GMT":
            self.init(day: words[1], month: words[2], year: words[3], time: words[4], currentYear)
        case 5 where words[4].utf8.count == 4:
            self.init(day: words[2], month: words[1], year: words[4], time: words[3], currentYear)
        default: return nil
        }
    }

    private init?(
        day: some StringProtocol,
        month: some StringProtocol,
        year: some StringProtocol,
        time: some StringProtocol,
        _ currentYear: Int
    ) {
        guard let month = Self.months.firstIndex(where: { $0 == month }).map({ $0 + 1 }),
            let year = Self.year(year, currentYear),
            let day = Self.number(day, digits: 1...2), 1...Self.length(ofMonth: month, year) ~= day,
            let time = Self.secondOfDay(time)
        else { return nil }
        self.year = year
        seconds = Int64(Self.daysSince1970(year, month, day)) * 86_400 + Int64(time)
    }
}

extension HTTPDate {
    private static let weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns a number that consists only of digits, and of an allowed number of them; otherwise nil.
    private static func number(_ text: some StringProtocol, digits: ClosedRange<Int>) -> Int? {
        guard digits ~= text.utf8.count, text.utf8.allSatisfy({ 48...57 ~= $0 }) else { return nil }
        return Int(text)
    }

    /// Returns a year of four digits, or of two: then the last such year that is at most 50 years after the current
    /// one, or nil if that is before the year 0.
    private static func year(_ text: some StringProtocol, _ currentYear: Int) -> Int? {
        if text.utf8.count == 4 { return number(text, digits: 4...4) }
        guard let short = number(text, digits: 2...2) else { return nil }
        let latest = currentYear + 50
        return latest < short ? nil : latest - (latest - short) % 100
    }

    /// Returns the seconds since midnight of a time such as `08:49:37`; a leap second has the number 60.
    private static func secondOfDay(_ text: some StringProtocol) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).compactMap {
            number($0, digits: 2...2)
        }
        guard parts.count == 3, parts[0] < 24, parts[1] < 60, parts[2] <= 60 else { return nil }
        return parts[0] * 3_600 + parts[1] * 60 + parts[2]
    }

    static func length(ofMonth month: Int, _ year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 2 ? (isLeap ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
    }

    /// Counts in years that start in March, so that the leap day is the last day.
    static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
        // 400 years, which have 146,097 days, are added, so that the year before 0 divides as the others do.
        let year = (month > 2 ? year : year - 1) + 400
        let leapDays = year / 4 - year / 100 + year / 400
        let daysBeforeMonth = (153 * ((month + 9) % 12) + 2) / 5
        // 719,469 is 1 January 1970 in the count without the 400 years.
        return 365 * year + leapDays + daysBeforeMonth + day - 719_469 - 146_097
    }
}
