import FoundationEssentials
import NetworkClientCore
import NetworkLab
import RequestGate
import Testing

@testable import NetworkClient

/// Compares docs/retry-policy.md with the code.
struct RetryPolicyPageTests {
    /// A row of the first table.
    private struct Row {
        let processing: Processing
        let kinds: [AttemptFailure.Kind]
        /// The results for a repeatable request, for another one, and for one with a one-time body.
        let results: [String]

        init?(_ cells: [String]) {
            guard cells.count == 5, let processing = Processing(rawValue: cells[0].filter { $0 != "`" }) else {
                return nil
            }
            self.processing = processing
            let words = cells[1].split { " ,".contains($0) }.map(String.init)
            kinds = words.compactMap { RetryPolicyPageTests.kinds[$0] ?? Int($0).map { .status($0) } }
            results = Array(cells.dropFirst(2))
        }
    }

    private static let kinds: [String: AttemptFailure.Kind] = [
        "transient": .transient, "timeout": .timeout, "refused": .refused, "pathLost": .pathLost,
        "permanent": .permanent,
    ]

    private static func rows() throws -> [[String]] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = String(decoding: try Data(contentsOf: root.appending(path: "docs/retry-policy.md")), as: UTF8.self)
        return text.split(separator: "\n").filter { $0.hasPrefix("|") }.map {
            $0.split(separator: "|").map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
        }
    }

    private static func result(
        _ kind: AttemptFailure.Kind,
        _ processing: Processing,
        isIdempotent: Bool,
        isReplayable: Bool
    ) -> String {
        var generator = SeededGenerator(seed: 1)
        let traits = RequestTraits(isIdempotent: isIdempotent, isReplayable: isReplayable)
        let failure = AttemptFailure(kind, processing)
        return switch RetryPolicy.standard.decide(failure, traits, attempts: 1, using: &generator) {
        case .retry: "retries"
        case .waitForPath: "waits"
        case .giveUp: "fails"
        }
    }

    @Test func `each failure is retried, waits or fails as documented`() throws {
        let rows = try Self.rows().compactMap(Row.init)
        for row in rows {
            for kind in row.kinds {
                let results = [(true, true), (false, true), (true, false)].map {
                    Self.result(kind, row.processing, isIdempotent: $0, isReplayable: $1)
                }
                #expect(results == row.results, "\(kind), \(row.processing)")
            }
        }
        let known = Set(rows.flatMap { row in row.kinds.map { [row.processing.rawValue, "\($0)"] } })
        for processing in Processing.allCases {
            for kind in ["transient", "timeout", "refused", "pathLost"] {
                #expect(known.contains([processing.rawValue, kind]))
            }
        }
        let statuses = RetryPolicy.standard.retryableStatuses.union(RetryPolicy.standard.unprocessedStatuses)
        for status in statuses { #expect(rows.contains { $0.kinds.contains(.status(status)) }, "\(status)") }
    }

    @Test func `each error has the class in the table`() throws {
        var classes: [String: AttemptFailure.Kind] = [:]
        for cells in try Self.rows() where cells.count == 2 {
            guard let kind = Self.kinds[cells[0]] else { continue }
            for code in cells[1].split(separator: ", ") { classes[code.filter { $0 != "`" }] = kind }
        }
        for code in HTTPError.Code.allCases { #expect(classes[code.rawValue] == code.failureKind, "\(code)") }
        #expect(classes.count == HTTPError.Code.allCases.count)
    }

    @Test func `the delays are those of the standard policy`() throws {
        let numbers = try Self.rows().filter { $0.count == 2 }
        let policy = RetryPolicy.standard
        for (name, value) in [
            ("attempts, including the first", "\(policy.maximumAttempts)"),
            ("limit of the first delay", "\(Double(policy.baseDelay.clampedNanoseconds) / 1e9) s"),
            ("maximum limit", "\(policy.maximumDelay.components.seconds) s"),
        ] { #expect(numbers.contains([name, value]), "\(name)") }
    }
}
