package import ReachabilityCore

/// A line with fields in braces: `{time} {status} {interface}`.
///
/// `{{` and `}}` stand for a brace; `\n`, `\t` and `\\` for a line feed, a tab and a backslash.
package struct LineTemplate: Sendable, Hashable {
    /// A part of it.
    package enum Piece: Sendable, Hashable {
        /// Literal text.
        case text(String)
        /// A value.
        case field(TemplateField)
    }

    /// The placeholder for a missing value.
    package static let missing = "-"

    /// The parts, in their order.
    package let pieces: [Piece]

    /// Reads a template.
    ///
    /// - Throws: What is wrong with it, and where.
    package init(_ text: String) throws(TemplateError) {
        var reader = TemplateReader(text)
        pieces = try reader.read()
    }

    /// The line, without a line feed at its end; what a terminal might obey in a value is escaped.
    package func line(_ value: (TemplateField) -> String?) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .field(let field): value(field).map(\.escapedForTerminal) ?? Self.missing
            }
        }.joined()
    }
}

/// An error in a template.
package struct TemplateError: Error, Hashable, CustomStringConvertible {
    /// The place, counted in characters from 1.
    package let position: Int
    /// The problem, and how to write it.
    package let problem: String

    /// One line.
    package var description: String { "at character \(position): \(problem)" }
}

/// Reads a template from its text, one character after the other.
struct TemplateReader {
    private let characters: [Character]
    private var position = 0
    private var pieces: [LineTemplate.Piece] = []
    private var text = ""

    init(_ text: String) { characters = Array(text) }

    /// All parts.
    mutating func read() throws(TemplateError) -> [LineTemplate.Piece] {
        guard !characters.isEmpty else { throw error(at: 0, "it is empty; \(Self.howTo)") }
        while position < characters.count {
            switch characters[position] {
            case "{": try brace()
            case "}": text.append(taken("}"))
            case "\\": try escape()
            default:
                text.append(characters[position])
                position += 1
            }
        }
        flush()
        return pieces
    }

    private static let howTo = "write fields in braces, as in '{time} {status} {interface}'"

    /// A brace, of which two may stand for one.
    private mutating func taken(_ brace: Character) -> Character {
        position += next == brace ? 2 : 1
        return brace
    }

    private var next: Character? { position + 1 < characters.count ? characters[position + 1] : nil }

    private mutating func brace() throws(TemplateError) {
        guard next != "{" else { return text.append(taken("{")) }
        let start = position
        guard let end = characters[start...].firstIndex(of: "}") else {
            throw error(at: start, "the brace is not closed; write '{{' for a brace that stands for itself")
        }
        let name = String(characters[start + 1..<end])
        guard let field = TemplateField(rawValue: name) else {
            let known = TemplateField.allCases.map(\.rawValue).joined(separator: ", ")
            throw error(at: start, "there is no field '\(name.escapedForTerminal)'; the fields are \(known)")
        }
        flush()
        pieces.append(.field(field))
        position = end + 1
    }

    private mutating func escape() throws(TemplateError) {
        switch next {
        case "n": text.append("\n")
        case "t": text.append("\t")
        case "\\": text.append("\\")
        default:
            let given = next.map { "\\\($0)".escapedForTerminal } ?? "\\"
            throw error(at: position, "'\(given)' is no escape; there are \\n, \\t and \\\\")
        }
        position += 2
    }

    private mutating func flush() {
        if !text.isEmpty { pieces.append(.text(text)) }
        text = ""
    }

    private func error(at position: Int, _ problem: String) -> TemplateError {
        .init(position: position + 1, problem: problem)
    }
}

/// A field that a template can name.
package enum TemplateField: String, CaseIterable, Sendable, Hashable {
    /// When it was seen, in local time (RFC 3339).
    case time
    /// The same in UTC.
    case utc
    /// The state.
    case status
    /// The state before.
    case previous
    /// The kind of the change.
    case event
    /// Why, separated by commas.
    case reasons
    /// The path's interface.
    case interface
    /// Its kind.
    case kind
    /// The physical interfaces that carry the path, separated by commas.
    case carriers
    /// The IPv4 address that packets are sent from.
    case ipv4
    /// The IPv6 address that packets are sent from.
    case ipv6
    /// The next hop, of IPv4 if that has a path.
    case gateway
    /// The address that packets are sent from, of IPv4 if that has a path.
    case source
    /// The route's metric, of IPv4 if that has a path.
    case metric
    /// The change's number.
    case seq
    /// Whether traffic may cost by its volume: `true` or `false`.
    case expensive
    /// Whether the path is to be used sparingly: `true` or `false`.
    case constrained
    /// The Wi-Fi network's name, if the radio was queried.
    case ssid
    /// Its access point's address, if the radio was queried.
    case bssid
    /// The access point's signal in dBm, if the radio was queried.
    case signal
    /// The verdict on the path, with `--validate`.
    case validation
    /// The page of a captive portal to log in at, with `--validate`.
    case login

    /// The value in a change; nil if there is none, for times, which are written by the owner of the clock, and for what
    /// validation reports.
    ///
    /// It may hold what a terminal would obey.
    package func value(in change: ReachabilityChange) -> String? {
        let path = change.path
        let family = path.ipv4 ?? path.ipv6
        return switch self {
        case .time, .utc, .validation, .login: nil
        case .status: change.status.name
        case .previous: change.previous?.name
        case .event: change.event.rawValue
        case .reasons: Self.list(change.allReasons.map(\.rawValue))
        case .interface: path.interface?.name
        case .kind: path.interface?.kind.rawValue
        case .carriers: Self.list(path.carriers.map(\.name))
        case .ipv4: path.ipv4?.source.description
        case .ipv6: path.ipv6?.source.description
        case .gateway: family?.gateway?.description
        case .source: family?.source.description
        case .metric: family.map { String($0.metric) }
        case .seq: String(change.sequence)
        case .expensive: String(path.isExpensive)
        case .constrained: String(path.isConstrained)
        case .ssid: path.wifi.first.flatMap { $0.ssid ?? $0.ssidHexadecimal.map { "0x" + $0 } }
        case .bssid: path.wifi.first?.bssid
        case .signal: path.wifi.first?.signal.map(String.init)
        }
    }

    private static func list(_ words: [String]) -> String? { words.isEmpty ? nil : words.joined(separator: ",") }
}

extension ReachabilityChange {
    /// The reasons of the change, then those of the path, each once.
    fileprivate var allReasons: [ReachabilityReason] { reasons + path.reasons.filter { !reasons.contains($0) } }
}
