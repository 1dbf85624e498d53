/// The date of a cookie's `Expires` attribute (RFC 6265bis, 5.1.1), which accepts far more than the dates of other fields.
package enum CookieDate {
    /// Returns a date's seconds since 1970-01-01 00:00:00 UTC; nil if it has no time, day, month or year, or if one of them
    /// is out of range.
    package static func seconds(_ text: String) -> Int64? {
        var reader = Reader()
        for token in text.utf8.split(whereSeparator: \.isDateDelimiter) { reader.read(token) }
        return reader.seconds
    }

    private struct Reader {
        private var time: (hour: Int, minute: Int, second: Int)?
        private var day: Int?
        private var month: Int?
        private var year: Int?

        /// Takes the first of these that the token is, and that was not found before: time, day, month, year.
        mutating func read(_ token: Substring.UTF8View) {
            if time == nil, let found = Self.time(token) {
                time = found
            } else if day == nil, let found = Self.number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = Self.month(token) {
                month = found
            } else if year == nil, let found = Self.number(token, digits: 2...4) {
                year = found < 70 ? found + 2_000 : found < 100 ? found + 1_900 : found
            }
        }

        var seconds: Int64? {
            guard let time, let day, let month, let year, year >= 1_601, time.hour < 24, time.minute < 60,
                time.second < 60, 1...HTTPDate.length(ofMonth: month, year) ~= day
            else { return nil }
            let second = time.hour * 3_600 + time.minute * 60 + time.second
            return Int64(HTTPDate.daysSince1970(year, month, day)) * 86_400 + Int64(second)
        }

        /// Returns three numbers of one or two digits with colons between them, after which no digit follows.
        private static func time(_ token: Substring.UTF8View) -> (Int, Int, Int)? {
            let parts = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
            guard parts.count == 3, parts[0].allSatisfy(\.isASCIIDigit), parts[1].allSatisfy(\.isASCIIDigit),
                let hour = number(parts[0], digits: 1...2), let minute = number(parts[1], digits: 1...2),
                let second = number(parts[2], digits: 1...2)
            else { return nil }
            return (hour, minute, second)
        }

        /// Returns the digits at a token's beginning as a number; nil if there are fewer or more of them than allowed.
        private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
            let found = token.prefix(while: \.isASCIIDigit)
            guard digits ~= found.count else { return nil }
            return found.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        }

        /// Returns the month whose first three letters the token begins with, in any case.
        private static func month(_ token: Substring.UTF8View) -> Int? {
            let name = token.prefix(3).map { $0 | 0x20 }
            guard token.prefix(3).allSatisfy(\.isASCIILetter) else { return nil }
            return months.firstIndex { Array($0.utf8) == name }.map { $0 + 1 }
        }

        private static let months = [
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ]
    }
}

extension UInt8 {
    /// Whether the byte separates the tokens of a date.
    fileprivate var isDateDelimiter: Bool {
        switch self {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}
