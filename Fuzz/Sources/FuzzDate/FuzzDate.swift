import FuzzSupport
import NetworkClientCore
import RequestGate

/// Any text as a date and as `Retry-After`: a date that was read means the same in each of its three forms, and no wait is
/// negative or too long to be counted.
@main
enum FuzzDate {
    static func main() {
        Fuzzer.run { start, count in
            FuzzDate.run(Array(UnsafeRawBufferPointer(start: start, count: count)))
            return 0
        }
    }

    /// The first line is the field, the rest the response's `Date`.
    private static func run(_ input: [UInt8]) {
        let (field, rest) = InputText.firstLineAndRest(input)
        let sentText = String(decoding: rest, as: UTF8.self)
        let sent = HTTPDate(sentText)
        if let date = HTTPDate(field, currentYear: sent?.year ?? 2020) { check(date, field, sent?.year ?? 2020) }
        guard let wait = RetryAfter.duration(field, date: sentText) else { return }
        Fuzzer.expect(.zero...Duration.seconds(Int64.max / 1_000_000_000) ~= wait, "'\(field)' waits for \(wait)")
        Fuzzer.expect(wait.components.attoseconds == 0, "'\(field)' waits for \(wait)")
        guard RetryAfter.duration(field, date: nil) == nil, let sent else { return }
        let until = Date(seconds: sent.seconds + wait.components.seconds)
        guard wait > .zero, until.year <= 9_999 else { return }
        let again = RetryAfter.duration(until.fixed, date: Date(seconds: sent.seconds).fixed)
        Fuzzer.expect(again == wait, "'\(until.fixed)' waits for \(again as Any), not \(wait)")
    }

    private static func check(_ date: HTTPDate, _ text: String, _ currentYear: Int) {
        // A year of two digits may be up to 50 years later.
        Fuzzer.expect(0...max(9_999, currentYear + 50) ~= date.year, "'\(text)' is of the year \(date.year)")
        let year = String(date.year)
        if !text.contains(String(repeating: "0", count: max(0, 4 - year.count)) + year) {
            let distance = date.year - currentYear
            Fuzzer.expect(-50 < distance && distance <= 50, "'\(text)', read in \(currentYear), is of \(date.year)")
        }
        let calendar = Date(seconds: date.seconds)
        // A leap second is the first of the next year.
        let isSameYear = calendar.year == date.year || Date(seconds: date.seconds - 1).year == date.year
        Fuzzer.expect(isSameYear, "'\(text)' is of \(date.year), its seconds of \(calendar.year)")
        guard calendar.year <= 9_999 else { return }
        for form in [calendar.fixed, calendar.obsolete, calendar.asctime] {
            let again = HTTPDate(form, currentYear: calendar.year)
            Fuzzer.expect(again?.seconds == date.seconds, "'\(text)' written as '\(form)' is another date")
        }
    }
}

/// A date of the calendar, counted day by day's rules and not by those of the code under test.
private struct Date {
    let year: Int
    private let month: Int
    private let day: Int
    private let weekday: Int
    private let second: Int

    private static let weekdays = ["Thursday", "Friday", "Saturday", "Sunday", "Monday", "Tuesday", "Wednesday"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    init(seconds: Int64) {
        // 400 years have 146,097 days; from 1970 on, 5 times as many lead to where no day is negative.
        var days = Int(seconds) / 86_400 - (Int(seconds) % 86_400 < 0 ? 1 : 0)
        second = Int(seconds) - days * 86_400
        days += 5 * 146_097
        weekday = days % 7
        var (year, month) = (1970 - 2_000 + days / 146_097 * 400, 0)
        days %= 146_097
        while days >= Self.length(ofYear: year) {
            days -= Self.length(ofYear: year)
            year += 1
        }
        while days >= Self.length(ofMonth: month, year) {
            days -= Self.length(ofMonth: month, year)
            month += 1
        }
        (self.year, self.month, day) = (year, month, days + 1)
    }

    private static func isLeap(_ year: Int) -> Bool { year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) }

    private static func length(ofYear year: Int) -> Int { isLeap(year) ? 366 : 365 }

    private static func length(ofMonth month: Int, _ year: Int) -> Int {
        month == 1 && isLeap(year) ? 29 : [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`.
    var fixed: String {
        "\(name.prefix(3)), \(padded(day, 2)) \(Self.months[month]) \(padded(year, 4)) \(time) GMT"
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`.
    var obsolete: String { "\(name), \(padded(day, 2))-\(Self.months[month])-\(padded(year % 100, 2)) \(time) GMT" }

    /// `Sun Nov  6 08:49:37 1994`.
    var asctime: String {
        "\(name.prefix(3)) \(Self.months[month]) \(day < 10 ? " " : "")\(day) \(time) \(padded(year, 4))"
    }

    private var name: String { Self.weekdays[weekday] }

    private var time: String { "\(padded(second / 3_600, 2)):\(padded(second / 60 % 60, 2)):\(padded(second % 60, 2))" }

    private func padded(_ number: Int, _ count: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
