import ReachabilityCore

/// The log, the newest change first.
struct LogPart {
    let view: LiveView
    let columns: Int

    /// A heading, and as many changes as have room.
    func lines(_ rows: Int) -> [StyledLine] {
        guard rows > 0 else { return [] }
        let layout = TableLayout(requests, width: columns)
        let top = view.navigation.logTop(of: view.log.shownCount, room: rows - 1)
        let entries = (top..<top + rows - 1).lazy.compactMap(view.log.shown)
        return [heading(top, rows - 1)] + entries.map { row($0, layout) }
    }

    enum Field: Sendable, Hashable {
        case time
        case state
        case reasons
        case path
        case latency
    }

    private var glyphs: Glyphs { view.glyphs }

    private var isWide: Bool { columns >= 100 }

    private var requests: [TableLayout<Field>.ColumnRequest] {
        [
            .init(field: .time, rank: 0, least: 12, ideal: 12), .init(field: .state, rank: 1, least: 15, ideal: 15),
            .init(field: .reasons, rank: 2, least: 10, ideal: 60),
            .init(field: .path, rank: 3, least: isWide ? 18 : 6, ideal: isWide ? 48 : 12),
            .init(field: .latency, rank: 4, least: 7, ideal: 7),
        ]
    }

    private func heading(_ top: Int, _ room: Int) -> StyledLine {
        let log = view.log
        var line = LineBuilder(columns, glyphs)
        line.add("LOG", .init(.heading, isBold: true))
        line.add("  " + count(top, room), .init(.dim))
        if !log.filter.isEmpty { line.add(glyphs.separator + "filter \"\(view.words.safe(log.filter))\"", .init(.key)) }
        if log.isPaused { line.add(glyphs.separator + "paused, \(log.heldCount) new", .init(.warning, isBold: true)) }
        return line.line
    }

    /// How many there are, and which of them are shown if not the newest.
    private func count(_ top: Int, _ room: Int) -> String {
        let log = view.log
        let all = log.shownCount
        let noun = (log.filter.isEmpty ? all : log.count) == 1 ? "event" : "events"
        let total = log.filter.isEmpty ? "\(all) \(noun)" : "\(all) of \(log.count) \(noun)"
        guard top > 0 else { return total }
        return "\(top + 1)\(glyphs.range)\(min(top + max(room, 1), all)) of \(total)"
    }

    private func row(_ entry: LogEntry, _ layout: TableLayout<Field>) -> StyledLine {
        var line = LineBuilder(columns, glyphs)
        for (position, column) in layout.columns.enumerated() {
            if position > 0 { line.pad(to: line.used + layout.gap) }
            let isLatency = column.field == .latency
            line.add(text(column.field, entry), style(column.field, entry), in: column.width, isRight: isLatency)
        }
        if view.navigation.selection == entry.serial { line.reverse() }
        return line.line
    }

    private func text(_ field: Field, _ entry: LogEntry) -> String {
        switch field {
        case .time: entry.time.text(on: view.clock.today, precise: true)
        case .state: "\(glyphs.mark(entry.change.status)) \(entry.change.status.word)"
        case .reasons: entry.reasonText
        case .path: isWide ? view.words.short(entry.change.path) : view.words.shortest(entry.change.path)
        case .latency: entry.latency.map(DurationText.latency) ?? ""
        }
    }

    private func style(_ field: Field, _ entry: LogEntry) -> Style {
        switch field {
        case .state: .init(entry.change.status.role)
        case .time, .latency: .init(.dim)
        case .reasons, .path: .plain
        }
    }
}
