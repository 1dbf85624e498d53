import ReachabilityCore

/// The last hour as a band, and how available the network was.
struct TimelinePart {
    let view: LiveView
    let columns: Int

    /// In one line the figures of the hour; in two the band too; in three a scale; in four the figures since the start.
    func lines(_ rows: Int) -> [StyledLine] {
        guard rows > 0 else { return [] }
        let hour = figures("LAST HOUR", isInitial ? "(\(age))" : "", view.timeline.availability(in: window))
        switch rows {
        case 1: return [hour]
        case 2: return [hour, band]
        case 3: return [hour, band, scale]
        default: return [hour, band, scale, sinceStart]
        }
    }

    /// How many lines there is something to say in: in the first hour, what is said of that is all.
    var maximumRows: Int { isInitial ? 3 : 4 }

    private var isInitial: Bool { view.timeline.start >= window.lowerBound }

    private var sinceStart: StyledLine {
        isInitial ? .init() : figures("ALL", age, view.timeline.availability(until: view.clock.shown))
    }

    private var glyphs: Glyphs { view.glyphs }

    private var window: Range<Instant> { view.clock.shown.advanced(by: .seconds(-3600))..<view.clock.shown }

    private var age: String { DurationText.age(view.timeline.start.duration(to: view.clock.shown)) }

    /// As many cells as have room, each of so many seconds that an hour has a whole number of them.
    private var cells: Int { [180, 120, 90, 72, 60, 40, 36, 30, 24, 20].first { $0 <= columns } ?? max(columns, 1) }

    private var band: StyledLine {
        let band = TimelineBand(
            view.timeline,
            until: view.clock.shown,
            cellLength: .seconds(3600) / cells,
            count: cells
        )
        var line = LineBuilder(columns, glyphs)
        for cell in band.cells { line.add(glyphs.cell(cell), .init(cell?.role ?? .dim)) }
        return line.line
    }

    /// Minutes ago, below the cells.
    private var scale: StyledLine {
        var line = LineBuilder(columns, glyphs)
        for (quarter, label) in ["60 min", "45", "30", "15"].enumerated() {
            line.pad(to: cells * quarter / 4)
            line.add(label, .init(.dim))
        }
        line.pad(to: cells - 3)
        line.add("now", .init(.dim))
        return line.line
    }

    private func figures(_ title: String, _ span: String, _ sum: Availability) -> StyledLine {
        var line = LineBuilder(columns, glyphs)
        line.add(title, .init(.heading, isBold: true))
        if !span.isEmpty { line.add(" " + span, .init(.heading)) }
        line.add("  ")
        for (position, statement) in AvailabilityWords(view.clock.shown).statements(sum).enumerated() {
            let text = (position > 0 ? glyphs.separator : "") + statement
            guard TextWidth.columns(text) <= line.rest || position == 0 else { break }
            line.add(text, .init(position == 0 ? role(sum) : .plain))
        }
        return line.line
    }

    private func role(_ sum: Availability) -> Style.Role {
        guard let share = sum.share else { return .unknown }
        return sum.isOut ? .bad : share == 10_000 ? .ok : .plain
    }
}

/// Words for how available the network was.
struct AvailabilityWords {
    private let now: Instant

    init(_ now: Instant) { self.now = now }

    /// Statements, the most important first.
    func statements(_ sum: Availability) -> [String] {
        guard let share = sum.share else { return ["nothing known yet"] }
        var statements = ["\(Self.percent(share)) available", outages(sum)]
        if sum.isOut { statements.append("going on for \(DurationText.age(sum.newest))") }
        if sum.outages > 1 { statements.append("longest \(DurationText.length(sum.longest))") }
        if !sum.isOut, let end = sum.lastEnd {
            statements.append("last ended \(DurationText.age(end.duration(to: now))) ago")
        }
        if sum.unknown >= .seconds(1) { statements.append("\(DurationText.length(sum.unknown)) unknown") }
        return statements
    }

    /// `100 %`, `99.98 %`.
    private static func percent(_ share: Int) -> String {
        share % 100 == 0 ? "\(share / 100) %" : HistoryText.share(share)
    }

    private func outages(_ sum: Availability) -> String {
        switch sum.outages {
        case 0: "no outage"
        case 1 where sum.isOut: "1 outage"
        case 1: "1 outage, \(DurationText.length(sum.down))"
        default: "\(sum.outages) outages, \(DurationText.length(sum.down)) in all"
        }
    }
}
