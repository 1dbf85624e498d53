import CommandLineSupport
import NetwatchCore
import NetworkClient

/// A tree of the values of several `--param`, combined as servers combine names like `a[b][]`.
indirect enum ParameterTree {
    /// The values of one name; several if the name was repeated.
    case values([String?])
    /// The elements under `[]`, in order.
    case list([ParameterTree])
    /// The members.
    case table([String: ParameterTree])

    /// Returns the tree of some arguments; nil for none.
    ///
    /// - Throws: ``ArgumentError`` if a name has both a value and elements or members.
    static func parameters(_ arguments: [ParameterArgument]) throws(ArgumentError) -> Parameters? {
        var tree: ParameterTree?
        for argument in arguments { tree = try adding(argument.steps[...], argument.value, to: tree) }
        return tree.map { Parameters($0) }
    }

    private static func adding(
        _ steps: ArraySlice<ParameterArgument.Step>,
        _ value: String?,
        to tree: ParameterTree?
    ) throws(ArgumentError) -> ParameterTree {
        let rest = steps.dropFirst()
        switch (steps.first, tree) {
        case (nil, nil): return .values([value])
        case (nil, .values(let values)): return .values(values + [value])
        case (.key(let key), nil): return .table([key: try adding(rest, value, to: nil)])
        case (.key(let key), .table(var table)):
            table[key] = try adding(rest, value, to: table[key])
            return .table(table)
        case (.element, nil): return .list([try adding(rest, value, to: nil)])
        case (.element, .list(var list)):
            if !rest.isEmpty, let last = list.last, last.takes(rest) {
                list[list.count - 1] = try adding(rest, value, to: last)
            } else {
                list.append(try adding(rest, value, to: nil))
            }
            return .list(list)
        default:
            throw .init("one name is a value here and a list or a table there; name each thing once")
        }
    }

    /// Returns whether another value belongs to this element of a list, rather than to the next: `a[][x]=1 a[][y]=2`
    /// makes one element, `a[][x]=1 a[][x]=2` two.
    private func takes(_ steps: ArraySlice<ParameterArgument.Step>) -> Bool {
        switch (steps.first, self) {
        case (.key(let key), .table(let table)): table[key]?.takes(steps.dropFirst()) ?? true
        case (.element, .list): true
        default: false
        }
    }
}

extension ParameterTree: Encodable {
    /// Encodes the tree; several values of one name make a set.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .values(let values) where values.count == 1: try container.encode(Self.scalar(values[0]))
        case .values(let values): try container.encode(Set(values.map(Self.scalar)))
        case .list(let list): try container.encode(list)
        case .table(let table): try container.encode(table)
        }
    }

    private static func scalar(_ value: String?) -> JSONValue { value.map(JSONValue.string) ?? .null }
}

/// The value of `--param`: a value and its position in the tree of parameters.
struct ParameterArgument: Hashable {
    /// A step on the path to a value.
    enum Step: Hashable {
        /// A member: the name itself, or `[key]`.
        case key(String)
        /// A new element of a list: `[]`.
        case element
    }

    /// The steps; the first is a key.
    var steps: [Step]
    /// The value; nil if there is no `=`, which sends the name alone.
    var value: String?

    /// The maximum nesting depth of names.
    static let deepest = 32

    /// Parses `name=value`, where the name may be nested: `a[b][]=c`.
    ///
    /// - Throws: ``ArgumentError``, which says what was wrong, where, and how to write it.
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
