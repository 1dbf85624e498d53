/// A screen without the parts that differ between runs: times, durations, rates and their graphs, and the reasons of
/// changes, some of which are combined if the kernel's messages are read together.
///
/// The rest is compared word by word, as the gaps between columns depend on them.
enum MaskedScreen {
    /// The rows, without the empty ones at the end.
    static func text(_ rows: [String]) -> String {
        var lines = rows.map(line)
        while lines.last == "" { lines.removeLast() }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func line(_ row: String) -> String {
        guard !isBand(row) else { return "(band)" }
        guard !row.hasPrefix("LAST HOUR") else { return "LAST HOUR (counts)" }
        var words: [String] = []
        for word in row.split(separator: " ") {
            let masked = mask(String(word))
            // A number and its unit, and adjacent graphs, are one word.
            if masked == "(unit)", words.last == "(n)" { continue }
            if masked == "…", words.last == "(reason)" { continue }
            if masked == words.last, masked.hasPrefix("(") { continue }
            words.append(masked)
        }
        return words.joined(separator: " ")
    }

    private static func mask(_ word: String) -> String {
        let bare = word.filter { !"(),".contains($0) }
        if bare.allSatisfy({ "▁▂▃▄▅▆▇█".contains($0) }), !bare.isEmpty { return "(graph)" }
        if bare.wholeMatch(of: /\d\d:\d\d:\d\d(\.\d+)?/) != nil { return word.replacing(bare, with: "(time)") }
        // Where there is no space for it, a reason ends with an ellipsis.
        if bare.wholeMatch(of: /[a-z]+\.[a-zA-Z.]*…?|[a-z]+…/) != nil { return "(reason)" }
        // A metric is in brackets, and stays.
        if word.hasPrefix("("), word.hasSuffix(")") { return word }
        if bare.wholeMatch(of: /\d+(\.\d+)?[kMG]?/) != nil { return word.replacing(bare, with: "(n)") }
        if ["s", "ms", "us", "µs", "min", "h"].contains(bare) { return "(unit)" }
        return word
    }

    /// Whether the row is the picture of the last hour, whose cells are as wide as time has passed.
    private static func isBand(_ row: String) -> Bool {
        let marks = row.filter { $0 != " " }
        return marks.count > 8 && marks.allSatisfy { "·✗●▲█▄?▆░▒▓━".contains($0) }
    }
}
