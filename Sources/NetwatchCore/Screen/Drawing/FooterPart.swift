import ReachabilityCore

/// The last line: what is being typed, what a recording came to, or the keys.
struct FooterPart {
    let view: LiveView
    let columns: Int

    /// The line, and where the cursor stands in it if something is being typed.
    func line() -> (line: StyledLine, cursor: Int?) {
        if let draft = view.navigation.draft { return typing(draft) }
        if let note { return (note, nil) }
        var line = LineBuilder(columns, glyphs)
        for (position, hint) in hints.enumerated() {
            let space = position > 0 ? "  " : ""
            let width = TextWidth.columns(space + hint.key + " " + hint.word)
            guard width <= line.rest else { continue }
            line.add(space + hint.key, .init(.key))
            line.add(" " + hint.word, .init(.dim))
        }
        return (line.line, nil)
    }

    private var glyphs: Glyphs { view.glyphs }

    /// The end of a long text stays visible.
    private func typing(_ draft: String) -> (StyledLine, Int?) {
        var line = LineBuilder(columns, glyphs)
        line.add("/", .init(.key, isBold: true))
        var text = view.words.safe(draft)
        while TextWidth.columns(text) > max(columns - 2, 0), !text.isEmpty { text.unicodeScalars.removeFirst() }
        line.add(text)
        let cursor = min(line.used, max(columns - 1, 0))
        let hint = "enter to keep, esc to drop"
        if TextWidth.columns(hint) + 4 < line.rest { line.addAtEnd(hint, .init(.dim)) }
        return (line.line, cursor)
    }

    private var note: StyledLine? {
        var line = LineBuilder(columns, glyphs)
        switch view.recording {
        case .failed(let why): line.add("can't record: " + view.words.safe(why), .init(.bad))
        case .saved(let path, let bytes):
            line.add("recorded \(AmountText.size(bytes: bytes)) in " + view.words.safe(path), .init(.ok))
        case .off, .on: return nil
        }
        return line.line
    }

    private var hints: [(key: String, word: String)] {
        guard view.navigation.overlay == nil else {
            return [("esc", "close"), (glyphs.arrows, "scroll"), ("?", "help")]
        }
        let isRecording = if case .on = view.recording { true } else { false }
        return [
            ("q", "quit"), ("?", "help"), ("/", "filter"), ("space", view.log.isPaused ? "go on" : "pause"),
            ("enter", "details"), ("e", "explain"), ("r", isRecording ? "stop recording" : "record"),
            (glyphs.arrows, "scroll"),
        ]
    }
}
