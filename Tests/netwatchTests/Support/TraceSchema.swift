import CommandLineLab
import Testing

/// The schema of traces: `docs/trace.schema.json`.
enum TraceSchema {
    private static let schema = Result {
        JSONSchema(root: try JSONParser.parse(Repository.read("docs/trace.schema.json")))
    }

    /// Parses lines strictly and validates each by the schema.
    static func parse(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) throws -> [JSONValue] {
        try text.split(separator: "\n").map { line in
            let value = try JSONParser.parse(String(line))
            let faults = try schema.get().faults(in: value)
            #expect(faults.isEmpty, "\(line)", sourceLocation: sourceLocation)
            return value
        }
    }
}
