import CommandLineSupport
import NetwatchCore
import Outbox

/// The lanes as a table for a terminal.
enum LaneTable {
    /// Returns the lines, each lane's state in the last column; none without lanes.
    static func lines(_ lanes: [LaneSummary]) -> [String] {
        if lanes.isEmpty { return [] }
        let rows = [["LANE", "ITEMS", "SIZE", "OLDEST", "SENT/MIN", "STATE"]] + lanes.map(row)
        let widths = rows[0].indices.dropLast().map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = zip(row, widths).enumerated().map { column, cell in
                let gap = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + gap : gap + cell.0
            }
            return (cells + [row[row.count - 1]]).joined(separator: "  ")
        }
    }

    private static func row(_ summary: LaneSummary) -> [String] {
        [
            summary.lane.name.escapedForTerminal, "\(summary.items)", QuantityText.bytes(Int(summary.bytes)),
            summary.age.map(DurationText.age) ?? "-", "\(summary.deliveredLastMinute)", summary.state,
        ]
    }
}

extension LaneSummary {
    /// The state in words, with the reason for a pause and its end.
    var state: String {
        if lane.isPaused { return "paused by command" }
        if let pauseLeft {
            let end = pauseLeft > .zero ? "paused for \(DurationText.length(pauseLeft))" : "probing"
            return "\(end): \(lane.reason.escapedForTerminal)"
        }
        return items == 0 ? "empty" : held == items ? "held" : "ready"
    }

    /// The lane as a line for people and scripts.
    var line: String {
        let words = lane.isPaused || pauseLeft != nil ? ", \(state)" : ""
        let name = "\(lane.name.escapedForTerminal) to \(lane.destination.escapedForTerminal)"
        return "\(name): \(items) \(items == 1 ? "item" : "items"), \(bytes) B\(words)"
    }

    /// The lane as JSON.
    var jsonLine: String {
        JSONLine.object([
            ("lane", .text(lane.name)), ("destination", .text(lane.destination)), ("items", .number(Int64(items))),
            ("held", .number(Int64(held))), ("bytes", .number(bytes)),
            ("oldestSeconds", age.map { .number($0.components.seconds) } ?? .null),
            ("deliveredLastMinute", .number(Int64(deliveredLastMinute))), ("isPaused", .flag(lane.isPaused)),
            ("failures", .number(Int64(lane.pause?.failures ?? 0))), ("reason", .text(lane.reason)),
            ("pauseSeconds", pauseLeft.map { .number($0.components.seconds) } ?? .null),
        ])
    }
}

extension OutboxItem {
    /// The item in full, a property in a line.
    var text: String {
        let own = userInfo.sorted { $0.key < $1.key }.map { ("user info \($0.key)", $0.value) }
        let rows: [(String, String?)] =
            [
                ("item", "\(id)"), ("lane", lane), ("state", "\(state)"), ("request", "\(method) \(reference)"),
                ("key", key), ("size", QuantityText.bytes(Int(size))),
                ("added", TimeWords.local(added)), ("not before", notBefore.map { TimeWords.local($0) }),
                ("attempts", attempts == 0 ? nil : "\(attempts)"),
                ("last failure", failure),
            ] + own.map { ($0.0, $0.1) }
        return TextRows.text(rows)
    }
}

extension OutboxOutcome {
    /// The outcome in full, a property in a line.
    var text: String {
        let own = userInfo.sorted { $0.key < $1.key }.map { ("user info \($0.key)", $0.value) }
        let rows: [(String, String?)] =
            [
                ("item", "\(id)"), ("lane", lane), ("outcome", "\(end)"), ("request", "\(method) \(reference)"),
                ("key", key), ("status", response.map { "\($0.status)" }), ("reason", reason.isEmpty ? nil : reason),
                ("ended", TimeWords.local(ended)),
            ] + own.map { ($0.0, $0.1) }
        return TextRows.text(rows)
    }
}

extension OutboxStatistics {
    /// The numbers as JSON.
    var jsonLine: String {
        let ends = ended.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            ("\($0.key)", JSONLine.Value.number(Int64($0.value)))
        }
        return JSONLine.object(
            [("items", .number(Int64(items))), ("bytes", .number(bytes)), ("outcomes", .number(Int64(outcomes)))] + ends
        )
    }
}

/// Properties with their values, one in a line.
private enum TextRows {
    static func text(_ rows: [(String, String?)]) -> String {
        rows.compactMap { name, value in value.map { "\(name.escapedForTerminal): \($0.escapedForTerminal)" } }
            .joined(separator: "\n")
    }
}

/// A moment as words.
enum TimeWords {
    /// RFC 3339, in local time.
    static func local(_ seconds: Double) -> String {
        var text = TimestampText.local
        return text.text(.init(seconds: Int64(seconds), nanoseconds: 0))
    }
}
