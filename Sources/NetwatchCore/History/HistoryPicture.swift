package import ReachabilityCore

/// A history as a picture (SVG 1.1): a band for each day, with the outages marked.
///
/// It has no scripts, and follows the reader's choice of a light or a dark scheme. No state is shown by color alone.
package struct HistoryPicture: Sendable {
    private let history: History
    private let window: Range<Instant>
    private let days: [(day: LocalDay, availability: Availability)]
    /// Those that began in the window.
    private let outages: [Outage]
    private let clock: @Sendable (Timestamp) -> String

    /// Creates a picture.
    ///
    /// - Parameters:
    ///   - history: What to draw.
    ///   - window: Of which time.
    ///   - days: The place's days; those of which nothing is known are left out.
    ///   - clock: Writes moments.
    package init(
        _ history: History,
        in window: Range<Instant>,
        days: LocalDays,
        clock: @escaping @Sendable (Timestamp) -> String
    ) {
        self.history = history
        self.window = window
        self.clock = clock
        self.days = history.knownDays(days, in: window)
        outages = history.outages(in: window).filter { $0.start >= window.lowerBound }
    }

    private static let left = 96
    private static let bandWidth = 864
    private static let width = left + bandWidth + 80
    private static let top = 64
    private static let rowHeight = 30
    private static let bandHeight = 16

    /// The picture's text.
    package var text: String {
        let height = Self.top + days.count * Self.rowHeight + 44
        let sum = history.timeline.availability(in: window)
        let share = HistoryText.share(sum.share)
        let first = days.first?.day.date.text ?? "-"
        let last = days.last?.day.date.text ?? "-"
        let outages = sum.outages == 1 ? "1 outage" : "\(sum.outages) outages"
        let summary = "\(share) available, \(outages), away for \(DurationText.length(sum.down))"
        var lines = [
            #"<?xml version="1.0" encoding="UTF-8"?>"#,
            #"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \#(Self.width) \#(height)" role="img" "#
                + #"aria-labelledby="title desc" font-family="system-ui, sans-serif" font-size="12">"#,
            #"<title id="title">Network availability, \#(first) to \#(last)</title>"#,
            #"<desc id="desc">\#(summary). A band for each day shows when the network was reachable.</desc>"#,
            Self.style, Self.hatching,
            #"<rect class="page" width="\#(Self.width)" height="\#(height)"/>"#,
            Self.word("Network availability, \(first) to \(last)", x: 12, y: 20, "head"),
            Self.word(summary, x: 12, y: 38, "dim"),
        ]
        lines += hours
        for (number, known) in days.enumerated() {
            lines += row(known.day, known.availability, y: Self.top + number * Self.rowHeight)
        }
        return (lines + legend(y: height - 16) + ["</svg>", ""]).joined(separator: "\n")
    }

    private static let style = """
        <style>
        .page{fill:#fff}.ink{fill:#1b1f24}.head{fill:#1b1f24;font-size:15px;font-weight:600}.dim{fill:#59636e}
        .none{fill:#eef0f2}.wifi{fill:#2da44e}.cellular{fill:#a5d6b3}.away{fill:#cf222e}.unknown{fill:url(#hatching)}
        .line{stroke:#59636e;stroke-width:1}.tick{stroke:#d0d7de;stroke-width:1}
        @media (prefers-color-scheme: dark){
        .page{fill:#0d1117}.ink,.head{fill:#e6edf3}.dim{fill:#9198a1}
        .none{fill:#1c2128}.wifi{fill:#238636}.cellular{fill:#7ee2a0}.away{fill:#ff6a69}
        .line{stroke:#9198a1}.tick{stroke:#3d444d}}
        </style>
        """

    private static let hatching = """
        <defs><pattern id="hatching" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">\
        <path class="line" d="M0 0V6"/></pattern></defs>
        """

    private var hours: [String] {
        stride(from: 0, through: 24, by: 3).flatMap { hour -> [String] in
            let x = Self.left + Self.bandWidth * hour / 24
            let bottom = Self.top + days.count * Self.rowHeight - 8
            return [
                #"<path class="tick" d="M\#(x) \#(Self.top - 4)V\#(bottom)"/>"#,
                Self.word("\(hour < 10 ? "0" : "")\(hour)", x: x, y: Self.top - 8, "dim", anchor: "middle"),
            ]
        }
    }

    private func row(_ day: LocalDay, _ sum: Availability, y: Int) -> [String] {
        let share = HistoryText.share(sum.share)
        return [Self.word(day.date.text, x: 12, y: y + 13, "ink")]
            + HistoryBand(history, day, in: window, width: Self.bandWidth).stretches.map { stretch in
                Self.rectangle(stretch.cells.lowerBound + Self.left, y, stretch.cells.count, stretch.look)
            }
            + outages(of: day, y)
            + [Self.word(share, x: Self.width - 12, y: y + 13, "ink", anchor: "end")]
    }

    /// A mark below the band for each outage, which shows its details when pointed at.
    private func outages(of day: LocalDay, _ y: Int) -> [String] {
        outages.filter { isOf(day, $0.start) }.map { outage in
            let x = Self.left + HistoryBand.cell(of: outage.start, day, width: Self.bandWidth)
            let foot = y + Self.bandHeight + 8
            let start = clock(.init(nanosecondsSinceEpoch: outage.start.nanoseconds))
            let why = outage.reasons.isEmpty ? "" : ": " + outage.reasons.joined(separator: ", ")
            let words = "Outage of \(outage.length(in: history, until: window.upperBound)) from \(start)\(why)"
            return #"<path class="away" d="M\#(x) \#(foot - 7)L\#(x - 4) \#(foot)H\#(x + 4)Z">"#
                + "<title>\(words.escapedForTerminal.escapedForMarkup)</title></path>"
        }
    }

    /// As ``History/knownDays(_:in:)`` counts: what begins at the window's end is of the day that ends there.
    private func isOf(_ day: LocalDay, _ start: Instant) -> Bool {
        day.span.contains(start) || (start == window.upperBound && start == day.span.upperBound)
    }

    private func legend(y: Int) -> [String] {
        var x = Self.left
        var lines: [String] = []
        let looks: [HistoryBand.Look] = [.wifi, .cellular, .away, .unknown, .none]
        for look in looks {
            lines.append(Self.rectangle(x, y - 11, 14, look))
            lines.append(Self.word(look.name, x: x + 20, y: y, "dim"))
            x += 130
        }
        lines.append(#"<path class="away" d="M\#(x + 7) \#(y - 9)l-4 7h8Z"/>"#)
        return lines + [Self.word("an outage begins", x: x + 20, y: y, "dim")]
    }

    private static func rectangle(_ x: Int, _ y: Int, _ width: Int, _ look: HistoryBand.Look) -> String {
        #"<rect class="\#(look.rawValue)" x="\#(x)" y="\#(y)" width="\#(width)" height="\#(look.height(bandHeight))"/>"#
    }

    private static func word(_ text: String, x: Int, y: Int, _ look: String, anchor: String? = nil) -> String {
        let place = anchor.map { #" text-anchor="\#($0)""# } ?? ""
        let markup = text.escapedForTerminal.escapedForMarkup
        return #"<text class="\#(look)" x="\#(x)" y="\#(y)"\#(place)>\#(markup)</text>"#
    }
}

/// A day's states as stretches of cells; what weighs most in a cell is what it shows, so that no outage is lost.
struct HistoryBand {
    /// How a stretch looks, by the name of its class; the heavier comes later.
    enum Look: String, CaseIterable {
        case none
        case unknown
        case wifi
        case cellular
        case away

        /// The name in the legend.
        var name: String {
            switch self {
            case .none: "no record"
            case .unknown: "unknown"
            case .wifi: "wifi or wired"
            case .cellular: "cellular"
            case .away: "not reachable"
            }
        }

        /// How high it is drawn: cellular paths are lower, so that color is not their only sign.
        func height(_ whole: Int) -> Int { self == .cellular ? whole * 5 / 8 : whole }

        fileprivate init(_ status: ReachabilityStatus) {
            switch status {
            case .unknown: self = .unknown
            case .notReachable: self = .away
            case .cellular: self = .cellular
            case .wifi: self = .wifi
            }
        }

        fileprivate var weight: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// Some cells that look the same.
    struct Stretch {
        var cells: Range<Int>
        var look: Look
    }

    /// The stretches from midnight to midnight, without gap.
    let stretches: [Stretch]

    init(_ history: History, _ day: LocalDay, in window: Range<Instant>, width: Int) {
        var cells = [Look](repeating: .none, count: width)
        for span in history.timeline.spans(in: day.span.clamped(to: window)) {
            let look = Look(span.status)
            let first = Self.cell(of: span.start, day, width: width)
            // What ends with a cell has no part in the next.
            let end = Instant(nanoseconds: max(span.start.nanoseconds, span.end.nanoseconds - 1))
            let last = Self.cell(of: end, day, width: width)
            for cell in first...max(first, last) where cells[cell].weight < look.weight { cells[cell] = look }
        }
        var stretches: [Stretch] = []
        for (cell, look) in cells.enumerated() {
            if let last = stretches.last, last.look == look {
                stretches[stretches.count - 1].cells = last.cells.lowerBound..<cell + 1
            } else {
                stretches.append(.init(cells: cell..<cell + 1, look: look))
            }
        }
        self.stretches = stretches
    }

    /// The cell of a moment of a day, whatever its length.
    static func cell(of moment: Instant, _ day: LocalDay, width: Int) -> Int {
        let length = Int128(day.span.upperBound.nanoseconds) - Int128(day.span.lowerBound.nanoseconds)
        let part = Int128(moment.nanoseconds) - Int128(day.span.lowerBound.nanoseconds)
        guard length > 0 else { return 0 }
        return Int(min(max(part * Int128(width) / length, 0), Int128(width - 1)))
    }
}
