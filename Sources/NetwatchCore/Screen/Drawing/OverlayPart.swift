import ReachabilityCore

/// The overlay: help, the details of one event, or an explanation.
struct OverlayPart {
    let view: LiveView
    let columns: Int

    /// A heading, and as many of all lines as have room, from where it was scrolled to.
    func lines(_ overlay: Navigation.Overlay, _ all: [StyledLine], _ rows: Int) -> [StyledLine] {
        guard rows > 0 else { return [] }
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

/// A label with text next to it, or text alone; wrapped text keeps to its column.
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

/// Everything about one change.
struct DetailsText {
    let entry: LogEntry
    let words: PathWords

    /// From the time to each reason's meaning and cure.
    var paragraphs: [Paragraph] {
        let change = entry.change
        var fields: [(String, String)] = [("time", entry.time.whole)]
        if let latency = entry.latency {
            fields.append(("latency", DurationText.latency(latency) + " from reading the kernel's message"))
        }
        fields.append(("event", change.event.rawValue))
        fields.append(("state", change.status.word + (change.previous.map { ", before \($0.word)" } ?? "")))
        fields += path(change.path)
        return fields.map { Paragraph(label: $0.0, at: 11, $0.1) } + reasons
    }

    private func path(_ path: NetworkPath) -> [(String, String)] {
        guard let interface = path.interface else { return [("path", "none")] }
        var fields = [("interface", words.named(interface) + ", number \(interface.index)")]
        let carriers = path.carriers.map(words.named).joined(separator: ", ")
        fields.append(("carriers", carriers.isEmpty ? "not known" : carriers))
        if let ipv4 = path.ipv4 { fields.append(("IPv4", family(ipv4))) }
        if let ipv6 = path.ipv6 { fields.append(("IPv6", family(ipv6))) }
        let costs = (path.isExpensive ? ["expensive"] : []) + (path.isConstrained ? ["constrained"] : [])
        if !costs.isEmpty { fields.append(("cost", costs.joined(separator: ", "))) }
        return fields
    }

    private func family(_ path: FamilyPath) -> String {
        let gateway = path.gateway.map { "via \($0) " } ?? "on link "
        let table = path.table == .main ? "" : " table \(path.table.rawValue)"
        return words.safe(path.interface.name) + " \(gateway)source \(path.source) metric \(path.metric)\(table)"
    }

    private var reasons: [Paragraph] {
        entry.reasons.flatMap { reason in
            [Paragraph(), .init(reason.rawValue, style: .init(isBold: true))]
                + [Paragraph(at: 2, reason.meaning.filled(nil))]
                + (reason.cure.map { [Paragraph(label: "  cure", at: 11, $0.filled(interfaceName))] } ?? [])
        }
    }

    private var interfaceName: String? { entry.change.path.interface.map { words.safe($0.name) } }
}

/// The help: the keys, and what the marks mean.
struct HelpText {
    let glyphs: Glyphs

    /// The keys first.
    var paragraphs: [Paragraph] { keys + marks + figures }

    private var keys: [Paragraph] {
        let keys = [
            ("q", "quit"),
            ("?", "this help"),
            (glyphs.isASCII ? "up down j k" : "↑ ↓ j k", "choose an event of the log; the mouse's wheel scrolls"),
            ("PgUp PgDn", "a page"),
            ("Home End", "the newest event, the oldest"),
            ("Enter", "all about the chosen event"),
            ("/", "show only events with these words: of state, reason, interface, address or time"),
            ("Space", "hold the log; the rest of the screen goes on"),
            ("Esc", "close, deselect, clear the filter"),
            ("Tab", "scroll the links, the hosts, or the log again, where some have no room"),
            ("e", "why the state is what it is: every route, and what ruled it out"),
            ("r", "record the kernel's messages in a file (netwatch replay shows it), or stop"),
        ]
        return [.heading("Keys")] + keys.map { Paragraph(label: "  " + $0.0, at: 15, $0.1) } + [Paragraph()]
    }

    private var marks: [Paragraph] {
        let states: [(ReachabilityStatus, String)] = [
            (.wifi, "wifi: reachable over WiFi, a cable, or another link that is not cellular"),
            (.cellular, "cellular: reachable over a mobile network's modem"),
            (.notReachable, "not reachable: there is no usable default path"),
            (.unknown, "unknown: not read yet, or the machine was suspended"),
        ]
        let marks = states.map { ("\(glyphs.mark($0.0)) \(glyphs.cell($0.0))", $0.1) }
        let pointer = (glyphs.pointer, "the interface that the path leaves through; \(glyphs.beneath) what carries it")
        return [.heading("Marks, and cells of the timeline")]
            + (marks + [pointer]).map { Paragraph(label: "  " + $0.0, at: 15, $0.1) } + [Paragraph()]
    }

    private var figures: [Paragraph] {
        let figures = [
            ("timeline", "a cell shows the worst that happened in it, however short"),
            ("available", "of the time in which the state was known"),
            ("traffic", "a bar's step is ten times as much: up to 1 kB/s, 10 kB/s, and so on to 100 MB/s and more"),
            ("latency", "from reading the kernel's message to the event"),
        ]
        return [.heading("Figures")] + figures.map { Paragraph(label: "  " + $0.0, at: 15, $0.1) }
    }
}
