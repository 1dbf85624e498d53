import ReachabilityCore

/// The rows of the requested hosts.
struct DestinationsPart {
    let view: LiveView
    let columns: Int

    /// A heading and a row for each host; if some do not fit, the last line has their number.
    func lines(_ rows: Int) -> [StyledLine] {
        TableDrawing(layout: TableLayout(requests, width: columns), columns: columns, glyphs: glyphs).lines(
            of: view.destinations,
            from: view.navigation.destinationsTop,
            rows: rows,
            title: { .init(text: $0.title, style: .init(.heading, isBold: $0 == .host)) },
            cell: { row, field, _ in .init(text: text(field, row), style: style(field, row)) },
            rest: { .rest($0, isScrolled: view.navigation.focus == .destinations, columns, glyphs) }
        )
    }

    enum Field: Sendable, Hashable {
        case host
        case state
        case path
        case since

        var title: String {
            switch self {
            case .host: "HOSTS"
            case .state: "STATE"
            case .path: "PATH"
            case .since: "SINCE"
            }
        }
    }

    private var glyphs: Glyphs { view.glyphs }

    private var requests: [TableLayout<Field>.ColumnRequest] {
        [
            request(.host, rank: 0, least: 10, most: 40), request(.state, rank: 1, least: 15, most: 15),
            request(.path, rank: 2, least: 12, most: 90), request(.since, rank: 3, least: 19, most: 19),
        ]
    }

    private func request(_ field: Field, rank: Int, least: Int, most: Int) -> TableLayout<Field>.ColumnRequest {
        let content = view.destinations.map { TextWidth.columns(text(field, $0)) }.max() ?? 0
        let ideal = max(min(content, most), field.title.count)
        return .init(field: field, rank: rank, least: min(least, ideal), ideal: ideal)
    }

    private func style(_ field: Field, _ row: DestinationRow) -> Style {
        switch field {
        case .state: .init(row.status.role)
        case .since: .init(.dim)
        default: .plain
        }
    }

    private func text(_ field: Field, _ row: DestinationRow) -> String {
        switch field {
        case .host: "  " + view.words.safe(row.host)
        case .state: "\(glyphs.mark(row.status)) \(row.isWaiting ? "resolving" : row.status.word)"
        case .path: path(row)
        case .since: since(row)
        }
    }

    private func since(_ row: DestinationRow) -> String {
        let age = DurationText.age(row.since.duration(to: view.clock.shown))
        return "\(row.sinceTime.text(on: view.clock.today, precise: false)), \(age)"
    }

    /// The route to the address that is reached, or why none is.
    private func path(_ row: DestinationRow) -> String {
        if case .failed(let why) = row.state { return view.words.safe(why) }
        guard let best = row.best else { return "" }
        let counts = row.counts
        let others = counts.all > 1 ? ", \(counts.reached) of \(counts.all) addresses" : ""
        let route = view.words.route(best)
        let address = best.address.description == row.host ? "" : "\(best.address) by "
        guard best.status.isReachable else {
            return (best.reasons.first?.rawValue ?? "no path") + (route.isEmpty ? "" : ", " + route) + others
        }
        return address + route + others
    }
}
