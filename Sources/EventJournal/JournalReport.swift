import DurableStore
import EventCore
import NetwatchCore
import ReachabilityCore
import ValidationCore

/// The availability in a period, from the events of a journal.
struct JournalReport {
    private let place: EventJournal.Place

    /// Returns the report as an object of JSON, with a line feed.
    static func line(
        _ database: Database,
        since age: Duration,
        at now: EventMetrics.Moment,
        in run: UInt64,
        _ place: EventJournal.Place
    ) throws -> [UInt8] {
        try JournalReport(place: place).line(database, since: age, at: now, in: run)
    }

    private func line(
        _ database: Database,
        since age: Duration,
        at now: EventMetrics.Moment,
        in run: UInt64
    ) throws -> [UInt8] {
        let end = Timestamp(nanosecondsSinceEpoch: now.since1970)
        let (seconds, _) = age.components
        let start = Timestamp(nanosecondsSinceEpoch: now.since1970 &- seconds * 1_000_000_000)
        guard var history = try database.history(since: age, at: now, in: run),
            let window = history.window(since: start, until: end, now: end)
        else { return Array(object(start, end, sum: .init(), days: [], outages: [], limitations: []).utf8) }
        let sums = history.knownDays(place.days, in: window).map { day in
            #"{"day":"\#(day.day.date.text)",\#(Self.members(of: day.availability))}"#
        }
        let outages = history.outages(in: window).map(text)
        let sum = history.timeline.availability(in: window)
        let limitations = history.limitations(in: window).map(text)
        return Array(object(start, end, sum: sum, days: sums, outages: outages, limitations: limitations).utf8)
    }

    private func object(
        _ start: Timestamp,
        _ end: Timestamp,
        sum: Availability,
        days: [String],
        outages: [String],
        limitations: [String]
    ) -> String {
        let head = #"{"v":1,"since":"\#(text(start))","until":"\#(text(end))",\#(Self.members(of: sum))"#
        let lists = #""days":[\#(days.joined(separator: ","))],"list":[\#(outages.joined(separator: ","))]"#
        let limited = limitations.isEmpty ? "" : #","limitations":[\#(limitations.joined(separator: ","))]"#
        return "\(head),\(lists)\(limited)}\n"
    }

    private static func members(of sum: Availability) -> String {
        let share = sum.share.map { share in
            share == 10_000 ? "1" : "0." + String(String(10_000 + share).dropFirst())
        }
        let times = [
            ("reachable", sum.up), ("unreachable", sum.down), ("unknown", sum.unknown), ("longest", sum.longest),
        ]
        let members = times.map { #""\#($0.0)":\#(seconds($0.1))"# }.joined(separator: ",")
        return #""available":\#(share ?? "null"),"outages":\#(sum.outages),\#(members)"#
    }

    private func text(_ outage: Outage) -> String {
        let reasons = outage.reasons.map { "\"\($0.escapedForJSONAndTerminal)\"" }.joined(separator: ",")
        let end = outage.end.map { "\"\(text(.init(nanosecondsSinceEpoch: $0.nanoseconds)))\"" } ?? "null"
        let start = text(Timestamp(nanosecondsSinceEpoch: outage.start.nanoseconds))
        return #"{"from":"\#(start)","until":\#(end),"reasons":[\#(reasons)]}"#
    }

    private func text(_ limitation: Limitation) -> String {
        let end = limitation.end.map { "\"\(text(.init(nanosecondsSinceEpoch: $0.nanoseconds)))\"" } ?? "null"
        let start = text(Timestamp(nanosecondsSinceEpoch: limitation.start.nanoseconds))
        let verdict = limitation.verdict
        let quoted = { (text: String?) in text.map { "\"\($0.escapedForJSONAndTerminal)\"" } ?? "null" }
        return #"{"from":"\#(start)","until":\#(end),"verdict":"\#(verdict.name)","#
            + #""reason":\#(quoted(verdict.reason?.name)),"loginURL":\#(quoted(verdict.portal?.loginURL))}"#
    }

    private func text(_ time: Timestamp) -> String { place.clock(time) }

    /// Seconds to three decimal places.
    private static func seconds(_ duration: Duration) -> String {
        let (seconds, attoseconds) = max(duration, .zero).components
        return "\(seconds)." + String(String(1_000 + attoseconds / 1_000_000_000_000_000).dropFirst())
    }
}

extension Database {
    /// Returns the history of a period, on the present wall clock: an earlier setting of it changes nothing.
    fileprivate func history(
        since age: Duration,
        at now: EventMetrics.Moment,
        in run: UInt64
    ) throws -> History? {
        guard let first = try start(since: age, at: now, in: run), let times = try times(of: run) else { return nil }
        let sql = """
            SELECT event.run, sequence, at, kind, status, reasons, suspended, alive,
                CASE WHEN instr(line, CAST('"validation":{' AS BLOB)) > 0 THEN line END
            FROM event JOIN run ON run.ordinal = event.run
            WHERE (event.run, sequence) > ((SELECT ordinal FROM run WHERE id = ?), ?) ORDER BY event.run, sequence
            """
        var reader = HistoryReader(offset: now.since1970 &- times.time(at: now))
        _ = try query(sql, .integer(Int64(bitPattern: first.run)), .init(first.sequence)) { reader.take($0) }
        return reader.history
    }
}

/// Makes a history of the rows of a journal.
private struct HistoryReader {
    /// The offset from the journal's time to the wall clock.
    let offset: Int64
    private(set) var history: History?
    private var run: Int64?
    /// Until when the run of the last row is known to have run.
    private var alive: Int64 = 0
    private var count = 0

    init(offset: Int64) { self.offset = offset }

    mutating func take(_ row: borrowing Row) {
        count += 1
        let isFirst = row.integer(0) != run
        // The state lasted until the end of the run, not only until its last event.
        let end = time(alive)
        if isFirst, run != nil { history?.extend(to: end) }
        (run, alive) = (row.integer(0), row.integer(7))
        let record = HistoryRecord(
            line: count,
            time: time(row.integer(2)),
            isFirst: isFirst,
            sequence: UInt64(bitPattern: row.integer(1)),
            status: .init(rawValue: Int8(clamping: row.integer(4))) ?? .unknown,
            reasons: (row.text(5) ?? "").split(separator: " ").map(String.init),
            suspension: suspension(row),
            verdict: row.blob(8).flatMap(Self.verdict)
        )
        if history == nil { history = .init(record, bridge: .seconds(60)) } else { history?.take(record) }
    }

    private static func verdict(_ line: [UInt8]) -> ValidationVerdict? {
        let member = (try? JSONText(line[...]))?.members?["validation"]
        return member.flatMap { try? ValidationSummary($0) }?.verdict
    }

    private func suspension(_ row: borrowing Row) -> HistoryRecord.Suspension? {
        guard row.text(3) == ReachabilityChange.Event.suspend.rawValue else { return nil }
        return row.optionalInteger(6).map { .lasted(.nanoseconds($0)) } ?? .untold
    }

    private func time(_ journalTime: Int64) -> Timestamp { .init(nanosecondsSinceEpoch: journalTime &+ offset) }
}
