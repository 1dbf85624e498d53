/// Reads a field's value from its beginning to its end, by RFC 9110, 5.6.
struct FieldScanner {
    private let bytes: [UInt8]
    private(set) var position = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { position == bytes.count }

    /// The next byte; nil at the end.
    var next: UInt8? { isAtEnd ? nil : bytes[position] }

    /// Whether nothing follows of this element of a list.
    var isAtElementEnd: Bool { isAtEnd || bytes[position] == UInt8(ascii: ",") }

    /// Goes back, or on, to a place that was read from ``position``.
    mutating func move(to position: Int) { self.position = position }

    /// Passes over spaces and tabs.
    mutating func skipSpace() { skip { $0 == 0x20 || $0 == 0x09 } }

    /// Passes over what stands between the elements of a list, empty ones included.
    mutating func skipSeparators() { skip { $0 == 0x20 || $0 == 0x09 || $0 == UInt8(ascii: ",") } }

    private mutating func skip(while condition: (UInt8) -> Bool) {
        while let next, condition(next) { position += 1 }
    }

    /// Takes a byte, if it is the next one.
    mutating func take(_ byte: UInt8) -> Bool {
        guard next == byte else { return false }
        position += 1
        return true
    }

    /// Takes a token; nil if there is none.
    mutating func token() -> String? { text(while: Self.isTokenByte) }

    /// Takes what RFC 9110, 11.2, calls token68, if it is all that this element has.
    mutating func token68() -> String? {
        let start = position
        skip(while: Self.isToken68Byte)
        guard position > start else { return nil }
        skip { $0 == UInt8(ascii: "=") }
        let end = position
        skipSpace()
        guard isAtElementEnd else {
            position = start
            return nil
        }
        return String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Takes a parameter's value, quoted or not; nil if there is none, or its quotes are not closed.
    mutating func value() -> String? {
        guard take(UInt8(ascii: "\"")) else { return token() }
        var text: [UInt8] = []
        while let next {
            position += 1
            switch next {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = self.next else { return nil }
                position += 1
                text.append(escaped)
            default: text.append(next)
            }
        }
        return nil
    }

    /// Passes over the rest of an element that can't be read; a comma within quotes does not end it.
    mutating func skipElement() {
        while let next, next != UInt8(ascii: ",") {
            if next == UInt8(ascii: "\"") { _ = value() } else { position += 1 }
        }
    }

    private mutating func text(while condition: (UInt8) -> Bool) -> String? {
        let start = position
        skip(while: condition)
        return position > start ? String(decoding: bytes[start..<position], as: UTF8.self) : nil
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }

    private static func isToken68Byte(_ byte: UInt8) -> Bool {
        isAlphanumeric(byte) || "-._~+/".utf8.contains(byte)
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}
