import CommandLineSupport
import NetwatchCore

/// One `--param`: where in the tree of parameters a value goes.
struct ParameterArgument: Hashable {
    /// One step on the way to a value.
    enum Step: Hashable {
        /// Under a key: the name itself, or `[key]`.
        case key(String)
        /// One more of a list: `[]`.
        case element
    }

    /// The steps; the first is a key.
    var steps: [Step]
    /// The value; nil where there is no `=`, which sends the name alone.
    var value: String?

    /// How deep names may be nested.
    static let deepest = 32

    /// Reads `name=value`, where the name may be nested: `a[b][]=c`.
    ///
    /// - Throws: ``ArgumentError`` that says what was wrong, where, and how to write it.
    static func parse(_ text: String) throws(ArgumentError) -> Self {
        let end = text.firstIndex { "[=]".contains($0) } ?? text.endIndex
        guard end != text.startIndex else { throw .init("the name is missing; \(howTo)") }
        var steps = [Step.key(String(text[..<end]))]
        var rest = text[end...]
        while rest.first == "[" {
            guard let close = rest.firstIndex(of: "]") else { throw .init("a '[' is not closed; \(howTo)") }
            let key = rest[..<close].dropFirst()
            guard !key.contains("[") else { throw .init("a '[' stands within brackets; \(howTo)") }
            steps.append(key.isEmpty ? .element : .key(String(key)))
            rest = rest[close...].dropFirst()
        }
        guard steps.count <= deepest else { throw .init("it is nested deeper than \(deepest) names") }
        guard rest.isEmpty || rest.first == "=" else {
            throw .init("'\(rest.escapedForTerminal)' follows the name; \(howTo)")
        }
        return .init(steps: steps, value: rest.isEmpty ? nil : String(rest.dropFirst()))
    }

    private static let howTo = "write name=value, such as q=text, 'filter[open]=yes' or 'tags[]=a'"
}
