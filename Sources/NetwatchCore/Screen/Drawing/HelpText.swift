import ReachabilityCore

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
