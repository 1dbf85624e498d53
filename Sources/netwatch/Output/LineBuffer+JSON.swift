import NetwatchCore

extension LineBuffer {
    /// Appends a JSON string (RFC 8259), quotation marks and all.
    mutating func append(quotedForJSON text: String) {
        append(UInt8(ascii: "\""))
        let start = count
        append(text: text)
        if contains(from: start, where: Self.mustEscape) { replace(from: start, escapedForJSON: text) }
        append(UInt8(ascii: "\""))
    }

    /// The same for what strangers chose: also controls beyond ASCII are escaped, which a terminal might obey.
    mutating func append(quotedForJSONAndTerminal text: String) {
        append(UInt8(ascii: "\""))
        for scalar in text.unicodeScalars {
            if scalar.isASCII || !scalar.isControl {
                for byte in String(scalar).utf8 { append(escapedForJSON: byte) }
            } else {
                append(#"\u"#)
                for shift in [12, 8, 4, 0] { append(hexadecimal: UInt8(scalar.value >> UInt32(shift) & 15)) }
            }
        }
        append(UInt8(ascii: "\""))
    }

    /// Apart, because hardly a name needs it, and what it needs should not be paid for each name.
    @inline(never)
    private mutating func replace(from start: Int, escapedForJSON text: String) {
        remove(from: start)
        for byte in text.utf8 { append(escapedForJSON: byte) }
    }

    /// RFC 8259, section 7: the quotation mark, the backslash and the controls are escaped; all else stands for itself.
    ///
    /// DEL is escaped too, though it need not be: a terminal might obey it.
    private static func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func append(escapedForJSON byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): append(#"\""#)
        case UInt8(ascii: "\\"): append(#"\\"#)
        case UInt8(ascii: "\n"): append(#"\n"#)
        case UInt8(ascii: "\r"): append(#"\r"#)
        case UInt8(ascii: "\t"): append(#"\t"#)
        case _ where Self.mustEscape(byte):
            append(#"\u00"#)
            append(hexadecimal: byte >> 4)
            append(hexadecimal: byte & 15)
        default: append(byte)
        }
    }

    private mutating func append(hexadecimal digit: UInt8) {
        append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
    }
}
