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
