import FoundationEssentials
import NetworkClientCore
import Testing

@testable import NetworkClient

/// Compares docs/http-errors.md with the code, and with the results of the fault tests.
struct ErrorTableTests {
    /// A line of one of the tables.
    private struct Row {
        let event: String
        let code: String
        let processing: [String]
        let errors: String
        let advice: String
    }

    @Test func `every code has its row, and every row its code`() throws {
        let rows = try Self.rows()
        let known = Set(HTTPError.Code.allCases.map(\.rawValue))
        #expect(Set(rows.map(\.code)) == known)
        for row in rows {
            #expect(!row.event.isEmpty && !row.processing.isEmpty, "\(row.code)")
            #expect(row.processing.allSatisfy { Processing(rawValue: $0) != nil }, "\(row.code): \(row.processing)")
        }
    }

    @Test func `every processing state is documented`() throws {
        let text = try Self.text()
        for processing in Processing.allCases { #expect(text.contains("\n| `\(processing.rawValue)` | ")) }
    }

    @Test func `the results of the fault tests are documented`() throws {
        let rows = try Self.rows()
        for fault in FaultTable.losses + FaultTable.silence + FaultTable.nonsense + FaultTable.excess {
            let fits = rows.contains { row in
                row.code == fault.code.rawValue && row.processing.contains(fault.processing.rawValue)
            }
            #expect(fits, "\(fault.name)")
        }
    }

    @Test func `each error number of the kernel is documented with its code`() throws {
        let rows = try Self.rows()
        for fault in NetworkFault.table {
            let name = try #require(Self.names[fault.errno], "\(fault.name)")
            #expect(rows.contains { $0.code == fault.code.rawValue && $0.errors.contains(name) }, "\(fault.name)")
        }
    }

    /// Linux's error numbers; errno(3).
    private static let names: [Int32: String] = [
        13: "EACCES", 19: "ENODEV", 22: "EINVAL", 99: "EADDRNOTAVAIL", 101: "ENETUNREACH", 104: "ECONNRESET",
        111: "ECONNREFUSED", 113: "EHOSTUNREACH",
    ]

    private static func text() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return String(decoding: try Data(contentsOf: root.appending(path: "docs/http-errors.md")), as: UTF8.self)
    }

    private static func rows() throws -> [Row] {
        try text().split(separator: "\n").compactMap { line in
            let cells = line.split(separator: "|", omittingEmptySubsequences: false).map(trimmed)
            // Five cells between the lines' ends, and neither a table's head nor the line beneath it.
            guard cells.count == 7, cells[2].hasPrefix("`") else { return nil }
            return Row(
                event: cells[1],
                code: words(cells[2]).first ?? "",
                processing: words(cells[3]),
                errors: cells[4],
                advice: cells[5]
            )
        }
    }

    private static func words(_ cell: String) -> [String] {
        cell.split(separator: " ").map { String($0.drop { $0 == "`" }.prefix { $0 != "`" }) }
    }

    private static func trimmed(_ cell: Substring) -> String {
        String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }
}
