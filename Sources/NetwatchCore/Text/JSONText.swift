extension StringProtocol {
    /// The text as the inside of a JSON string (RFC 8259, section 7), without quotation marks.
    ///
    /// The quotation mark, the backslash and the controls are escaped. DEL is too, though it need not be: a terminal might
    /// obey it.
    public var escapedForJSON: String { unicodeScalars.map { $0.isASCII ? $0.escapedForJSON : String($0) }.joined() }

    /// The same for what strangers chose: controls beyond ASCII, which a terminal might obey, are escaped too.
    public var escapedForJSONAndTerminal: String {
        unicodeScalars.map { $0.isASCII || $0.isControl ? $0.escapedForJSON : String($0) }.joined()
    }
}

extension Unicode.Scalar {
    /// The character, escaped if it is a control of one code unit or must be.
    fileprivate var escapedForJSON: String {
        switch self {
        case "\"": return "\\\""
        case "\\": return "\\\\"
        case "\n": return "\\n"
        case "\r": return "\\r"
        case "\t": return "\\t"
        case _ where isControl:
            let digits = String(value, radix: 16)
            return "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
        default: return String(self)
        }
    }
}
