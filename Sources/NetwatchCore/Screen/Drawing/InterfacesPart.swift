import ReachabilityCore

/// The table of interfaces.
struct InterfacesPart {
    let view: LiveView
    let columns: Int

    /// The headings, and as many interfaces as have room; if some have none, the last line tells how many.
    func lines(_ rows: Int) -> [StyledLine] {
        TableDrawing(layout: TableLayout(wishes, width: columns), columns: columns, glyphs: glyphs).lines(
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

    /// Of the time before the start nothing is shown to have come; so what is idle stays the same from the beginning.
    private func graph(_ bars: [UInt8]?, _ width: Int) -> (text: String, style: Style) {
        let blank = String(repeating: " ", count: width)
        guard let shown = bars?.suffix(width), !shown.isEmpty else { return (blank, .plain) }
        let padding = String(repeating: glyphs.bar(0), count: width - shown.count)
        // One colour while there is anything in it: another each time that there is a pause would draw all of it anew.
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

    private var wishes: [TableLayout<Field>.Wish] {
        let fields = columns >= 150 ? Field.widest : columns >= 110 ? Field.wide : Field.narrow
        return fields.compactMap { field in
            let contents = view.interfaces.map { TextWidth.columns(cell(field, $0, Field.widestGraph).text) }
            let content = contents.max() ?? 0
            // A column of nothing tells nothing.
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
