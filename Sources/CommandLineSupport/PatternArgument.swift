import NetwatchCore

/// Reads a pattern of interfaces' names, as `--expensive` and `--constrained` take it.
package enum PatternArgument {
    /// Reads a pattern.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    package static func parse(_ text: String) throws(ArgumentError) -> String {
        guard !text.isEmpty else { throw .init("the pattern is empty; write a name such as wwan0, or enx*") }
        guard !text.utf8.contains(UInt8(ascii: "=")) else {
            throw .init("'\(text.escapedForTerminal)' has a '='; write the pattern alone, such as wwan*")
        }
        return text
    }
}
