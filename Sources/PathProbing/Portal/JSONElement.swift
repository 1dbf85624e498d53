/// A parsed JSON text (RFC 8259), for messages of a few members from a network that is not trusted.
///
/// Strict: nothing before or after the value, no name twice in an object, and limits on length and depth.
package indirect enum JSONElement: Sendable, Hashable {
    case null
    case bool(Bool)
    /// A number as written, in the grammar of JSON.
    case number(String)
    case string(String)
    case array([JSONElement])
    case object([String: JSONElement])

    /// The maximum length of a text in bytes.
    package static let maximumLength = 65_536
    /// The maximum number of arrays and objects in each other.
    package static let maximumDepth = 16

    /// Parses a text; throws what is wrong with it, and where.
    package init(parsing bytes: [UInt8]) throws(JSONFault) {
        guard bytes.count <= Self.maximumLength else {
            throw .init("it is longer than \(Self.maximumLength) bytes", at: 0)
        }
        var parser = JSONParser(bytes: bytes)
        self = try parser.wholeText()
    }
}

/// An error in a JSON text.
package struct JSONFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The fault.
    package let reason: String
    /// The offset in bytes.
    package let offset: Int

    init(_ reason: String, at offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    /// The reason and the offset.
    package var description: String { "\(reason) (at byte \(offset))" }
}

private struct JSONParser {
    let bytes: [UInt8]
    var position = 0

    mutating func wholeText() throws(JSONFault) -> JSONElement {
        let value = try element(depth: 0)
        skipSpace()
        guard position == bytes.count else { throw .init("the text continues after its value", at: position) }
        return value
    }

    private mutating func element(depth: Int) throws(JSONFault) -> JSONElement {
        skipSpace()
        switch current {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func object(depth: Int) throws(JSONFault) -> JSONElement {
        try enter(depth)
        var members: [String: JSONElement] = [:]
        guard !takes("}") else { return .object(members) }
        repeat {
            skipSpace()
            let start = position
            let name = try string()
            try expect(":")
            guard members.updateValue(try element(depth: depth), forKey: name) == nil else {
                throw .init("an object has the name '\(name)' twice", at: start)
            }
        } while takes(",")
        try expect("}")
        return .object(members)
    }

    private mutating func array(depth: Int) throws(JSONFault) -> JSONElement {
        try enter(depth)
        var elements: [JSONElement] = []
        guard !takes("]") else { return .array(elements) }
        repeat { elements.append(try element(depth: depth)) } while takes(",")
        try expect("]")
        return .array(elements)
    }

    private mutating func enter(_ depth: Int) throws(JSONFault) {
        guard depth <= JSONElement.maximumDepth else {
            throw .init("more than \(JSONElement.maximumDepth) arrays and objects are in each other", at: position)
        }
        position += 1
    }

    private mutating func word(_ text: String, _ value: JSONElement) throws(JSONFault) -> JSONElement {
        guard bytes[position...].starts(with: text.utf8) else { throw .init("a value is expected", at: position) }
        position += text.utf8.count
        return value
    }

    // MARK: Numbers

    private mutating func number() throws(JSONFault) -> String {
        let start = position
        if current == UInt8(ascii: "-") { position += 1 }
        let isZero = current == UInt8(ascii: "0")
        try digits(from: start)
        if isZero, bytes[start..<position].drop(while: { $0 == UInt8(ascii: "-") }).count > 1 {
            throw .init("a number has a leading zero", at: start)
        }
        if current == UInt8(ascii: ".") {
            position += 1
            try digits(from: start)
        }
        if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
            position += 1
            if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
            try digits(from: start)
        }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }

    private mutating func digits(from start: Int) throws(JSONFault) {
        let first = position
        while let byte = current, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > first else { throw .init("a value is expected", at: start) }
    }

    // MARK: Strings

    private mutating func string() throws(JSONFault) -> String {
        let start = position
        guard current == UInt8(ascii: "\"") else { throw .init("a string is expected", at: position) }
        position += 1
        var content: [UInt8] = []
        while let byte = current, byte != UInt8(ascii: "\"") {
            guard byte >= 0x20 else { throw .init("a string has a control character", at: position) }
            position += 1
            if byte == UInt8(ascii: "\\") { content += try escaped().utf8 } else { content.append(byte) }
        }
        guard current != nil else { throw .init("a string has no end", at: start) }
        position += 1
        guard let text = String(validating: content, as: UTF8.self) else {
            throw .init("a string is not UTF-8", at: start)
        }
        return text
    }

    private mutating func escaped() throws(JSONFault) -> String {
        let start = position - 1
        guard let byte = current else { throw .init("a string has no end", at: start) }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return String(Character(Unicode.Scalar(byte)))
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try unicode(start)
        default: throw .init("a string has an unknown escape", at: start)
        }
    }

    /// Decodes `\uXXXX`, or two of them that are a surrogate pair.
    private mutating func unicode(_ start: Int) throws(JSONFault) -> String {
        var value = try unit(start)
        if 0xD800..<0xDC00 ~= value, bytes[position...].starts(with: "\\u".utf8) {
            position += 2
            let low = try unit(start)
            guard 0xDC00..<0xE000 ~= low else { throw .init("half of a surrogate pair is missing", at: start) }
            value = 0x1_0000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        guard let scalar = Unicode.Scalar(value) else { throw .init("half of a surrogate pair is missing", at: start) }
        return String(Character(scalar))
    }

    private mutating func unit(_ start: Int) throws(JSONFault) -> UInt32 {
        let digits = String(decoding: bytes[position...].prefix(4), as: UTF8.self)
        let isHexadecimal =
            digits.utf8.count == 4 && digits.utf8.allSatisfy { $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }
        guard isHexadecimal, let value = UInt32(digits, radix: 16) else {
            throw .init("an escape needs four hexadecimal digits", at: start)
        }
        position += 4
        return value
    }

    // MARK: Tokens

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func skipSpace() {
        while let byte = current, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
    }

    private mutating func takes(_ token: Unicode.Scalar) -> Bool {
        skipSpace()
        guard current == UInt8(ascii: token) else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ token: Unicode.Scalar) throws(JSONFault) {
        guard takes(token) else { throw .init("'\(token)' is expected", at: position) }
    }
}
