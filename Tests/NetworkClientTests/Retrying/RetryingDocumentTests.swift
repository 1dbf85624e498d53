import FoundationEssentials
import NetworkClientCore
import NetworkLab
import RequestGate
import Testing

@testable import NetworkClient

/// Holds docs/retrying.md against the code.
struct RetryingDocumentTests {
    /// A row of the first table.
    private struct Row {
        let processing: Processing
        let kinds: [AttemptFailure.Kind]
        /// What becomes of a request that may be repeated, of another one, and of one whose body can be read once.
        let fates: [String]

        init?(_ cells: [String]) {
            guard cells.count == 5, let processing = Processing(rawValue: cells[0].filter { $0 != "`" }) else {
                return nil
            }
            self.processing = processing
            let words = cells[1].split { " ,".contains($0) }.map(String.init)
            kinds = words.compactMap { RetryingDocumentTests.kinds[$0] ?? Int($0).map { .status($0) } }
            fates = Array(cells.dropFirst(2))
        }
    }

    private static let kinds: [String: AttemptFailure.Kind] = [
        "transient": .transient, "timeout": .timeout, "refused": .refused, "pathLost": .pathLost,
        "permanent": .permanent,
    ]

    private static func rows() throws -> [[String]] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = String(decoding: try Data(contentsOf: root.appending(path: "docs/retrying.md")), as: UTF8.self)
        return text.split(separator: "\n").filter { $0.hasPrefix("|") }.map {
            $0.split(separator: "|").map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
        }
    }

    private static func fate(
        _ kind: AttemptFailure.Kind,
        _ processing: Processing,
        isIdempotent: Bool,
        isReplayable: Bool
    ) -> String {
        var generator = SeededGenerator(seed: 1)
        let traits = RequestTraits(isIdempotent: isIdempotent, isReplayable: isReplayable)
        let failure = AttemptFailure(kind, processing)
        return switch RetryPolicy.standard.decide(failure, traits, attempts: 1, using: &generator) {
        case .retry: "again"
        case .waitForPath: "waits"
        case .giveUp: "fails"
        }
    }

    @Test func `what goes again is what the table says`() throws {
        let rows = try Self.rows().compactMap(Row.init)
        for row in rows {
            for kind in row.kinds {
                let fates = [(true, true), (false, true), (true, false)].map {
                    Self.fate(kind, row.processing, isIdempotent: $0, isReplayable: $1)
                }
                #expect(fates == row.fates, "\(kind), \(row.processing)")
            }
        }
        let known = Set(rows.flatMap { row in row.kinds.map { [row.processing.rawValue, "\($0)"] } })
        for processing in Processing.allCases {
            for kind in ["transient", "timeout", "refused", "pathLost"] {
                #expect(known.contains([processing.rawValue, kind]))
            }
        }
        let statuses = RetryPolicy.standard.retryableStatuses.union(RetryPolicy.standard.statusesOfUnprocessed)
        for status in statuses { #expect(rows.contains { $0.kinds.contains(.status(status)) }, "\(status)") }
    }

    @Test func `each error is of the class that the table says`() throws {
        var classes: [String: AttemptFailure.Kind] = [:]
        for cells in try Self.rows() where cells.count == 2 {
            guard let kind = Self.kinds[cells[0]] else { continue }
            for code in cells[1].split(separator: ", ") { classes[code.filter { $0 != "`" }] = kind }
        }
        for code in HTTPError.Code.allCases { #expect(classes[code.rawValue] == code.failureKind, "\(code)") }
        #expect(classes.count == HTTPError.Code.allCases.count)
    }

    @Test func `the numbers are those of the standard policy`() throws {
        let numbers = try Self.rows().filter { $0.count == 2 }
        let policy = RetryPolicy.standard
        for (name, value) in [
            ("attempts, the first included", "\(policy.maximumAttempts)"),
            ("upper bound of the first delay", "\(Double(policy.baseDelay.clampedNanoseconds) / 1e9) s"),
            ("bound that none exceeds", "\(policy.maximumDelay.components.seconds) s"),
        ] { #expect(numbers.contains([name, value]), "\(name)") }
    }
}
