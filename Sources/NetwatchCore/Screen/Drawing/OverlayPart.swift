import ReachabilityCore

/// What lies over the screen: help, the details of one event, or an explanation.
struct OverlayPart {
    let view: LiveView
    let columns: Int

    /// A heading, and as many lines as have room, from where it was scrolled to.
    func lines(_ overlay: Navigation.Overlay, _ rows: Int) -> [StyledLine] {
        guard rows > 0 else { return [] }
        let all = contents(overlay)
        let room = rows - 1
        let top = min(view.navigation.overlayTop, max(all.count - room, 0))
        return [heading(overlay, top, min(room, all.count - top), all.count)] + all.dropFirst(top).prefix(room)
    }

    /// All of its lines, wrapped.
    func contents(_ overlay: Navigation.Overlay) -> [StyledLine] {
        let words = view.words
        let paragraphs: [Paragraph] =
            switch overlay {
            case .help: HelpText(glyphs: view.glyphs).paragraphs
            case .details(let entry): DetailsText(entry: entry, words: words).paragraphs
            case .explanation(let lines): lines.map { Paragraph(explained: $0, words) }
            }
        return paragraphs.flatMap { $0.lines(columns, view.glyphs) }
    }

    private func heading(_ overlay: Navigation.Overlay, _ top: Int, _ shown: Int, _ all: Int) -> StyledLine {
        var line = LineBuilder(columns, view.glyphs)
        line.add(title(overlay), .init(.heading, isBold: true))
        if shown < all {
            let range = "\(top + 1)\(view.glyphs.range)\(top + shown) of \(all) lines"
            line.addAtEnd(range, .init(.dim))
        }
        return line.line
    }

    private func title(_ overlay: Navigation.Overlay) -> String {
        switch overlay {
        case .help: "HELP"
        case .details(let entry): "EVENT \(entry.change.sequence)"
        case .explanation: "WHY THE STATE IS WHAT IT IS"
        }
    }
}

/// A label and text beside it, or text alone; wrapped, the text keeps to its column.
struct Paragraph {
    /// Before the text, in the label's style.
    var label = ""
    /// In which column the text begins.
    var indentation = 0
    /// The text.
    var text = ""
    /// How the label looks.
    var labelStyle = Style(.key)
    /// How the text looks.
    var style = Style.plain

    /// As many lines as it takes; an empty one for nothing.
    func lines(_ columns: Int, _ glyphs: Glyphs) -> [StyledLine] {
        let start = indentation < columns * 2 / 3 ? indentation : min(indentation, 2)
        let texts = TextFit.wrap(text, max(columns - start, 1))
        guard !texts.isEmpty else { return [line(columns, glyphs, isFirst: true, start, "")] }
        let labelFits = TextWidth.columns(label) < max(start, 1) || label.isEmpty
        let head = labelFits ? [] : [line(columns, glyphs, isFirst: true, start, "")]
        return head
            + texts.enumerated().map { position, text in
                line(columns, glyphs, isFirst: position == 0 && labelFits, start, text)
            }
    }

    private func line(_ columns: Int, _ glyphs: Glyphs, isFirst: Bool, _ start: Int, _ text: String) -> StyledLine {
        var line = LineBuilder(columns, glyphs)
        if isFirst { line.add(label, labelStyle) }
        if !text.isEmpty {
            line.pad(to: start)
            line.add(text, style)
        }
        return line.line
    }

    /// A line of `netwatch explain`, whose indentation its continuation keeps.
    init(explained line: String, _ words: PathWords) {
        let text = words.safe(line)
        indentation = text.prefix { $0 == " " }.count
        self.text = text
        if indentation == 0 { style = .init(isBold: true) }
    }

    init(label: String = "", at indentation: Int = 0, _ text: String = "", style: Style = .plain) {
        (self.label, self.indentation, self.text, self.style) = (label, indentation, text, style)
    }

    /// A line by itself that begins a part.
    static func heading(_ text: String) -> Self { .init(text, style: .init(.heading, isBold: true)) }
}
