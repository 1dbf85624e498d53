import NetwatchCore
package import ReachabilityCore

/// Reads `PATTERN=KIND`, as `--kind` takes it.
package enum KindRuleArgument {
    /// Reads a rule.
    ///
    /// The last `=` counts, because an interface's name may contain one and a kind does not.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong and how to write it.
    package static func parse(_ text: String) throws(ArgumentError) -> KindRule {
        guard let separator = text.lastIndex(of: "=") else {
            throw .init("the '=' is missing; write PATTERN=KIND, such as wwan*=cellular")
        }
        let pattern = String(text[..<separator])
        let name = text[text.index(after: separator)...]
        guard !pattern.isEmpty else {
            throw .init("the pattern before '=' is empty; write PATTERN=KIND, such as wwan*=cellular")
        }
        guard let kind = InterfaceKind(rawValue: String(name)) else {
            throw .init("'\(name.escapedForTerminal)' is not a kind; the kinds are \(kinds)")
        }
        return .init(pattern: pattern, kind: kind)
    }

    private static let kinds = InterfaceKind.allCases.map(\.rawValue).joined(separator: ", ")
}
