import CommandLineLab
import NetwatchCore
import ReachabilityCore
import Testing

@testable import netwatch

@Suite struct DocumentsTests {
    private func schema() throws -> JSONValue { try EventSchema.schema.get().root }

    private func names(_ value: JSONValue?) throws -> [String] {
        try #require(value?.elements).compactMap(\.text)
    }

    @Test func `the schema lists the code's own names`() throws {
        let definitions = try #require(try schema()["$defs"])
        let properties = try #require(try schema()["properties"])
        let interface = try #require(definitions["interface"]?["properties"])
        #expect(try names(definitions["reason"]?["enum"]) == ReachabilityReason.allCases.map(\.rawValue))
        #expect(try Set(names(definitions["status"]?["enum"])) == Set(ReachabilityStatus.allCases.map(\.name)))
        // The monitor has neither gaps, which the service reports, nor verdicts.
        let events = ReachabilityChange.Event.allCases.map(\.rawValue) + ["gap", "validation"]
        #expect(try names(properties["event"]?["enum"]) == events)
        #expect(try names(interface["kind"]?["enum"]) == InterfaceKind.allCases.map(\.rawValue))
        #expect(try names(interface["by"]?["enum"]) == KindSource.allCases.map(\.rawValue))
    }

    @Test func `each object of the schema is closed`() throws {
        let definitions = try #require(try schema()["$defs"])
        let path = try schema()["properties"]?["path"]
        for object in [try schema(), definitions["interface"], definitions["wifi"], definitions["family"], path] {
            #expect(object?["additionalProperties"] == .bool(false))
        }
    }

    @Test func `each reason is explained, once`() throws {
        let rows = try Repository.read("docs/reasons.md").split(separator: "\n").filter { $0.hasPrefix("| `") }
        let explained = rows.map { row in row.split(separator: "`")[1] }
        #expect(explained.map(String.init) == ReachabilityReason.allCases.map(\.rawValue))
        for (row, reason) in zip(rows, ReachabilityReason.allCases) {
            let cells = row.split(separator: "|", omittingEmptySubsequences: false)
            let words = cells.dropFirst(2).prefix(2).map {
                $0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()
            }
            #expect(words.map(String.init) == [reason.meaning, reason.fix ?? ""])
        }
    }

    @Test func `each field of templates is explained, once`() throws {
        let rows = try Repository.read("docs/templates.md").split(separator: "\n").filter { $0.hasPrefix("| `") }
        let fields = rows.flatMap { row in
            row.split(separator: "|")[0].matches(of: /`([a-z0-9]+)`/).map { String($0.1) }
        }
        #expect(fields == TemplateField.allCases.map(\.rawValue))
    }
}
