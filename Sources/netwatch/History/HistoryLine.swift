import FoundationEssentials
import NetwatchCore
import ReachabilityCore

/// Reads a line of `watch --json`.
struct HistoryLineReader {
    private let decoder = JSONDecoder()

    /// Why a line is no record.
    enum Refusal: Error {
        /// It is something else, such as a program's own words in the journal.
        case noRecord
        /// It is JSON that is damaged, or of another kind.
        case damaged
    }

    /// The record in a line.
    ///
    /// - Parameters:
    ///   - line: The bytes, without the line feed.
    ///   - number: Where it stands, counted from 1.
    /// - Returns: The record.
    /// - Throws: Why there is none.
    func record(in line: ArraySlice<UInt8>, _ number: Int) throws(Refusal) -> HistoryRecord {
        guard line.first(where: { $0 != UInt8(ascii: " ") }) == UInt8(ascii: "{") else { throw .noRecord }
        guard let parsed = try? decoder.decode(Line.self, from: Data(line)), parsed.v == 1,
            let time = Timestamp(rfc3339: parsed.time), time >= Self.earliest,
            let status = ReachabilityStatus(name: parsed.status)
        else { throw .damaged }
        return .init(
            line: number,
            time: time,
            isFirst: parsed.event == StateChange.Event.state.rawValue,
            sequence: parsed.seq,
            status: status,
            reasons: parsed.reasons,
            suspension: parsed.suspension
        )
    }

    /// No clock of this system shows an earlier one (clock_settime(2)).
    private static let earliest = Timestamp(seconds: 0, nanoseconds: 0)

    private struct Line: Decodable {
        var v: Int
        var seq: UInt64
        var time: String
        var event: String
        var status: String
        var reasons: [String]
        var suspended: Double?

        var suspension: HistoryRecord.Suspension? {
            guard event == StateChange.Event.suspend.rawValue else { return nil }
            // A year is more than is believed anyway.
            return suspended.map { .lasted(.seconds(min(max($0, 0), 366 * 86_400))) } ?? .untold
        }
    }
}
