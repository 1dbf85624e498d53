/// Makes text fit into columns.
///
/// Takes text that a screen can show (``Swift/StringProtocol/shownOnScreen(asASCII:)``).
enum TextFit {
    /// The text, cut where it is too wide; an ellipsis tells so.
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
            // A wide character in one column can't be shown at all.
            guard !piece.isEmpty else { return "" }
            lines.append(piece)
            rest = String(rest.unicodeScalars.dropFirst(piece.unicodeScalars.count))
        }
        return rest
    }
}
