/// The words of a Swift source that are code: without comments and the text of strings, but with interpolations.
struct SourceWords {
    /// The words that begin with a capital letter, each once.
    private(set) var words: Set<String> = []
    /// The names of the types that are declared at the top level, private ones left out.
    private(set) var declaredTypes: [String] = []

    private let bytes: [UInt8]
    private var position = 0
    private var braces = 0
    /// The words of the current line so far.
    private var line: [String] = []
    /// The strings in whose interpolations the position is, with the parentheses that are open in each.
    private var strings: [(quote: Quote, parentheses: Int)] = []

    private static let declarations: Set = ["struct", "class", "enum", "protocol", "actor", "typealias"]
    /// The words before a name that no other file can use, or that another module declares (`import struct`).
    private static let exclusions: Set = ["private", "fileprivate", "import"]

    /// How a string begins: with how many number signs, and with one quotation mark or three.
    private struct Quote {
        var signs: Int
        var marks: Int
    }

    init(_ text: String) {
        bytes = Array(text.utf8)
        while position < bytes.count { step() }
    }

    private mutating func step() {
        switch bytes[position] {
        case UInt8(ascii: "/") where follows("//"): skip { $0 == UInt8(ascii: "\n") }
        case UInt8(ascii: "/") where follows("/*"): skipBlockComment()
        case UInt8(ascii: "\""), UInt8(ascii: "#"): beginString()
        case UInt8(ascii: "("): openParenthesis(1)
        case UInt8(ascii: ")"): openParenthesis(-1)
        case UInt8(ascii: "{"): openBrace(1)
        case UInt8(ascii: "}"): openBrace(-1)
        case UInt8(ascii: "\n"):
            line = []
            position += 1
        case let byte where Self.isPartOfWord(byte): takeWord()
        default: position += 1
        }
    }

    private mutating func takeWord() {
        let start = position
        skip { !Self.isPartOfWord($0) }
        let word = String(decoding: bytes[start..<position], as: UTF8.self)
        if word.first?.isUppercase == true { words.insert(word) }
        if braces == 0, let keyword = line.last, Self.declarations.contains(keyword),
            Self.exclusions.isDisjoint(with: line)
        {
            declaredTypes.append(word)
        }
        line.append(word)
    }

    private static func isPartOfWord(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...: true
        default: false
        }
    }

    private mutating func openBrace(_ change: Int) {
        braces += change
        line = []
        position += 1
    }

    private func follows(_ text: String, at offset: Int = 0) -> Bool {
        bytes[min(position + offset, bytes.count)...].starts(with: text.utf8)
    }

    private mutating func skip(until isEnd: (UInt8) -> Bool) {
        while position < bytes.count, !isEnd(bytes[position]) { position += 1 }
    }

    private mutating func skipBlockComment() {
        var depth = 0
        repeat {
            if follows("/*") {
                depth += 1
                position += 2
            } else if follows("*/") {
                depth -= 1
                position += 2
            } else {
                position += 1
            }
        } while depth > 0 && position < bytes.count
    }
}

// MARK: - Strings

extension SourceWords {
    private mutating func openParenthesis(_ change: Int) {
        position += 1
        guard let string = strings.last else { return }
        strings[strings.count - 1].parentheses += change
        guard string.parentheses + change == 0 else { return }
        strings.removeLast()
        skipString(string.quote)
    }

    /// Begins a string, or skips a number sign that begins none.
    private mutating func beginString() {
        var signs = 0
        while follows("#", at: signs) { signs += 1 }
        guard follows("\"", at: signs) else {
            position += max(signs, 1)
            return
        }
        let marks = follows("\"\"\"", at: signs) ? 3 : 1
        position += signs + marks
        skipString(.init(signs: signs, marks: marks))
    }

    /// Skips the text of a string up to its end, or to its next interpolation.
    private mutating func skipString(_ quote: Quote) {
        let signs = String(repeating: "#", count: quote.signs)
        let end = String(repeating: "\"", count: quote.marks) + signs
        while position < bytes.count {
            if follows("\\" + signs + "(") {
                position += quote.signs + 2
                return strings.append((quote, 1))
            }
            if follows(end) {
                position += end.utf8.count
                return
            }
            if quote.marks == 1, bytes[position] == UInt8(ascii: "\n") { return }
            position += bytes[position] == UInt8(ascii: "\\") && quote.signs == 0 ? 2 : 1
        }
    }
}
