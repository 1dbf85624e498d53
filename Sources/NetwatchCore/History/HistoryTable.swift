package import ReachabilityCore

/// A history as a table: a line for each day of which something is known, the whole, and the outages.
package struct HistoryTable: Sendable {
    private let history: History
    private let window: Range<Instant>
    private let days: LocalDays
    private let clock: @Sendable (Timestamp) -> String

    /// Creates a table.
    ///
    /// - Parameters:
    ///   - history: The history.
    ///   - window: Of which time.
    ///   - days: The place's days.
    ///   - clock: Writes moments.
    package init(
        _ history: History,
        in window: Range<Instant>,
        days: LocalDays,
        clock: @escaping @Sendable (Timestamp) -> String
    ) {
        self.history = history
        self.window = window
        self.days = days
        self.clock = clock
    }

    /// The lines.
    package var lines: [String] { dayLines + [""] + outageLines + limitationLines }

    private var dayLines: [String] {
        let head = ["day", "available", "outages", "longest", "away", "unknown"]
        let rows = history.knownDays(days, in: window).map { row($0.day.date.text, $0.availability) }
        return Self.aligned([head] + rows + [row("whole", history.timeline.availability(in: window))], leading: 1)
    }

    private var outageLines: [String] {
        let outages = history.outages(in: window)
        guard !outages.isEmpty else { return ["no outage"] }
        let rows = outages.map { outage -> [String] in
            let end = outage.end.map { clock(.init(nanosecondsSinceEpoch: $0.nanoseconds)) } ?? "-"
            return [
                clock(.init(nanosecondsSinceEpoch: outage.start.nanoseconds)), end,
                outage.length(in: history, until: window.upperBound),
                outage.reasons.joined(separator: ", ").escapedForTerminal,
            ]
        }
        return Self.aligned([["outage from", "until", "length", "reason"]] + rows, leading: 4)
    }

    /// The times with a path that did not lead to the internet, after an empty line; nothing if there were none.
    private var limitationLines: [String] {
        let rows = history.limitations(in: window).map { limitation -> [String] in
            let length = limitation.start.duration(to: limitation.end ?? max(limitation.start, window.upperBound))
            return [
                clock(.init(nanosecondsSinceEpoch: limitation.start.nanoseconds)),
                limitation.end.map { clock(.init(nanosecondsSinceEpoch: $0.nanoseconds)) } ?? "-",
                DurationText.length(length) + (limitation.end == nil ? " so far" : ""),
                limitation.verdict.words.escapedForTerminal,
            ]
        }
        return rows.isEmpty
            ? [] : [""] + Self.aligned([["limited from", "until", "length", "verdict"]] + rows, leading: 4)
    }

    private func row(_ name: String, _ sum: Availability) -> [String] {
        [
            name, HistoryText.share(sum.share), String(sum.outages), HistoryText.length(sum.longest),
            HistoryText.length(sum.down), HistoryText.length(sum.unknown),
        ]
    }

    /// Columns of one width each; the first few are aligned to the left, the others to the right.
    private static func aligned(_ rows: [[String]], leading: Int) -> [String] {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            let cells = row.indices.map { column in
                let padding = String(repeating: " ", count: widths[column] - row[column].count)
                return column < leading ? row[column] + padding : padding + row[column]
            }
            let line = cells.joined(separator: "  ")
            return String(line.reversed().drop { $0 == " " }.reversed())
        }
    }
}

/// Words that tables and pictures share.
package enum HistoryText {
    /// `99.93 %`; `-` where nothing is known.
    package static func share(_ share: Int?) -> String {
        guard let share else { return "-" }
        let hundredths = share % 100
        return "\(share / 100).\(hundredths < 10 ? "0" : "")\(hundredths) %"
    }

    /// `3 min 20 s`; `-` for none.
    static func length(_ length: Duration) -> String { length > .zero ? DurationText.length(length) : "-" }
}

extension Outage {
    /// For how long it is known to have lasted, and how much of it is unknown: `30 min`, `10 min so far`,
    /// `0 ms and 2 h unknown`.
    ///
    /// - Parameters:
    ///   - history: What it is of.
    ///   - end: The moment up to which it counts if its end is unknown.
    /// - Returns: The words.
    func length(in history: History, until end: Instant) -> String {
        let sum = history.timeline.availability(in: start..<(self.end ?? max(start, end)))
        let known = DurationText.length(sum.down) + (self.end == nil ? " so far" : "")
        return sum.unknown > .zero ? "\(known) and \(DurationText.length(sum.unknown)) unknown" : known
    }
}

extension History {
    /// The part of a time of which there are records.
    ///
    /// - Parameters:
    ///   - since: When it begins; nil for the first record.
    ///   - until: When it ends; nil for the last record, else its state lasted until then, but not beyond now.
    ///   - now: The present moment.
    /// - Returns: The part; nil if there is none.
    package mutating func window(since: Timestamp?, until: Timestamp?, now: Timestamp) -> Range<Instant>? {
        if let until { extend(to: min(until, now)) }
        let start = max(since.map { Instant($0) } ?? timeline.start, timeline.start)
        let end = min(until.map { Instant($0) } ?? timeline.end, timeline.end)
        return start <= end ? start..<end : nil
    }

    /// The days of a window of which something is known, each with how available it was in it.
    ///
    /// An outage that begins at midnight belongs to the new day, and only at the window's end of the day before.
    package func knownDays(
        _ days: LocalDays,
        in window: Range<Instant>
    ) -> [(day: LocalDay, availability: Availability)] {
        days.days(in: window).compactMap { day in
            let part = day.span.clamped(to: window)
            var sum = Availability()
            for span in timeline.spans(in: part)
            where span.start < part.upperBound || part.upperBound == window.upperBound {
                sum.add(span.status, from: span.start, to: span.end)
            }
            return sum.up > .zero || sum.down > .zero || sum.outages > 0 ? (day, sum) : nil
        }
    }

    /// The outages that have a part in a window, also those that begin with its end, as ``timeline`` counts them.
    package func outages(in window: Range<Instant>) -> [Outage] {
        outages.filter { outage in
            outage.start <= window.upperBound
                && (outage.start >= window.lowerBound || outage.end.map { $0 > window.lowerBound } ?? true)
        }
    }

    /// The times with a path that did not lead to the internet that have a part in a window.
    package func limitations(in window: Range<Instant>) -> [Limitation] {
        limitations.filter { limitation in
            limitation.start <= window.upperBound && limitation.end.map { $0 > window.lowerBound } ?? true
        }
    }
}
