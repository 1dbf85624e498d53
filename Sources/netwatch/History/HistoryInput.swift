import Glibc
import NetwatchCore
import ReachabilityCore

/// The contents of a file of JSON Lines.
struct HistoryInput {
    /// The history of its records; nil if there is none.
    private(set) var history: History?
    /// How many lines there are.
    private(set) var lineCount = 0
    /// The lines that are no records.
    private(set) var noise = LineNumbers()
    /// Those that are damaged JSON, or JSON of another kind.
    private(set) var damaged = LineNumbers()
    private let bridge: Duration

    /// Reads all lines.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - bridge: A gap between two monitors that counts as a restart.
    init(_ bytes: [UInt8], bridge: Duration) {
        self.bridge = bridge
        let reader = HistoryLineReader()
        var start = 0
        while start < bytes.count {
            let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
            lineCount += 1
            take(bytes[start..<end], reader)
            start = end + 1
        }
    }

    private mutating func take(_ line: ArraySlice<UInt8>, _ reader: HistoryLineReader) {
        do throws(HistoryLineReader.Refusal) {
            let record = try reader.record(in: line, lineCount)
            if history == nil { history = .init(record, bridge: bridge) } else { history?.take(record) }
        } catch {
            // An empty line is not reported.
            guard !line.isEmpty else { return }
            switch error {
            case .noRecord: noise.add(lineCount)
            case .damaged: damaged.add(lineCount)
            }
        }
    }

    /// The remarks for the user, a line each.
    var remarks: [String] {
        var remarks: [String] = []
        if noise.count > 0 { remarks.append("skipped \(noise.words), which \(noise.absenceText)") }
        if damaged.count > 0 {
            remarks.append("skipped \(damaged.words), which \(damaged.verb) JSON of another kind, or damaged")
        }
        return remarks + (history?.irregularities ?? []).prefix(5).map(Self.remark)
    }

    private static func remark(_ irregularity: HistoryIrregularity) -> String {
        let place = "line \(irregularity.line): "
        switch irregularity.kind {
        case .clockWentBack(let length):
            return place + "the clock went back by \(DurationText.length(length)); it counts as at the time before"
        case .leap(let length):
            return place + "the clock leapt ahead by \(DurationText.length(length)); the time before it is unknown"
        case .lost(let count?): return place + "\(count) lines are missing before it; the time before it is unknown"
        case .lost(nil): return place + "lines are missing or out of order; the time before it is unknown"
        case .restart: return place + "a monitor began"
        case .beganBehind(let length):
            return place + "a monitor began with the clock \(DurationText.length(length)) behind; "
                + "until it was set, the time is unknown"
        case .suspended:
            return place + "the machine was suspended, and the line does not tell for how long; "
                + "the time before it is unknown"
        }
    }
}

/// The numbers of some lines, of which only the first few are named.
struct LineNumbers: Hashable {
    /// How many there are.
    private(set) var count = 0
    private var first: [Int] = []

    /// Adds the next line.
    mutating func add(_ number: Int) {
        count += 1
        if first.count < 3 { first.append(number) }
    }

    /// `line 7`, `2 lines (7, 9)`, `12 lines (7, 9, 10 …)`.
    var words: String {
        guard count > 1 else { return "line \(first.first ?? 0)" }
        return "\(count) lines (\(first.map(String.init).joined(separator: ", "))\(count > 3 ? " …" : ""))"
    }

    /// `is` or `are`.
    var verb: String { count > 1 ? "are" : "is" }

    /// `is no record`, `are no records`.
    var absenceText: String { count > 1 ? "are no records" : "is no record" }
}

/// Reads a line of `watch --json`.
struct HistoryLineReader {
    /// Why a line is no record.
    enum Refusal: Error {
        /// It is another line, such as a program's message in the journal.
        case noRecord
        /// It is JSON that is damaged, or of another kind.
        case damaged
    }

    /// The record in a line.
    ///
    /// - Parameters:
    ///   - line: The bytes, without the line feed.
    ///   - number: The number of the line, counted from 1.
    /// - Returns: The record.
    /// - Throws: Why there is none.
    func record(in line: ArraySlice<UInt8>, _ number: Int) throws(Refusal) -> HistoryRecord {
        guard line.first(where: { $0 != UInt8(ascii: " ") }) == UInt8(ascii: "{") else { throw .noRecord }
        guard let members = (try? JSONText(line))?.members, let record = Self.record(members, number) else {
            throw .damaged
        }
        return record
    }

    private static func record(_ members: [String: JSONText], _ number: Int) -> HistoryRecord? {
        guard members["v"]?.wholeNumber == 1, let sequence = members["seq"]?.wholeNumber,
            let time = members["time"]?.string.flatMap({ Timestamp(rfc3339: $0) }), time >= earliest,
            let event = members["event"]?.string,
            let status = members["status"]?.string.flatMap({ ReachabilityStatus(name: $0) }),
            let reasons = members["reasons"]?.elements?.map(\.string), !reasons.contains(nil)
        else { return nil }
        let suspended = members["suspended"].flatMap { $0.isNull ? nil : $0 }
        guard suspended == nil || suspended?.number != nil else { return nil }
        return .init(
            line: number,
            time: time,
            isFirst: event == ReachabilityChange.Event.state.rawValue,
            sequence: sequence,
            status: status,
            reasons: reasons.compactMap(\.self),
            suspension: event == ReachabilityChange.Event.suspend.rawValue ? suspension(suspended?.number) : nil,
            verdict: members["validation"].flatMap { try? ValidationSummary($0) }?.verdict
        )
    }

    private static func suspension(_ seconds: Double?) -> HistoryRecord.Suspension {
        // Longer times than a year are limited anyway.
        seconds.map { .lasted(.seconds(min(max($0, 0), 366 * 86_400))) } ?? .untold
    }

    /// No clock of this system shows an earlier one (clock_settime(2)).
    private static let earliest = Timestamp(seconds: 0, nanoseconds: 0)
}
