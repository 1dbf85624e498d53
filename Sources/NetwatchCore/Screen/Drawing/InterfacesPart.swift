import ReachabilityCore

/// The table of interfaces.
struct InterfacesPart {
    let view: LiveView
    let columns: Int

    /// The headings, and as many interfaces as fit; if some do not, the last line has their number.
    func lines(_ rows: Int) -> [StyledLine] {
        TableDrawing(layout: TableLayout(requests, width: columns), columns: columns, glyphs: glyphs).lines(
            of: view.interfaces,
            from: view.navigation.interfacesTop,
            rows: rows,
            title: { .init(text: $0.title, style: .init(.heading, isBold: $0 == .name), isRight: $0.isNumber) },
            cell: { row, field, width in
                let (text, style) = cell(field, row, width)
                return .init(text: text, style: style, isRight: field.isNumber)
            },
            rest: { .rest($0, isScrolled: view.navigation.focus == .interfaces, columns, glyphs) }
        )
    }

    private var glyphs: Glyphs { view.glyphs }

    private func cell(_ field: Field, _ row: InterfaceRow, _ width: Int) -> (text: String, style: Style) {
        let traffic = view.traffic.shown[row.index]
        switch field {
        case .name: return (pointer(row) + row.name, .init(isBold: row.role == .path))
        case .kind: return (row.kind.rawValue, .plain)
        case .state: return (state(row), .init(row.condition.role))
        case .address: return (list(row.addresses, width), .plain)
        case .route: return (list(row.routes, width), .plain)
        case .received: return (traffic?.received ?? "", .init(traffic?.receivedBars.last == 0 ? .dim : .plain))
        case .sent: return (traffic?.sent ?? "", .init(traffic?.sentBars.last == 0 ? .dim : .plain))
        case .graph: return graph(traffic?.bars, width)
        case .receivedGraph: return graph(traffic?.receivedBars, width)
        case .sentGraph: return graph(traffic?.sentBars, width)
        case .wifi: return (view.wifi[row.index]?.cuttable ?? "", .plain)
        case .admin: return (row.isUp ? "up" : "down", .plain)
        case .carrier: return (row.hasCarrier ? "yes" : "no", .plain)
        case .operational: return (row.operationalState.word, .plain)
        }
    }

    private func pointer(_ row: InterfaceRow) -> String {
        switch row.role {
        case .path: glyphs.pointer + " "
        case .carrier: glyphs.beneath + " "
        default: "  "
        }
    }

    private func state(_ row: InterfaceRow) -> String { row.condition.mark(glyphs) + " " + row.condition.word }

    /// The time before the start is shown as idle, so that an idle graph stays the same from the start.
    private func graph(_ bars: [UInt8]?, _ width: Int) -> (text: String, style: Style) {
        let blank = String(repeating: " ", count: width)
        guard let shown = bars?.suffix(width), !shown.isEmpty else { return (blank, .plain) }
        let padding = String(repeating: glyphs.bar(0), count: width - shown.count)
        // One color while there is anything in it: a change at each pause would redraw all of it.
        let isIdle = shown.allSatisfy { $0 == 0 }
        return (padding + shown.map { glyphs.bar($0) }.joined(), .init(isIdle ? .dim : .graph))
    }

    /// As many as fit, and how many more there are.
    private func list(_ items: [String], _ width: Int) -> String {
        for count in stride(from: items.count, to: 0, by: -1) {
            let more = count < items.count ? " +\(items.count - count)" : ""
            let text = items.prefix(count).joined(separator: ", ") + more
            if TextWidth.columns(text) <= width { return text }
        }
        return items.first ?? ""
    }

    private var requests: [TableLayout<Field>.ColumnRequest] {
        let fields = columns >= 150 ? Field.widest : columns >= 110 ? Field.wide : Field.narrow
        return fields.compactMap { field in
            let contents = view.interfaces.map { TextWidth.columns(cell(field, $0, Field.widestGraph).text) }
            let content = contents.max() ?? 0
            // An empty column is left out.
            guard content > 0 || field == .name, !isBlank(field) else { return nil }
            let ideal = max(min(content, field.most), field.title.count)
            let least = min(ideal, field.least)
            return .init(field: field, rank: field.rank, least: least, ideal: ideal, isElastic: field.isGraph)
        }
    }

    private func isBlank(_ field: Field) -> Bool {
        switch field {
        case .received, .sent, .graph, .receivedGraph, .sentGraph: view.traffic.shown.isEmpty
        case .address: view.interfaces.allSatisfy(\.addresses.isEmpty)
        case .route: view.interfaces.allSatisfy(\.routes.isEmpty)
        default: false
        }
    }
}

extension InterfacesPart {
    /// A column of the table of interfaces.
    enum Field: Sendable, Hashable {
        case name
        case kind
        case state
        case address
        case route
        case received
        case receivedGraph
        case sent
        case sentGraph
        case graph
        case wifi
        case admin
        case carrier
        case operational

        /// Where there is no room for a graph of each direction.
        static let narrow: [Self] = [.name, .kind, .state, .address, .route, .received, .sent, .graph, .wifi]

        /// Where there is.
        static let wide: [Self] = [
            .name, .kind, .state, .address, .route, .received, .receivedGraph, .sent, .sentGraph, .wifi,
        ]

        /// Where all that makes up the state has room too.
        static let widest: [Self] = [
            .name, .kind, .state, .admin, .carrier, .operational, .address, .route, .received, .receivedGraph, .sent,
            .sentGraph, .wifi,
        ]

        /// As many columns as ``Traffic`` keeps bars.
        static let widestGraph = Traffic.maximumBars

        /// The column heading.
        var title: String { layout.title }

        /// Whether it is aligned to the right.
        var isNumber: Bool { self == .received || self == .sent }

        /// Whether it is a picture of any width.
        var isGraph: Bool { self == .graph || self == .receivedGraph || self == .sentGraph }

        /// The lower, the longer it stays where it is narrow.
        var rank: Int { layout.rank }

        /// The least width that makes sense; what is narrower in fact needs no more than that.
        var least: Int { layout.least }

        /// No more, however long the contents are.
        var most: Int { layout.most }

        private var layout: (title: String, rank: Int, least: Int, most: Int) {
            switch self {
            case .name: ("LINKS", 0, 10, 24)
            case .state: ("STATE", 1, 12, 16)
            case .address: ("ADDRESS", 2, 15, 64)
            case .received: ("IN/s", 3, 5, 16)
            case .sent: ("OUT/s", 3, 5, 16)
            case .route: ("VIA (METRIC)", 4, 16, 48)
            case .graph: ("", 5, 5, Self.widestGraph)
            case .receivedGraph, .sentGraph: ("", 5, 8, Self.widestGraph)
            case .kind: ("KIND", 6, 8, 16)
            case .wifi: ("NETWORK", 7, 16, 40)
            case .admin: ("ADMIN", 8, 7, 16)
            case .carrier: ("CARRIER", 8, 7, 16)
            case .operational: ("OPER", 8, 7, 16)
            }
        }
    }
}
