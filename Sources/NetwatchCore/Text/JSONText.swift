/// A JSON text (RFC 8259), whose parts are decoded on demand.
package struct JSONText: Sendable {
    /// How deep arrays and objects may be nested, so that a hostile text cannot exhaust the stack.
    static let maximumDepth = 512

    private let bytes: ArraySlice<UInt8>

    /// Validates a text.
    ///
    /// - Throws: ``JSONError`` with line and column.
    package init(_ bytes: ArraySlice<UInt8>) throws(JSONError) {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            let position = bytes.startIndex + error.byteOffsets.lowerBound
            throw JSONScanner(bytes, at: position).fault("this is no UTF-8")
        }
        var scanner = JSONScanner(bytes, at: bytes.startIndex)
        try scanner.text()
        self.bytes = bytes
    }

    private init(part: ArraySlice<UInt8>) { bytes = part }

    /// The members of an object; nil for another value.
    ///
    /// Of equal names, the last one counts.
    package var members: [String: JSONText]? {
        guard let parts = parts(of: UInt8(ascii: "{")) else { return nil }
        var members: [String: JSONText] = [:]
        for index in stride(from: 0, to: parts.count, by: 2) {
            guard let name = parts[index].string else { return nil }
            members[name] = parts[index + 1]
        }
        return members
    }

    /// The elements of an array; nil for another value.
    package var elements: [JSONText]? { parts(of: UInt8(ascii: "[")) }

    /// A string; nil for another value, and for one with an unpaired surrogate.
    package var string: String? {
        guard trimmed.first == UInt8(ascii: "\"") else { return nil }
        let inner = trimmed.dropFirst().dropLast()
        return inner.contains(UInt8(ascii: "\\")) ? Self.unescaped(inner) : String(decoding: inner, as: UTF8.self)
    }

    /// A number; nil for another value.
    package var number: Double? { Double(String(decoding: trimmed, as: UTF8.self)) }

    /// A whole number, exactly; nil for another value, and for one that is negative or has a fraction.
    package var wholeNumber: UInt64? {
        let text = String(decoding: trimmed, as: UTF8.self)
        return UInt64(text) ?? number.flatMap { UInt64(exactly: $0) }
    }

    /// Whether it is `null`.
    package var isNull: Bool { trimmed.first == UInt8(ascii: "n") }

    /// `true` or `false`; nil for another value.
    package var boolean: Bool? {
        switch trimmed.first {
        case UInt8(ascii: "t"): true
        case UInt8(ascii: "f"): false
        default: nil
        }
    }

    /// Whether it is `true`.
    package var isTrue: Bool { trimmed.first == UInt8(ascii: "t") }

    private var trimmed: ArraySlice<UInt8> {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D }
        let end = bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? bytes.startIndex
        return bytes[..<end].drop(while: isSpace)
    }

    /// The names and values of an object in turn, or the elements of an array.
    private func parts(of mark: UInt8) -> [JSONText]? {
        guard trimmed.first == mark else { return nil }
        var scanner = JSONScanner(bytes, at: bytes.startIndex)
        guard (try? scanner.text()) != nil else { return nil }
        return scanner.parts.map { JSONText(part: bytes[$0]) }
    }

    private static func unescaped(_ inner: ArraySlice<UInt8>) -> String? {
        var units: [UInt16] = []
        var rest = inner
        while let byte = rest.first {
            guard byte == UInt8(ascii: "\\") else {
                let plain = rest.prefix { $0 != UInt8(ascii: "\\") }
                units += String(decoding: plain, as: UTF8.self).utf16
                rest = rest.dropFirst(plain.count)
                continue
            }
            let mark = rest[rest.startIndex + 1]
            if mark == UInt8(ascii: "u") {
                let digits = String(decoding: rest.dropFirst(2).prefix(4), as: UTF8.self)
                units.append(UInt16(digits, radix: 16) ?? 0)
                rest = rest.dropFirst(6)
            } else {
                units.append(UInt16(escapes[mark] ?? mark))
                rest = rest.dropFirst(2)
            }
        }
        return String(validating: units, as: UTF16.self)
    }

    private static let escapes: [UInt8: UInt8] = [
        UInt8(ascii: "b"): 0x08, UInt8(ascii: "f"): 0x0C, UInt8(ascii: "n"): 0x0A, UInt8(ascii: "r"): 0x0D,
        UInt8(ascii: "t"): 0x09,
    ]
}

/// Why bytes are not JSON, and where.
package struct JSONError: Error, Hashable, CustomStringConvertible {
    /// Line and column, then what is wrong there.
    package let description: String
}

/// Walks over a JSON text.
private struct JSONScanner: ~Copyable {
    private let bytes: ArraySlice<UInt8>
    private var position: Int
    /// Where the names and values of the outermost object are, or the elements of the outermost array.
    private(set) var parts: [Range<Int>] = []

    init(_ bytes: ArraySlice<UInt8>, at position: Int) {
        self.bytes = bytes
        self.position = position
    }

    /// Walks over the whole text.
    mutating func text() throws(JSONError) {
        try value(depth: 0)
        guard next == nil else { throw fault("the text should end here") }
    }

    // MARK: The grammar

    private mutating func value(depth: Int) throws(JSONError) {
        let maximum = JSONText.maximumDepth
        guard depth <= maximum else { throw fault("it is nested deeper than \(maximum) levels") }
        switch next {
        case UInt8(ascii: "{"): try items(until: UInt8(ascii: "}"), depth, isObject: true)
        case UInt8(ascii: "["): try items(until: UInt8(ascii: "]"), depth, isObject: false)
        case UInt8(ascii: "\""): try string()
        case let byte? where byte == UInt8(ascii: "-") || Self.isDigit(byte): try number()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        default: throw fault("a value is missing")
        }
    }

    private mutating func items(until end: UInt8, _ depth: Int, isObject: Bool) throws(JSONError) {
        position += 1
        if take(end) { return }
        repeat {
            if isObject {
                guard next == UInt8(ascii: "\"") else { throw fault("a name in double quotes is missing") }
                let start = position
                try string()
                if depth == 0 { parts.append(start..<position) }
                guard take(UInt8(ascii: ":")) else { throw fault("a ':' is missing") }
            }
            let start = position
            try value(depth: depth + 1)
            if depth == 0 { parts.append(start..<position) }
        } while take(UInt8(ascii: ","))
        guard take(end) else { throw fault("a ',' or '\(Character(Unicode.Scalar(end)))' is missing") }
    }

    private mutating func string() throws(JSONError) {
        position += 1
        while let byte = current {
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"): try escape()
            case 0..<0x20: throw fault("a control character stands in a string; escape it")
            default: position += 1
            }
        }
        throw fault("a string is not ended")
    }

    private mutating func escape() throws(JSONError) {
        position += 1
        switch current {
        case UInt8(ascii: "u"):
            position += 1
            for _ in 0..<4 {
                guard let digit = current, Self.isHexDigit(digit) else { throw fault("\\u takes four hex digits") }
                position += 1
            }
        case let byte? where #""\/bfnrt"#.utf8.contains(byte): position += 1
        default: throw fault("there is no such escape")
        }
    }

    private mutating func number() throws(JSONError) {
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") {
            position += 1
            if let digit = current, Self.isDigit(digit) { throw fault("a number cannot begin with 0") }
        } else {
            try digits()
        }
        if current == UInt8(ascii: ".") {
            position += 1
            try digits()
        }
        guard current == UInt8(ascii: "e") || current == UInt8(ascii: "E") else { return }
        position += 1
        if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { position += 1 }
        try digits()
    }

    private mutating func digits() throws(JSONError) {
        guard let digit = current, Self.isDigit(digit) else { throw fault("a digit is missing") }
        while let digit = current, Self.isDigit(digit) { position += 1 }
    }

    private mutating func word(_ word: StaticString) throws(JSONError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard current == word.utf8Start[index] else { throw fault("the word is not \(word)") }
            position += 1
        }
    }

    // MARK: The text

    private var current: UInt8? { position < bytes.endIndex ? bytes[position] : nil }

    /// The first byte behind white space, where the position then is; nil at the end.
    private var next: UInt8? {
        mutating get {
            while let byte = current, byte == 0x20 || (0x09...0x0A).contains(byte) || byte == 0x0D { position += 1 }
            return current
        }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || (0x41...0x46).contains(byte & 0xDF)
    }

    /// An error at the position; columns count characters' scalars, from 1.
    borrowing func fault(_ what: String) -> JSONError {
        let before = bytes[..<position]
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? before.startIndex
        let column = before[start...].count { $0 & 0xC0 != 0x80 } + 1
        return .init(description: "line \(line), column \(column): \(what)")
    }
}
