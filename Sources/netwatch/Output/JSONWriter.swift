/// Writes JSON (RFC 8259) as UTF-8 bytes, without white space, member by member.
///
/// Commas are its business; that keys and values alternate is its caller's.
struct JSONWriter {
    /// What was written so far.
    private(set) var bytes: [UInt8] = []
    /// Whether a comma must stand before the next key or element.
    private var needsComma = false

    /// Reserves room for a usual line, so that writing it allocates once.
    init() { bytes.reserveCapacity(768) }

    /// Writes an object as an element or a value; the body writes its members.
    mutating func object(_ members: (inout Self) -> Void) {
        enclosed("{", "}", members)
    }

    /// Writes an array as an element or a value.
    mutating func array<Elements: Sequence>(_ elements: Elements, _ write: (inout Self, Elements.Element) -> Void) {
        enclosed("[", "]") { writer in
            for element in elements { write(&writer, element) }
        }
    }

    /// Writes a member's key; its value must follow.
    mutating func key(_ name: String) {
        string(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    /// Writes a string, or null.
    mutating func string(_ value: String?) {
        guard let value else { return null() }
        separate()
        bytes.append(UInt8(ascii: "\""))
        for byte in value.utf8 { append(escaping: byte) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes a whole number.
    mutating func integer(_ value: some BinaryInteger) {
        literal(String(value))
    }

    /// Ends the line.
    mutating func lineFeed() {
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Writes null.
    mutating func null() {
        literal("null")
    }

    private mutating func literal(_ text: String) {
        separate()
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func enclosed(_ open: Unicode.Scalar, _ close: Unicode.Scalar, _ body: (inout Self) -> Void) {
        separate()
        bytes.append(UInt8(ascii: open))
        needsComma = false
        body(&self)
        bytes.append(UInt8(ascii: close))
        needsComma = true
    }

    private mutating func separate() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// RFC 8259, section 7: the quotation mark, the backslash and the controls are escaped; all else stands for itself.
    ///
    /// DEL is escaped too, though it need not be: a terminal might obey it.
    private mutating func append(escaping byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
        case UInt8(ascii: "\n"): bytes += "\\n".utf8
        case UInt8(ascii: "\r"): bytes += "\\r".utf8
        case UInt8(ascii: "\t"): bytes += "\\t".utf8
        case 0..<0x20, 0x7F: bytes += "\\u00".utf8 + [Self.hexadecimal(byte >> 4), Self.hexadecimal(byte & 15)]
        default: bytes.append(byte)
        }
    }

    private static func hexadecimal(_ digit: UInt8) -> UInt8 {
        digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
    }
}
