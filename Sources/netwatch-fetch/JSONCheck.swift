import CommandLineSupport

/// Tells whether bytes are one JSON text (RFC 8259), and where not.
///
/// Nothing is made of it: what the user wrote goes out as it is.
struct JSONCheck: ~Copyable {
    /// How deep lists and objects may be nested, lest a hostile text exhaust the stack.
    static let deepest = 512

    private let bytes: [UInt8]
    private var position = 0

    /// Throws unless the bytes are JSON.
    ///
    /// - Throws: ``ArgumentError`` with line and column.
    static func check(_ bytes: [UInt8]) throws(ArgumentError) {
        do {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            throw JSONCheck(bytes, at: error.byteOffsets.lowerBound).fault("this is no UTF-8")
        }
        var check = JSONCheck(bytes, at: 0)
        try check.value(depth: 0)
        guard check.next == nil else { throw check.fault("the text should end here") }
    }

    private init(_ bytes: [UInt8], at position: Int) {
        self.bytes = bytes
        self.position = position
    }

    // MARK: The grammar

    private mutating func value(depth: Int) throws(ArgumentError) {
        guard depth <= Self.deepest else { throw fault("it is nested deeper than \(Self.deepest) levels") }
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

    private mutating func items(until end: UInt8, _ depth: Int, isObject: Bool) throws(ArgumentError) {
        position += 1
        if take(end) { return }
        repeat {
            if isObject {
                guard next == UInt8(ascii: "\"") else { throw fault("a name in double quotes is missing") }
                try string()
                guard take(UInt8(ascii: ":")) else { throw fault("a ':' is missing") }
            }
            try value(depth: depth + 1)
        } while take(UInt8(ascii: ","))
        guard take(end) else { throw fault("a ',' or '\(Character(Unicode.Scalar(end)))' is missing") }
    }

    private mutating func string() throws(ArgumentError) {
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

    private mutating func escape() throws(ArgumentError) {
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

    private mutating func number() throws(ArgumentError) {
        if current == UInt8(ascii: "-") { position += 1 }
        if current == UInt8(ascii: "0") {
            position += 1
            if let digit = current, Self.isDigit(digit) { throw fault("a number can't begin with 0") }
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

    private mutating func digits() throws(ArgumentError) {
        guard let digit = current, Self.isDigit(digit) else { throw fault("a digit is missing") }
        while let digit = current, Self.isDigit(digit) { position += 1 }
    }

    private mutating func word(_ word: StaticString) throws(ArgumentError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard current == word.utf8Start[index] else { throw fault("the word is not \(word)") }
            position += 1
        }
    }

    // MARK: The text

    private var current: UInt8? { position < bytes.count ? bytes[position] : nil }

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

    /// What is wrong at the position; columns count characters' scalars, from 1.
    private borrowing func fault(_ what: String) -> ArgumentError {
        let before = bytes.prefix(position)
        let line = before.count { $0 == UInt8(ascii: "\n") } + 1
        let start = before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        let column = before[start...].count { $0 & 0xC0 != 0x80 } + 1
        return .init("line \(line), column \(column): \(what)")
    }
}
