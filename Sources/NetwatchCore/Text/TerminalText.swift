extension StringProtocol {
    /// The text with everything escaped that a terminal might obey, or that would break a line.
    ///
    /// The kernel lets an interface's name contain control characters, and a file's name may contain anything.
    package var escapedForTerminal: String {
        var escaped = ""
        for scalar in unicodeScalars {
            if scalar.isControl {
                escaped += "\\u{" + String(scalar.value, radix: 16) + "}"
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}

extension Unicode.Scalar {
    /// C0, DEL and C1 controls, and the characters that change lines or the direction of writing.
    package var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension Character {
    /// 0 to 9, and none of the other digits that Unicode has.
    package var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}

extension StringProtocol {
    /// The text as the inside of a JSON string (RFC 8259, section 7), without quotation marks.
    ///
    /// The quotation mark, the backslash and the controls are escaped. DEL is too, though it need not be: a terminal might
    /// obey it.
    package var escapedForJSON: String { unicodeScalars.map { $0.isASCII ? $0.escapedForJSON : String($0) }.joined() }

    /// The same for what strangers chose: controls beyond ASCII, which a terminal might obey, are escaped too.
    package var escapedForJSONAndTerminal: String {
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

extension StringProtocol {
    /// The text as one word of a shell's command line: special characters are escaped by a backslash.
    ///
    /// The kernel lets an interface be called `a;reboot`, and a fix is there to be copied.
    package var shellWord: String {
        var word = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", ":", "@", "%", "+", "=", ",", "/": break
            default: if scalar.isASCII, !scalar.isControl { word += "\\" }
            }
            word.unicodeScalars.append(scalar)
        }
        return word
    }
}
