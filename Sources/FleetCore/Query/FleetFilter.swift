import NetwatchCore
import ReachabilityCore

/// Which machines are shown: `--where 'group=site-3 and state!=wifi and availability<99.9'`.
///
/// A condition is a field, `=`, `!=`, `<`, `<=`, `>` or `>=`, and a value, which may be in double quotes; `and` joins them.
/// Fields: `group`, `node`, `link`, `state`, `why`, `path`, `validation`, `availability` (in per cent), `outages`, `backlog`,
/// `lost`, `flapping` (yes or no), and `label.NAME`. A number that is not known meets no condition but `!=`.
package struct FleetFilter: Hashable, Sendable {
    /// Every machine.
    package static let all = Self()

    private var conditions: [FilterCondition] = []

    /// Every machine.
    package init() {}

    /// Reads conditions.
    ///
    /// - Throws: ``FleetFilterError``, whose description has the text and points at the character.
    package init(parsing text: String) throws(FleetFilterError) {
        var reader = FilterReader(text)
        conditions = try reader.conditions()
    }

    /// Adds the conditions of another filter, all of which have to be met too.
    package mutating func add(_ other: Self) { conditions += other.conditions }

    /// Returns whether a machine meets all conditions.
    package func matches(_ node: NodeStatus) -> Bool { conditions.allSatisfy { $0.matches(node) } }
}

/// Why a text is no filter.
package struct FleetFilterError: Error, Hashable, CustomStringConvertible {
    /// The text.
    package let text: String
    /// The number of characters before the one that is wrong.
    package let offset: Int
    /// The fault, and what to write instead.
    package let problem: String

    /// Three lines: the problem, the text, and a caret below the character.
    package var description: String {
        let before = String(text.prefix(offset)).escapedForTerminal
        let shown = text.escapedForTerminal
        return "\(problem)\n  \(shown)\n  \(String(repeating: " ", count: TextWidth.columns(before)))^"
    }
}

/// A condition of a filter.
private struct FilterCondition: Hashable, Sendable {
    let field: FilterField
    let comparison: FilterComparison
    let value: FilterValue

    func matches(_ node: NodeStatus) -> Bool {
        switch value {
        case .text(let text): (field.text(of: node) == text) == (comparison == .equal)
        case .number(let number):
            field.number(of: node).map { comparison.holds($0, number) } ?? (comparison == .notEqual)
        }
    }
}

private enum FilterValue: Hashable, Sendable {
    case text(String)
    /// In hundredths of a per cent for the availability.
    case number(UInt64)
}

private enum FilterComparison: String, Hashable, Sendable, CaseIterable {
    case notEqual = "!="
    case atMost = "<="
    case atLeast = ">="
    case equal = "="
    case below = "<"
    case above = ">"

    func holds(_ left: UInt64, _ right: UInt64) -> Bool {
        switch self {
        case .notEqual: left != right
        case .atMost: left <= right
        case .atLeast: left >= right
        case .equal: left == right
        case .below: left < right
        case .above: left > right
        }
    }
}

/// A field of a machine.
private enum FilterField: Hashable, Sendable {
    case group, node, link, state, why, path, validation, flapping
    case availability, outages, backlog, lost
    case label(String)

    static let named: [(name: String, field: Self)] = [
        ("group", .group), ("node", .node), ("link", .link), ("state", .state), ("why", .why), ("path", .path),
        ("validation", .validation),
        ("availability", .availability), ("outages", .outages), ("backlog", .backlog), ("lost", .lost),
        ("flapping", .flapping),
    ]

    init?(name: String) {
        if name.hasPrefix("label."), name.utf8.count > 6 {
            self = .label(String(name.dropFirst(6)))
        } else if let known = Self.named.first(where: { $0.name == name }) {
            self = known.field
        } else {
            return nil
        }
    }

    var isNumber: Bool {
        switch self {
        case .availability, .outages, .backlog, .lost: true
        default: false
        }
    }

    /// The values that a field can have; empty if it can have any.
    var values: [String] {
        switch self {
        case .link: Presence.allCases.map(\.rawValue)
        case .state: ["wifi", "cellular", "notReachable", "unknown"]
        case .why: Self.causes
        case .validation: ["validated", "portal", "noInternet", "notChecked", "none"]
        case .flapping: ["yes", "no"]
        default: []
        }
    }

    private static let causes: [String] = {
        let causes: [SilenceCause] = [
            .unknown, .noPath([]), .brokerNotReachable, .machineOff, .suspended, .notRunning, .stopped,
        ]
        return ["none"] + causes.map(\.name)
    }()

    func text(of node: NodeStatus) -> String {
        switch self {
        case .group: node.key.group
        case .node: node.key.name
        case .link: node.presence.rawValue
        case .state: node.state.name
        case .why: node.why
        case .path: node.path?.interface ?? ""
        // That of a machine that is silent is out of date.
        case .validation: node.presence == .online ? node.validation?.verdict.name ?? "none" : "none"
        case .flapping: node.isFlapping ? "yes" : "no"
        case .label(let name): node.labels[name] ?? ""
        case .availability, .outages, .backlog, .lost: ""
        }
    }

    func number(of node: NodeStatus) -> UInt64? {
        switch self {
        case .availability: node.availability.map(UInt64.init)
        case .outages: UInt64(node.outages)
        case .backlog: node.backlog
        case .lost: node.lost
        default: nil
        }
    }
}

/// Reads the text of a filter from the left.
private struct FilterReader {
    private let text: String
    private let characters: [Character]
    private var offset = 0

    init(_ text: String) {
        self.text = text
        characters = Array(text)
    }

    mutating func conditions() throws(FleetFilterError) -> [FilterCondition] {
        var conditions = [try condition()]
        skipSpaces()
        while offset < characters.count {
            let start = offset
            guard word() == "and" else { throw error("only 'and' can join conditions", at: start) }
            conditions.append(try condition())
            skipSpaces()
        }
        return conditions
    }

    private mutating func condition() throws(FleetFilterError) -> FilterCondition {
        skipSpaces()
        let start = offset
        let name = word()
        guard !name.isEmpty else { throw error("a field is missing: \(Self.fields)", at: start) }
        guard let field = FilterField(name: name) else {
            throw error("there is no field '\(name)': \(Self.fields)", at: start)
        }
        skipSpaces()
        let comparison = try comparison(of: field, name)
        skipSpaces()
        return .init(field: field, comparison: comparison, value: try value(of: field, name))
    }

    private static let fields =
        "use " + FilterField.named.map(\.name).joined(separator: ", ") + " or label.NAME"

    private mutating func comparison(of field: FilterField, _ name: String) throws(FleetFilterError) -> FilterComparison
    {
        let rest = String(characters[offset...].prefix(2))
        guard let comparison = FilterComparison.allCases.first(where: { rest.hasPrefix($0.rawValue) }) else {
            throw error("a comparison is missing: use =, !=, <, <=, > or >=", at: offset)
        }
        guard field.isNumber || comparison == .equal || comparison == .notEqual else {
            throw error("'\(name)' is no number: use = or !=", at: offset)
        }
        offset += comparison.rawValue.count
        return comparison
    }

    private mutating func value(of field: FilterField, _ name: String) throws(FleetFilterError) -> FilterValue {
        let start = offset
        let text = try characters.indices.contains(offset) && characters[offset] == "\"" ? quoted() : word()
        guard !text.isEmpty || offset > start else { throw error("a value is missing", at: start) }
        if field.isNumber {
            guard let number = Self.number(text, isPercent: field == .availability) else {
                let kind = field == .availability ? "per cent, such as 99.9" : "a whole number"
                throw error("'\(name)' is \(kind)", at: start)
            }
            return .number(number)
        }
        guard field.values.isEmpty || field.values.contains(text) else {
            throw error("'\(name)' is one of \(field.values.joined(separator: ", "))", at: start)
        }
        return .text(text)
    }

    /// Reads a whole number, or a number of per cent with up to two places as hundredths.
    private static func number(_ text: String, isPercent: Bool) -> UInt64? {
        guard isPercent else { return text.allSatisfy(\.isASCIIDigit) ? UInt64(text) : nil }
        let text = text.hasSuffix("%") ? String(text.dropLast()) : text
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let whole = parts.first, parts.count <= 2, parts.allSatisfy({ $0.allSatisfy(\.isASCIIDigit) }),
            let per = UInt64(whole), per <= 100
        else { return nil }
        guard parts.count == 2 else { return per * 100 }
        guard (1...2).contains(parts[1].count), let places = UInt64(parts[1]) else { return nil }
        return per * 100 + (parts[1].count == 1 ? places * 10 : places)
    }

    // MARK: The text

    private mutating func skipSpaces() { while offset < characters.count, characters[offset] == " " { offset += 1 } }

    /// The characters up to a space, a comparison or a quotation mark.
    private mutating func word() -> String {
        let start = offset
        while offset < characters.count, !" =!<>\"".contains(characters[offset]) { offset += 1 }
        return String(characters[start..<offset])
    }

    /// The text up to the closing quotation mark; a backslash takes the next character as it is.
    private mutating func quoted() throws(FleetFilterError) -> String {
        let start = offset
        offset += 1
        var text = ""
        while offset < characters.count, characters[offset] != "\"" {
            if characters[offset] == "\\", offset + 1 < characters.count { offset += 1 }
            text.append(characters[offset])
            offset += 1
        }
        guard offset < characters.count else { throw error("the quotation mark is not closed", at: start) }
        offset += 1
        return text
    }

    private func error(_ problem: String, at offset: Int) -> FleetFilterError {
        .init(text: text, offset: offset, problem: problem)
    }
}
