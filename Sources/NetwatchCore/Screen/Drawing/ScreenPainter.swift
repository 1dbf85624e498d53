import ReachabilityCore

/// Draws the live view by its layout.
struct ScreenPainter {
    let view: LiveView
    let layout: ScreenLayout

    /// The frame.
    var frame: Frame {
        var frame = Frame(lines: [], nextChange: view.nextChange)
        guard layout.size.rows > 0, layout.size.columns > 0 else { return frame }
        guard let footer = layout.footer else {
            frame.lines = layout.headerLines
            return frame
        }
        let (lastLine, cursor) = FooterPart(view: view, columns: columns).line()
        frame.lines = assemble([(layout.header, layout.headerLines)] + (overlay.map { [$0] } ?? parts))
        frame.lines.append(lastLine.trimmed)
        frame.cursor = cursor.map { .init(row: footer, column: $0) }
        return frame
    }

    private var columns: Int { layout.size.columns }

    private var overlay: (Range<Int>, [StyledLine])? {
        guard let overlay = view.navigation.overlay else { return nil }
        let part = OverlayPart(view: view, columns: columns)
        return (layout.overlay, part.lines(overlay, layout.overlayLines, layout.overlay.count))
    }

    private var parts: [(Range<Int>, [StyledLine])] {
        [
            (layout.interfaces, InterfacesPart(view: view, columns: columns).lines(layout.interfaces.count)),
            (layout.destinations, DestinationsPart(view: view, columns: columns).lines(layout.destinations.count)),
            (layout.timeline, TimelinePart(view: view, columns: columns).lines(layout.timeline.count)),
            (layout.log, LogPart(view: view, columns: columns).lines(layout.log.count)),
        ]
    }

    /// All rows but the last, those between the parts empty.
    private func assemble(_ parts: [(Range<Int>, [StyledLine])]) -> [StyledLine] {
        var lines = [StyledLine](repeating: .init(), count: layout.size.rows - 1)
        for (rows, part) in parts {
            for (row, line) in zip(rows, part) where row < lines.count { lines[row] = line.trimmed }
        }
        return lines
    }
}

/// The last line: the input, the result of a recording, or the keys.
struct FooterPart {
    let view: LiveView
    let columns: Int

    /// The line, and the position of the cursor in it during input.
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
        case .failed(let why): line.add("cannot record: " + view.words.safe(why), .init(.bad))
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
