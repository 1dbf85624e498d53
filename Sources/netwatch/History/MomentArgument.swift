import CommandLineSupport
import NetwatchCore

/// A moment that a user names.
enum MomentArgument: Hashable {
    /// The present one.
    case now
    /// So long before that.
    case ago(Duration)
    /// The beginning of a day.
    case day(CivilDay)
    /// One that is written in full.
    case moment(Timestamp)

    /// Reads a moment.
    ///
    /// - Throws: ``ArgumentError`` that says how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> Self {
        if text == "now" { return .now }
        if let day = CivilDay(text) { return .day(day) }
        if let time = Timestamp(rfc3339: text) { return .moment(time) }
        if text.last == "d", let days = Int64(text.dropLast()), (0...365).contains(days) {
            return .ago(.seconds(days * 86_400))
        }
        if text.first?.isASCIIDigit == true, !text.contains("-"), let duration = try? DurationArgument.parse(text) {
            return .ago(duration)
        }
        throw .init(
            "write a day as 2026-11-20, a moment as 2026-11-20T21:00:00+01:00, how long ago as 12h or 7d, or now"
        )
    }

    /// The moment.
    func moment(now: Timestamp, days: LocalDays) -> Timestamp {
        switch self {
        case .now: now
        case .moment(let time): time
        case .day(let day): days.midnight(of: day)
        case .ago(let duration):
            .init(nanosecondsSinceEpoch: now.nanosecondsSinceEpoch - duration.components.seconds * 1_000_000_000)
        }
    }
}
