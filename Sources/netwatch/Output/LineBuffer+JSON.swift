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
        append(text: text.escapedForJSONAndTerminal)
        append(UInt8(ascii: "\""))
    }

    /// Apart, because hardly a name needs it, and what it needs should not be paid for each name.
    @inline(never)
    private mutating func replace(from start: Int, escapedForJSON text: String) {
        remove(from: start)
        append(text: text.escapedForJSON)
    }

    private static func mustEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == 0x7F || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }
}
