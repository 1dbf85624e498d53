import EventCore
import NetwatchCore
import ReachabilityCore

/// The timeline as a picture, of cells of one length each, so that its size does not grow with the number of changes.
struct TimelineDrawing {
    private let cells: [ReachabilityStatus?]

    /// The number of cells.
    static let count = 240

    init(_ timeline: StateTimeline?, span: PageSpan, until moment: Instant) {
        let length = span.duration / Self.count
        cells =
            timeline.map { TimelineBand($0, until: moment, cellLength: length, count: Self.count).cells }
            ?? Array(repeating: nil, count: Self.count)
    }

    /// The picture.
    ///
    /// - Parameter words: What it shows, in words.
    /// - Returns: The markup.
    func markup(_ words: String) -> HTML {
        "<svg class=\"band\" role=\"img\" aria-label=\"\(words)\">\(HTML(runs.map(rectangle)))</svg>"
    }

    private struct Run {
        let status: ReachabilityStatus
        let cells: Range<Int>
    }

    /// The cells of the same state next to each other, as one.
    private var runs: [Run] {
        var runs: [Run] = []
        for (position, cell) in cells.enumerated() {
            guard let cell else { continue }
            if let last = runs.last, last.status == cell, last.cells.upperBound == position {
                runs[runs.count - 1] = .init(status: cell, cells: last.cells.lowerBound..<(position + 1))
            } else {
                runs.append(.init(status: cell, cells: position..<(position + 1)))
            }
        }
        return runs
    }

    private func rectangle(_ run: Run) -> HTML {
        """
        <rect x="\(Self.percent(run.cells.lowerBound))" width="\(Self.percent(run.cells.count))" \
        \(run.status.bar)/>
        """
    }

    /// A number of cells, as a part of the width to a hundredth of a per cent.
    private static func percent(_ cells: Int) -> String {
        let hundredths = cells * 10_000 / count
        return "\(hundredths / 100).\(hundredths % 100 / 10)\(hundredths % 10)%"
    }
}

extension EventPage {
    /// The timeline, with the share of the time in which the network was reachable.
    var timelineSection: HTML {
        let end = Instant(nanoseconds: now.sinceBoot)
        let drawing = TimelineDrawing(history.timeline(until: end), span: span, until: end)
        return """
            <section id="timeline" aria-labelledby="timeline-title"><div class="bar">
            <h2 id="timeline-title">Timeline</h2>
            <nav aria-label="Time that the timeline covers">\(HTML(PageSpan.allCases.map(link)))</nav></div>
            <div id="timeline-picture" class="live">\(drawing.markup(summary))
            <p class="axis" aria-hidden="true">\(axis)</p>
            <p class="summary">\(summary)</p></div>
            <p class="legend" aria-hidden="true">\(Self.legend)</p></section>

            """
    }

    private func link(_ choice: PageSpan) -> HTML {
        let mark: HTML? = choice == span ? " aria-current=\"true\"" : nil
        return "<a href=\"?span=\(choice.rawValue)\"\(mark)>\(choice.words)</a>"
    }

    private var axis: HTML {
        HTML(
            (0..<4).map { part in
                "<span>\(DurationText.length(span.duration * (4 - part) / 4)) ago</span>"
            } + ["<span>now</span>"]
        )
    }

    /// The availability within that time.
    ///
    /// `Reachable 99.87 % of the last hour; 2 outages, 4.7 s in all, the longest 4.2 s.`
    private var summary: String {
        let end = Instant(nanoseconds: now.sinceBoot)
        guard let timeline = history.timeline(until: end) else {
            return "Nothing is known of the last \(span.words)."
        }
        let sum = timeline.availability(in: end.advanced(by: .zero - span.duration)..<end)
        guard let share = sum.share else { return "Nothing is known of \(period(timeline.start, end))." }
        let text = "\(share / 100).\(share % 100 / 10)\(share % 10)"
        return "Reachable \(text) % of \(period(timeline.start, end))\(Self.outages(sum))."
    }

    private func period(_ start: Instant, _ end: Instant) -> String {
        guard start > end.advanced(by: .zero - span.duration) else { return "the last \(span.words)" }
        return "the \(length(from: start.nanoseconds, to: end.nanoseconds)) since the service started"
    }

    private static func outages(_ sum: Availability) -> String {
        let (down, longest) = (DurationText.length(sum.down), DurationText.length(sum.longest))
        switch sum.outages {
        case 0: return "; no outage"
        case 1: return "; 1 outage of \(down)"
        default: return "; \(sum.outages) outages, \(down) in all, the longest \(longest)"
        }
    }

    private static let legend = HTML(
        [ReachabilityStatus.wifi, .cellular, .notReachable, .unknown].map { status in
            "<span><svg class=\"band key\"><rect width=\"100%\" \(status.bar)/></svg> \(status.word)</span>"
        }
    )
}

extension ReachabilityStatus {
    /// The attributes of its bar, whose height tells the state as its color does.
    fileprivate var bar: HTML {
        let top =
            switch self {
            case .wifi, .notReachable: 0
            case .cellular: 45
            case .unknown: 85
            }
        return "class=\"\(name)\" y=\"\(top)%\" height=\"\(100 - top)%\""
    }
}

extension PageSpan {
    /// The length in words, as in `the last hour`.
    fileprivate var words: String {
        switch self {
        case .tenMinutes: "10 minutes"
        case .hour: "hour"
        case .day: "24 hours"
        case .week: "7 days"
        }
    }
}
