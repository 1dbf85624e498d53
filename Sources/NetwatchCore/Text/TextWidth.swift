/// How many columns of a terminal text takes.
///
/// Each scalar counts by itself, as wcwidth(3) and so ncurses count: clusters such as families of emoji, about which
/// terminals disagree, are taken apart before (``Swift/StringProtocol/shownOnScreen(asASCII:)``).
public enum TextWidth {
    /// The columns of one scalar: 0 for a mark on the character before it, 2 for a wide one, otherwise 1.
    public static func columns(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        if isMark(scalar) { return 0 }
        return WideCharacters.contains(scalar) ? 2 : 1
    }

    /// The columns of a text without control characters.
    public static func columns(_ text: some StringProtocol) -> Int {
        var isASCII = true
        var count = 0
        for byte in text.utf8 {
            if byte >= 0x80 {
                isASCII = false
                break
            }
            count += 1
        }
        return isASCII ? count : text.unicodeScalars.reduce(0) { $0 + columns($1) }
    }

    /// Marks, and the vowels and finals of Hangul, which join the consonant before them.
    static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case ..<0x300: false
        case 0x1160...0x11FF, 0xD7B0...0xD7FF: true
        case 0x2010...0x2BFF where !(0x20D0...0x20FF).contains(scalar.value): false
        default:
            scalar.properties.generalCategory == .nonspacingMark
                || scalar.properties.generalCategory == .enclosingMark
        }
    }
}
