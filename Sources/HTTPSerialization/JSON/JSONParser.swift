/// Parses JSON text (RFC 8259) strictly: what the grammar doesn't have is an error.
struct JSONParser {
    private let bytes: [UInt8]
    private var position = 0
    private var depth = 0

    /// The maximum nesting depth, as of Foundation's decoder.
    private static let maximumDepth = 512

    /// Returns the value of a text in UTF-8, with or without a byte order mark.
    static func value(of bytes: [UInt8]) throws(JSONValue.ParsingError) -> JSONValue {
        var parser = Self(bytes: bytes)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.position = 3 }
        let value = try parser.value()
        parser.skipSpace()
        guard parser.position == bytes.count else { throw parser.error("something follows the value") }
        return value
    }

    /// Returns the character set of a text that is not in UTF-8, by its byte order mark, or by the zeros of its first
    /// characters, which are ASCII.
    static func wideCharacterSet(of bytes: [UInt8]) -> String? {
        let zeros = bytes.prefix(4).map { $0 == 0 }
        if zeros.count == 4 {
            if bytes.starts(with: [0, 0, 0xFE, 0xFF]) || zeros == [true, true, true, false] { return "utf-32be" }
            if bytes.starts(with: [0xFF, 0xFE, 0, 0]) || zeros == [false, true, true, true] { return "utf-32le" }
        }
        guard zeros.count >= 2 else { return nil }
        if bytes.starts(with: [0xFE, 0xFF]) || zeros[0] && !zeros[1] { return "utf-16be" }
        if bytes.starts(with: [0xFF, 0xFE]) || !zeros[0] && zeros[1] { return "utf-16le" }
        return nil
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private func error(_ reason: String) -> JSONValue.ParsingError { .init(offset: position, reason: reason) }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    /// Skips a byte and returns whether it was there.
    private mutating func skip(_ byte: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: byte) else { return false }
        position += 1
        return true
    }

    private mutating func value() throws(JSONValue.ParsingError) -> JSONValue {
        skipSpace()
        guard let next else { throw error("the text ends where a value is expected") }
        switch next {
        case UInt8(ascii: "{"): return try nested { (parser) throws(JSONValue.ParsingError) in try parser.object() }
        case UInt8(ascii: "["): return try nested { (parser) throws(JSONValue.ParsingError) in try parser.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number(try number())
        default: throw error("a value is expected")
        }
    }

    private mutating func nested(
        _ read: (inout Self) throws(JSONValue.ParsingError) -> JSONValue
    ) throws(JSONValue.ParsingError) -> JSONValue {
        guard depth < Self.maximumDepth else { throw error("the values are nested deeper than \(Self.maximumDepth)") }
        depth += 1
        position += 1
        defer { depth -= 1 }
        return try read(&self)
    }

    private mutating func object() throws(JSONValue.ParsingError) -> JSONValue {
        var members: [String: JSONValue] = [:]
        skipSpace()
        if skip("}") { return .object(members) }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw error("a key in quotes is expected") }
            let key = try string()
            skipSpace()
            guard skip(":") else { throw error("':' is expected after a key") }
            members[key] = try value()
            skipSpace()
        } while skip(",")
        guard skip("}") else { throw error("',' or '}' is expected") }
        return .object(members)
    }

    private mutating func array() throws(JSONValue.ParsingError) -> JSONValue {
        var elements: [JSONValue] = []
        skipSpace()
        if skip("]") { return .array(elements) }
        repeat {
            elements.append(try value())
            skipSpace()
        } while skip(",")
        guard skip("]") else { throw error("',' or ']' is expected") }
        return .array(elements)
    }

    private mutating func word(_ text: StaticString, _ value: JSONValue) throws(JSONValue.ParsingError) -> JSONValue {
        let end = position + text.utf8CodeUnitCount
        guard end <= bytes.count, text.withUTF8Buffer({ bytes[position..<end].elementsEqual($0) }) else {
            throw error("a value is expected")
        }
        position = end
        return value
    }

    private mutating func number() throws(JSONValue.ParsingError) -> JSONNumber {
        let start = position
        _ = skip("-")
        if !skip("0") { try digits() }
        if skip(".") { try digits() }
        if skip("e") || skip("E") {
            _ = skip("+") || skip("-")
            try digits()
        }
        return .init(validated: String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func digits() throws(JSONValue.ParsingError) {
        let start = position
        while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) { position += 1 }
        guard position > start else { throw error("a digit is expected") }
    }

    private mutating func string() throws(JSONValue.ParsingError) -> String {
        position += 1
        let start = position
        var escaped: [UInt8]?
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                let text = String(validating: escaped ?? Array(bytes[start..<position]), as: UTF8.self)
                guard let text else {
                    position = start
                    throw error("a string is not valid UTF-8")
                }
                position += 1
                return text
            case UInt8(ascii: "\\"):
                if escaped == nil { escaped = Array(bytes[start..<position]) }
                position += 1
                escaped?.append(contentsOf: String(try escape()).utf8)
            case 0..<0x20: throw error("a control character is not escaped")
            default:
                escaped?.append(byte)
                position += 1
            }
        }
        throw error("a string is not closed")
    }

    /// Parses what follows a backslash.
    private mutating func escape() throws(JSONValue.ParsingError) -> Unicode.Scalar {
        guard let byte = next else { throw error("a string is not closed") }
        position += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return .init(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): break
        default:
            position -= 1
            throw error("no character is escaped like this")
        }
        let first = try codeUnit()
        if let scalar = Unicode.Scalar(first) { return scalar }
        let start = position
        if first < 0xDC00, skip("\\"), skip("u") {
            let second = try codeUnit()
            if (0xDC00...0xDFFF).contains(second) {
                let value = 0x10000 + (UInt32(first) - 0xD800) << 10 + UInt32(second) - 0xDC00
                if let scalar = Unicode.Scalar(value) { return scalar }
            }
        }
        position = start
        throw error("a surrogate has no counterpart")
    }

    private mutating func codeUnit() throws(JSONValue.ParsingError) -> UInt16 {
        let end = position + 4
        guard end <= bytes.count, bytes[position..<end].allSatisfy(Self.isHexadecimal),
            let value = UInt16(String(decoding: bytes[position..<end], as: UTF8.self), radix: 16)
        else { throw error("four hexadecimal digits are expected") }
        position = end
        return value
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric && (byte < UInt8(ascii: "A") || byte | 0x20 <= UInt8(ascii: "f"))
    }
}
