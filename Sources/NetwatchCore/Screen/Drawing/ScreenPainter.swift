import ReachabilityCore

/// Draws the live view on a screen of a size.
struct ScreenPainter {
    let view: LiveView
    let size: ScreenSize

    /// What the screen shows.
    var frame: Frame {
        var frame = Frame(lines: [], nextChange: view.nextChange)
        guard size.rows > 0, size.columns > 0 else { return frame }
        let layout = layout
        guard let footer = layout.footer else {
            frame.lines = header
            return frame
        }
        let (lastLine, cursor) = FooterPart(view: view, columns: size.columns).line()
        if let overlay = view.navigation.overlay {
            let part = OverlayPart(view: view, columns: size.columns)
            frame.lines = assemble([(0..<layout.header, header), (overlayRows, part.lines(overlay, overlayRows.count))])
        } else {
            frame.lines = assemble(parts(layout))
        }
        frame.lines.append(lastLine.trimmed)
        frame.cursor = cursor.map { .init(row: footer, column: $0) }
        return frame
    }

    /// Which rows each part has.
    var layout: ScreenLayout {
        guard size.rows >= ScreenLayout.leastRows, size.columns >= ScreenLayout.leastColumns else {
            return .init(headerOnly: size.rows)
        }
        return .init(
            rows: size.rows,
            header: header.count,
            interfaces: view.interfaces.count,
            destinations: view.destinations.count,
            timeline: TimelinePart(view: view, columns: size.columns).mostRows
        )
    }

    /// The rows of what lies over the screen.
    var overlayRows: Range<Int> {
        let start = header.count + (size.rows >= 20 ? 1 : 0)
        return start..<max(start, size.rows - 1)
    }

    private var header: [StyledLine] {
        let isSmall = size.rows < ScreenLayout.leastRows || size.columns < ScreenLayout.leastColumns
        let most = isSmall ? size.rows : min(max(size.rows / 4, 6), size.rows - 5, 8)
        return HeaderPart(view: view, columns: size.columns).lines(atMost: most).map(\.trimmed)
    }

    private func parts(_ layout: ScreenLayout) -> [(Range<Int>, [StyledLine])] {
        let columns = size.columns
        return [
            (0..<layout.header, header),
            (layout.interfaces, InterfacesPart(view: view, columns: columns).lines(layout.interfaces.count)),
            (layout.destinations, DestinationsPart(view: view, columns: columns).lines(layout.destinations.count)),
            (layout.timeline, TimelinePart(view: view, columns: columns).lines(layout.timeline.count)),
            (layout.log, LogPart(view: view, columns: columns).lines(layout.log.count)),
        ]
    }

    /// All rows but the last, those between the parts empty.
    private func assemble(_ parts: [(Range<Int>, [StyledLine])]) -> [StyledLine] {
        var lines = [StyledLine](repeating: .init(), count: size.rows - 1)
        for (rows, part) in parts {
            for (row, line) in zip(rows, part) where row < lines.count { lines[row] = line.trimmed }
        }
        return lines
    }
}

/// Which rows of the screen each part has.
struct ScreenLayout: Hashable {
    /// How many lines the top has.
    private(set) var header: Int
    /// The table of interfaces, with its heading.
    private(set) var interfaces = 0..<0
    /// The hosts, with their heading.
    private(set) var destinations = 0..<0
    /// The timeline.
    private(set) var timeline = 0..<0
    /// The log, with its heading.
    private(set) var log = 0..<0
    /// The last line's row; nil if there is none.
    private(set) var footer: Int?

    /// A screen for the top alone, for one that is too small for more.
    init(headerOnly rows: Int) { header = rows }

    /// Shares the rows.
    ///
    /// - Parameters:
    ///   - rows: How many there are, at least ``leastRows``.
    ///   - header: How many the top takes.
    ///   - interfaces: How many interfaces there are.
    ///   - destinations: How many hosts there are.
    ///   - mostTimeline: How many rows the timeline has a use for.
    init(rows: Int, header: Int, interfaces: Int, destinations: Int, timeline mostTimeline: Int) {
        self.header = header
        footer = rows - 1
        let hasGaps = rows >= 20
        var parts = Parts(
            rows: rows - header - 1 - (hasGaps ? 1 : 0),
            gap: hasGaps ? 1 : 0,
            hasDestinations: destinations > 0
        )
        parts.share(interfaces: interfaces, destinations: destinations, timeline: mostTimeline)
        var row = header + (hasGaps ? 1 : 0)
        let gap = hasGaps ? 1 : 0
        func place(_ count: Int) -> Range<Int> {
            guard count > 0 else { return row..<row }
            defer { row += count + gap }
            return row..<row + count
        }
        self.interfaces = place(parts.interfaces)
        self.destinations = place(parts.destinations)
        timeline = place(parts.timeline)
        log = row..<max(row, rows - 1)
    }

    /// With fewer, the top alone is shown.
    static let leastRows = 8
    /// With fewer, the top alone is shown.
    static let leastColumns = 24

    /// How many rows each part has.
    private struct Parts {
        /// For all of them.
        private var rest: Int
        var interfaces = 0
        var destinations = 0
        var timeline = 0

        init(rows: Int, gap: Int, hasDestinations: Bool) {
            rest = rows - gap * (hasDestinations ? 3 : 2)
        }

        /// The least first, then what each part would like; what is left is the log's.
        mutating func share(interfaces all: Int, destinations hosts: Int, timeline most: Int) {
            rest -= 3  // The log's least.
            give(2, to: \.interfaces)
            give(1, to: \.timeline)
            if hosts > 0 { give(2, to: \.destinations) }
            give(1, to: \.timeline)
            let half = max((rest + 1) / 2, 0)
            give(min(max(all - 1, 0), half), to: \.interfaces)
            give(min(max(hosts - 1, 0), rest / 2), to: \.destinations)
            while rest >= 4, timeline < most { give(1, to: \.timeline) }
        }

        private mutating func give(_ wished: Int, to part: WritableKeyPath<Self, Int>) {
            let given = max(min(wished, rest), 0)
            self[keyPath: part] += given
            rest -= given
        }
    }
}

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
