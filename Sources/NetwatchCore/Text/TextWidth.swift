/// Makes text fit into columns.
///
/// Takes text that a screen can show (``Swift/StringProtocol/shownOnScreen(asASCII:)``).
enum TextFit {
    /// The text, cut with an ellipsis if it is too wide.
    ///
    /// A wide character that would stand half outside is left out, so that the result may be a column narrower.
    static func clip(_ text: String, to columns: Int, ellipsis: String) -> String {
        guard TextWidth.columns(text) > columns else { return text }
        guard columns > 0 else { return "" }
        let room = columns - TextWidth.columns(ellipsis)
        guard room >= 0 else { return prefix(text, columns) }
        return prefix(text, room) + ellipsis
    }

    /// As many characters from the start as have room.
    static func prefix(_ text: String, _ columns: Int) -> String {
        var kept = String.UnicodeScalarView()
        var used = 0
        for scalar in text.unicodeScalars {
            used += TextWidth.columns(scalar)
            if used > columns { break }
            kept.append(scalar)
        }
        return String(kept)
    }

    /// The text as lines, broken between words; a word that is wider than a line is broken anywhere.
    static func wrap(_ text: String, _ columns: Int) -> [String] {
        guard columns > 0 else { return [] }
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ", omittingEmptySubsequences: true) {
            let joined = line.isEmpty ? String(word) : line + " " + word
            if TextWidth.columns(joined) <= columns {
                line = joined
                continue
            }
            if !line.isEmpty { lines.append(line) }
            line = breaking(String(word), columns, &lines)
        }
        return line.isEmpty ? lines : lines + [line]
    }

    /// Breaks a word; what is left of it begins the next line.
    private static func breaking(_ word: String, _ columns: Int, _ lines: inout [String]) -> String {
        var rest = word
        while TextWidth.columns(rest) > columns {
            let piece = prefix(rest, columns)
            // A wide character in one column cannot be shown at all.
            guard !piece.isEmpty else { return "" }
            lines.append(piece)
            rest = String(rest.unicodeScalars.dropFirst(piece.unicodeScalars.count))
        }
        return rest
    }
}

/// How many columns of a terminal text takes.
///
/// Each scalar counts by itself, as wcwidth(3) and so ncurses count: clusters such as families of emoji, about which
/// terminals disagree, are taken apart before (``Swift/StringProtocol/shownOnScreen(asASCII:)``).
package enum TextWidth {
    /// The columns of one scalar: 0 for a mark on the character before it, 2 for a wide one, otherwise 1.
    package static func columns(_ scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        if isMark(scalar) { return 0 }
        return WideCharacters.contains(scalar) ? 2 : 1
    }

    /// The columns of a text without control characters.
    package static func columns(_ text: some StringProtocol) -> Int {
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

/// The characters that take two columns of a terminal.
///
/// East_Asian_Width `W` and `F` of Unicode 15.1 (UAX #11, `EastAsianWidth.txt`); where between two ranges nothing is
/// assigned, or only what takes no column, they are one. Circled numbers on squares (U+3248) and hexagrams (U+4DC0) are wide
/// too, as the C library and later versions have them.
enum WideCharacters {
    /// Whether a scalar takes two columns.
    static func contains(_ scalar: Unicode.Scalar) -> Bool {
        guard scalar.value >= 0x1100 else { return false }
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < scalar.value { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(scalar.value)
    }

    /// In order.
    private static let ranges: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x231A...0x231B, 0x2329...0x232A, 0x23E9...0x23EC, 0x23F0...0x23F0, 0x23F3...0x23F3,
        0x25FD...0x25FE, 0x2614...0x2615, 0x2648...0x2653, 0x267F...0x267F, 0x2693...0x2693, 0x26A1...0x26A1,
        0x26AA...0x26AB, 0x26BD...0x26BE, 0x26C4...0x26C5, 0x26CE...0x26CE, 0x26D4...0x26D4, 0x26EA...0x26EA,
        0x26F2...0x26F3, 0x26F5...0x26F5, 0x26FA...0x26FA, 0x26FD...0x26FD, 0x2705...0x2705, 0x270A...0x270B,
        0x2728...0x2728, 0x274C...0x274C, 0x274E...0x274E, 0x2753...0x2755, 0x2757...0x2757, 0x2795...0x2797,
        0x27B0...0x27B0, 0x27BF...0x27BF, 0x2B1B...0x2B1C, 0x2B50...0x2B50, 0x2B55...0x2B55, 0x2E80...0x303E,
        0x3041...0xA4C6, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE10...0xFE6B, 0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x1_6FE0...0x1_8D08, 0x1_AFF0...0x1_B2FB,
        0x1_F004...0x1_F004, 0x1_F0CF...0x1_F0CF, 0x1_F18E...0x1_F18E, 0x1_F191...0x1_F19A, 0x1_F200...0x1_F320,
        0x1_F32D...0x1_F335, 0x1_F337...0x1_F37C, 0x1_F37E...0x1_F393, 0x1_F3A0...0x1_F3CA, 0x1_F3CF...0x1_F3D3,
        0x1_F3E0...0x1_F3F0, 0x1_F3F4...0x1_F3F4, 0x1_F3F8...0x1_F43E, 0x1_F440...0x1_F440, 0x1_F442...0x1_F4FC,
        0x1_F4FF...0x1_F53D, 0x1_F54B...0x1_F54E, 0x1_F550...0x1_F567, 0x1_F57A...0x1_F57A, 0x1_F595...0x1_F596,
        0x1_F5A4...0x1_F5A4, 0x1_F5FB...0x1_F64F, 0x1_F680...0x1_F6C5, 0x1_F6CC...0x1_F6CC, 0x1_F6D0...0x1_F6D2,
        0x1_F6D5...0x1_F6DF, 0x1_F6EB...0x1_F6EC, 0x1_F6F4...0x1_F6FC, 0x1_F7E0...0x1_F7F0, 0x1_F90C...0x1_F93A,
        0x1_F93C...0x1_F945, 0x1_F947...0x1_F9FF, 0x1_FA70...0x1_FAF8, 0x2_0000...0x3_FFFD,
    ]
}
