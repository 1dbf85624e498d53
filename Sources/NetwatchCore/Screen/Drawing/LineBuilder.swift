/// Puts together one line that is never too wide.
package struct LineBuilder {
    private var runs: [StyledLine.Run] = []
    /// How many columns are taken.
    package private(set) var used = 0
    /// Whether something had to be cut, so that nothing more is added.
    private var isFull = false
    private let columns: Int
    private let ellipsis: String

    /// Creates an empty line of so many columns.
    package init(_ columns: Int, _ glyphs: Glyphs) {
        self.columns = columns
        ellipsis = glyphs.ellipsis
    }

    /// The columns that are left.
    package var rest: Int { isFull ? 0 : columns - used }

    /// The line so far.
    package var line: StyledLine { .init(runs) }

    /// Adds text, cut where the line ends.
    package mutating func add(_ text: String, _ style: Style = .plain) {
        guard !text.isEmpty, rest > 0 else { return }
        let width = TextWidth.columns(text)
        guard width > rest else { return append(text, width, style) }
        let clipped = TextFit.clip(text, to: rest, ellipsis: ellipsis)
        append(clipped, TextWidth.columns(clipped), style)
        isFull = true
    }

    /// Adds text in so many columns.
    package mutating func add(_ text: String, _ style: Style = .plain, in width: Int, isRight: Bool = false) {
        let clipped = TextFit.clip(text, to: min(width, rest), ellipsis: ellipsis)
        let space = width - TextWidth.columns(clipped)
        if isRight { pad(to: used + space) }
        append(clipped, TextWidth.columns(clipped), style)
        if !isRight { pad(to: used + space) }
    }

    /// Adds spaces up to a column.
    package mutating func pad(to column: Int, _ style: Style = .plain) {
        let count = min(column, columns) - used
        if count > 0 { append(String(repeating: " ", count: count), count, style) }
    }

    /// Adds text at the right end, if there is room for it, with two spaces at least before it.
    package mutating func addAtEnd(_ text: String, _ style: Style) { addAtEnd([.init(text, style)]) }

    /// Adds several pieces at the right end, two spaces between them; those that do not fit are left out from the last.
    mutating func addAtEnd(_ pieces: [StyledLine.Run]) {
        var kept = pieces.filter { !$0.text.isEmpty }
        func width() -> Int { kept.reduce(2 * kept.count) { $0 + TextWidth.columns($1.text) } }
        while width() > rest, !kept.isEmpty { kept.removeLast() }
        pad(to: columns - max(width() - 2, 0))
        for (position, piece) in kept.enumerated() {
            if position > 0 { pad(to: used + 2) }
            add(piece.text, piece.style)
        }
    }

    /// Exchanges the colors of the whole line, to its end.
    mutating func reverse() {
        pad(to: columns)
        for position in runs.indices { runs[position].style.isReversed = true }
    }

    private mutating func append(_ text: String, _ width: Int, _ style: Style) {
        guard !text.isEmpty else { return }
        used += width
        if let last = runs.indices.last, runs[last].style == style {
            runs[last].text += text
        } else {
            runs.append(.init(text, style))
        }
    }
}

extension StyledLine {
    /// The line with the number of rows that do not fit, and the keys that show them.
    static func rest(_ count: Int, isScrolled: Bool, _ columns: Int, _ glyphs: Glyphs) -> Self {
        var line = LineBuilder(columns, glyphs)
        line.add("  \(count) more, \(isScrolled ? "\(glyphs.arrows) to see them" : "tab to scroll them")", .init(.dim))
        return line.line
    }

    /// The line without spaces at its end, which a cleared screen shows anyway.
    package var trimmed: Self {
        var runs = runs
        while let last = runs.last, !last.style.isReversed {
            guard let end = last.text.unicodeScalars.lastIndex(where: { $0 != " " }) else {
                runs.removeLast()
                continue
            }
            runs[runs.count - 1].text = String(last.text.unicodeScalars[...end])
            break
        }
        return .init(runs)
    }
}
