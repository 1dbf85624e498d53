import ReachabilityCore
import ValidationCore

/// The top: the state, since when, the path, and what is wrong.
struct HeaderPart {
    let view: LiveView
    let columns: Int

    /// As many lines as there is something to say, and no more than have room.
    func lines(atMost rows: Int) -> [StyledLine] {
        let rest = path() + reason(atMost: max(rows - 1, 0))
        return Array(([title()] + rest).prefix(max(rows, 0)))
    }

    private var glyphs: Glyphs { view.glyphs }

    private func title() -> StyledLine {
        let status = view.verdict.status
        var line = LineBuilder(columns, glyphs)
        let mark = glyphs.mark(status)
        // The mark alone is clearer than a part of the word.
        let word = columns < 6 ? mark : "\(mark) \(status.word)"
        line.add(word, .init(status.role, isBold: true))
        guard columns >= 6 else { return line.line }
        line.add("  " + since)
        for word in costs { line.add(glyphs.separator + word, .init(.warning)) }
        if let (word, role) = verdict { line.add(glyphs.separator + word, .init(role)) }
        line.addAtEnd([.init(recordingSign, .init(.bad, isBold: true)), .init(place, .init(.dim))])
        return line.line
    }

    /// The verdict of validation in a word.
    private var verdict: (String, Style.Role)? {
        switch view.verdict.validation?.verdict {
        case .validated?: ("validated", .dim)
        case .portal?: ("portal", .bad)
        case .noInternet?: ("no internet", .bad)
        case .notChecked?, nil: nil
        }
    }

    private var recordingSign: String {
        guard case .on(_, let bytes) = view.recording else { return "" }
        return "\(glyphs.record) REC \(AmountText.size(bytes: bytes))"
    }

    /// The watched machine and namespace, for users who watch several.
    private var place: String {
        let namespace = view.options.namespace.map { "netns " + $0 }
        return [view.options.machine, namespace].compactMap(\.self).map { view.words.safe($0) }
            .joined(separator: glyphs.separator)
    }

    private var since: String {
        let verdict = view.verdict
        let age = DurationText.age(verdict.since.duration(to: view.clock.shown))
        return "since \(verdict.sinceTime.text(on: view.clock.today, precise: false)), \(age)"
    }

    private var costs: [String] {
        (view.verdict.path.isExpensive ? ["expensive"] : []) + (view.verdict.path.isConstrained ? ["constrained"] : [])
    }

    private func path() -> [StyledLine] {
        let path = view.verdict.path
        guard path.status.isReachable else { return [] }
        let radios = path.carriers.compactMap { view.wifi[$0.index]?.text }.filter { !$0.isEmpty }
        let texts = [view.words.path(path)] + radios
        return wrapped(texts.joined(separator: glyphs.separator), atMost: 2).map { indented($0, .plain) }
    }

    /// The sentence and its fix; where there is little room, the end of the sentence is cut in favour of the fix.
    private func reason(atMost rows: Int) -> [StyledLine] {
        guard let sentence = view.verdict.sentence, rows > 0 else { return [] }
        let fix = sentence.fix.map { "Fix: " + view.words.safe($0) } ?? ""
        let kept = wrapped(fix, atMost: max(rows - 1, 0))
        let texts = wrapped(view.words.safe(sentence.text), atMost: max(rows - kept.count, 1))
        let role: Style.Role = view.verdict.status == .notReachable ? .bad : .warning
        return texts.map { indented($0, .init(role)) } + kept.map { indented($0, .init(isBold: true)) }
    }

    /// As lines; where there are more, the last ends with an ellipsis.
    private func wrapped(_ text: String, atMost rows: Int) -> [String] {
        let width = max(columns - 2, 1)
        let lines = TextFit.wrap(text, width)
        guard lines.count > rows, rows > 0 else { return Array(lines.prefix(rows)) }
        let rest = lines[(rows - 1)...].joined(separator: " ")
        return lines.prefix(rows - 1) + [TextFit.clip(rest, to: width, ellipsis: glyphs.ellipsis)]
    }

    private func indented(_ text: String, _ style: Style) -> StyledLine {
        var line = LineBuilder(columns, glyphs)
        if columns > 4 { line.add("  ") }
        line.add(text, style)
        return line.line
    }
}
