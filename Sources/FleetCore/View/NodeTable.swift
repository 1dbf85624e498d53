import NetwatchCore
import ReachabilityCore

/// The rows of machines.
struct NodeTable {
    let glyphs: Glyphs
    let utcOffset: Int
    let now: Timestamp
    let columns: Int
    private let layout: TableLayout<Field>

    init(_ options: FleetScreen.Options, widestName: Int, columns: Int, at now: Timestamp) {
        glyphs = .init(isASCII: options.isASCII)
        (utcOffset, self.columns, self.now) = (options.utcOffset, columns, now)
        layout = .init(Self.requests(columns, widestName), width: columns)
    }

    enum Field: String, Sendable, Hashable {
        case node, link, state, group, since, available, outages, seen, backlog, path, why

        var title: String {
            switch self {
            case .seen: "LAST SEEN"
            case .available: "AVAILABLE"
            default: rawValue.uppercased()
            }
        }

        /// Whether the column has numbers.
        var isRight: Bool { [.available, .outages, .backlog].contains(self) }
    }

    private static func requests(_ columns: Int, _ widestName: Int) -> [TableLayout<Field>.ColumnRequest] {
        let isWide = columns >= 80
        let name = min(max(widestName, 8), 40)
        return [
            .init(field: .node, rank: 0, least: 8, ideal: name), .init(field: .link, rank: 1, least: 9, ideal: 9),
            .init(field: .state, rank: 3, least: 15, ideal: 15), .init(field: .group, rank: 6, least: 6, ideal: 16),
            .init(field: .since, rank: 8, least: 19, ideal: 19),
            .init(field: .available, rank: 4, least: 9, ideal: 9), .init(field: .outages, rank: 5, least: 7, ideal: 7),
            .init(field: .seen, rank: 9, least: 9, ideal: 9), .init(field: .backlog, rank: 10, least: 7, ideal: 7),
            .init(field: .path, rank: 7, least: 12, ideal: 36),
            .init(field: .why, rank: 2, least: isWide ? 18 : 10, ideal: 60),
        ]
    }

    /// The headings.
    var heading: StyledLine {
        line { field in (field.title, .init(.heading, isBold: field == .node)) }
    }

    /// The row of a machine.
    func row(_ node: NodeStatus) -> StyledLine { line { (text($0, node), style($0, node)) } }

    private func line(_ cell: (Field) -> (text: String, style: Style)) -> StyledLine {
        var line = LineBuilder(columns, glyphs)
        for (position, column) in layout.columns.enumerated() {
            if position > 0 { line.pad(to: line.used + layout.gap) }
            let cell = cell(column.field)
            line.add(cell.text, cell.style, in: column.width, isRight: column.field.isRight)
        }
        return line.line.trimmed
    }

    private func text(_ field: Field, _ node: NodeStatus) -> String {
        switch field {
        case .node: safe(node.key.name)
        case .group: safe(node.key.group)
        case .link: "\(node.presence.mark(glyphs)) \(node.presence.rawValue)"
        case .state: "\(glyphs.mark(node.state)) \(node.state.word)"
        case .since: node.shownSince.map(since) ?? ""
        case .available: HistoryText.share(node.availability)
        case .outages: node.outages > 0 ? String(node.outages) : ""
        case .seen: node.lastSeen.map(age) ?? "never"
        case .backlog: node.backlog > 0 ? String(node.backlog) : ""
        case .path: path(node)
        case .why: safe(node.whyWords)
        }
    }

    private func style(_ field: Field, _ node: NodeStatus) -> Style {
        switch field {
        case .link: .init(node.presence.role)
        case .state: .init(node.state.role)
        case .since, .seen, .group: .init(.dim)
        case .backlog: .init(.warning)
        case .available, .outages: node.outages > 0 ? .init(.warning) : .plain
        case .why where node.presence == .online: node.isLimited || node.isFlapping ? .init(.warning) : .plain
        case .why: .init(node.presence.role)
        case .node, .path: .plain
        }
    }

    /// The path of a machine that is connected.
    private func path(_ node: NodeStatus) -> String {
        guard node.presence == .online, let path = node.path else { return "" }
        return safe(path.interface) + (path.gateway.map { " \(glyphs.arrow) \(safe($0))" } ?? "")
    }

    private func since(_ time: Timestamp) -> String {
        let today = LocalTime(now, utcOffset: utcOffset).day
        return "\(LocalTime(time, utcOffset: utcOffset).text(on: today, precise: false)), \(age(time))"
    }

    private func age(_ time: Timestamp) -> String {
        // A machine may send a time that is more than 292 years ago.
        let start = Instant(nanoseconds: time.nanosecondsSinceEpoch)
        return DurationText.age(start.duration(to: .init(nanoseconds: now.nanosecondsSinceEpoch)))
    }

    private func safe(_ text: String) -> String { PathWords(glyphs: glyphs).safe(text) }
}

/// The rows of groups.
struct GroupTable {
    let glyphs: Glyphs
    let columns: Int
    private let grouping: FleetGrouping
    private let layout: TableLayout<Field>

    init(_ options: FleetScreen.Options, _ grouping: FleetGrouping, columns: Int) {
        glyphs = .init(isASCII: options.isASCII)
        (self.grouping, self.columns) = (grouping, columns)
        layout = .init(
            [
                .init(field: .name, rank: 0, least: 10, ideal: 30), .init(field: .nodes, rank: 1, least: 6, ideal: 6),
                .init(field: .reachable, rank: 2, least: 9, ideal: 9),
                .init(field: .silent, rank: 3, least: 6, ideal: 6), .init(field: .unknown, rank: 4, least: 7, ideal: 7),
                .init(field: .available, rank: 5, least: 9, ideal: 9),
                .init(field: .outages, rank: 6, least: 7, ideal: 7),
            ],
            width: columns
        )
    }

    enum Field: String, Sendable, Hashable { case name, nodes, reachable, silent, unknown, available, outages }

    /// The headings.
    var heading: StyledLine {
        line { field in (field == .name ? title : field.rawValue.uppercased(), .init(.heading, isBold: field == .name))
        }
    }

    /// The row of a group.
    func row(_ name: String, _ totals: FleetTotals) -> StyledLine {
        line { (text($0, name, totals), style($0, totals)) }
    }

    private var title: String {
        switch grouping {
        case .group: "GROUP"
        case .label(let name): PathWords(glyphs: glyphs).safe(name.uppercased())
        case .state: "STATE"
        case .why: "WHY"
        }
    }

    private func line(_ cell: (Field) -> (text: String, style: Style)) -> StyledLine {
        var line = LineBuilder(columns, glyphs)
        for (position, column) in layout.columns.enumerated() {
            if position > 0 { line.pad(to: line.used + layout.gap) }
            let cell = cell(column.field)
            line.add(cell.text, cell.style, in: column.width, isRight: column.field != .name)
        }
        return line.line.trimmed
    }

    private func text(_ field: Field, _ name: String, _ totals: FleetTotals) -> String {
        switch field {
        case .name: name.isEmpty ? "-" : PathWords(glyphs: glyphs).safe(name)
        case .nodes: String(totals.nodes)
        case .reachable: String(totals.reachable)
        case .silent: String(totals.silent)
        case .unknown: String(totals.unknown)
        case .available: HistoryText.share(totals.availability)
        case .outages: String(totals.outages)
        }
    }

    private func style(_ field: Field, _ totals: FleetTotals) -> Style {
        switch field {
        case .reachable: .init(totals.reachable == totals.nodes ? .ok : .bad)
        case .silent: .init(totals.silent > 0 ? .bad : .dim)
        case .unknown: .init(totals.unknown > 0 ? .unknown : .dim)
        case .outages: .init(totals.outages > 0 ? .warning : .plain)
        case .name, .nodes, .available: .plain
        }
    }
}
