/// Writes values as JSON texts (RFC 8259); what strangers chose is escaped for terminals, too.
enum JSONValue {
    /// Returns a string, or `null`.
    static func string(_ text: String?) -> String { text.map { "\"\($0.escapedForJSONAndTerminal)\"" } ?? "null" }

    /// Returns a number, or `null`.
    static func number(_ number: (some BinaryInteger)?) -> String { number.map { "\($0)" } ?? "null" }

    /// Returns an array of values that are JSON texts.
    static func array(_ elements: [String]) -> String { "[" + elements.joined(separator: ",") + "]" }

    /// Returns an object, whose values are JSON texts.
    static func object(_ members: [(name: String, value: String)]) -> String {
        "{" + members.map { "\"\($0.name)\":\($0.value)" }.joined(separator: ",") + "}"
    }
}
