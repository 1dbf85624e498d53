extension StringProtocol {
    /// The text with everything escaped that a terminal might obey, or that would break a line.
    ///
    /// The kernel lets an interface's name contain control characters, and a file's name may contain anything.
    public var escapedForTerminal: String {
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
    public var isControl: Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028, 0x2029, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}

extension Character {
    /// 0 to 9, and none of the other digits that Unicode has.
    public var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
