import NetwatchCore

/// A moment on the page: by UTC in the markup, by the browser's time zone where scripts run.
struct PageTime {
    private let time: Timestamp
    private let day: CivilDay

    init(nanosecondsSince1970: Int64) {
        time = .init(nanosecondsSinceEpoch: nanosecondsSince1970)
        day = .init(daysSinceEpoch: time.seconds.flooredQuotient(86_400))
    }

    /// `2026-11-23T04:05:09.123Z`.
    var text: String { "\(day.text)T\(clock).\(padded(milliseconds, 3))Z" }

    /// The time of day, with the date if that is not today's.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - isPrecise: Whether milliseconds are shown.
    /// - Returns: The markup.
    func markup(at now: PageTime, isPrecise: Bool = false) -> HTML {
        let date = day == now.day ? "" : String(day.text.dropFirst(5)) + " "
        let fraction: HTML? = isPrecise ? "<span class=\"ms\">.\(padded(milliseconds, 3))</span>" : nil
        return "<time datetime=\"\(text)\">\(date + clock)</time>\(fraction)"
    }

    private var milliseconds: Int64 { time.nanoseconds / 1_000_000 }

    private var clock: String {
        let second = time.seconds - time.seconds.flooredQuotient(86_400) * 86_400
        return [second / 3600, second / 60 % 60, second % 60].map { padded($0, 2) }.joined(separator: ":")
    }

    private func padded(_ number: Int64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
}
