import CommandLineLab
import Testing

/// The schema of JSON lines: `docs/event.schema.json`.
enum EventSchema {
    static let schema = Result { JSONSchema(root: try JSONParser.parse(Repository.read("docs/event.schema.json"))) }

    /// Parses a line strictly and validates it by the schema.
    static func parse(
        _ line: some StringProtocol,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws -> JSONValue {
        let value = try JSONParser.parse(String(line))
        let faults = try schema.get().faults(in: value)
        #expect(faults.isEmpty, "\(line)", sourceLocation: sourceLocation)
        return value
    }
}
