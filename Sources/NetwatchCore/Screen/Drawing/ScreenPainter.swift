import ReachabilityCore

/// Draws the live view on a screen of a size.
struct ScreenPainter {
    let view: LiveView
    let size: ScreenSize

    /// What the screen shows.
    var frame: Frame {
        var frame = Frame(lines: [], nextChange: view.nextChange)
        guard size.rows > 0, size.columns > 0 else { return frame }
        let layout = layout
        guard let footer = layout.footer else {
            frame.lines = header
            return frame
        }
        let (lastLine, cursor) = FooterPart(view: view, columns: size.columns).line()
        if let overlay = view.navigation.overlay {
            let part = OverlayPart(view: view, columns: size.columns)
            frame.lines = assemble([(0..<layout.header, header), (overlayRows, part.lines(overlay, overlayRows.count))])
        } else {
            frame.lines = assemble(parts(layout))
        }
        frame.lines.append(lastLine.trimmed)
        frame.cursor = cursor.map { .init(row: footer, column: $0) }
        return frame
    }

    /// Which rows each part has.
    var layout: ScreenLayout {
        guard size.rows >= ScreenLayout.leastRows, size.columns >= ScreenLayout.leastColumns else {
            return .init(headerOnly: size.rows)
        }
        return .init(
            rows: size.rows,
            header: header.count,
            interfaces: view.interfaces.count,
            destinations: view.destinations.count,
            timeline: TimelinePart(view: view, columns: size.columns).mostRows
        )
    }

    /// The rows of what lies over the screen.
    var overlayRows: Range<Int> {
        let start = header.count + (size.rows >= 20 ? 1 : 0)
        return start..<max(start, size.rows - 1)
    }

    private var header: [StyledLine] {
        let isSmall = size.rows < ScreenLayout.leastRows || size.columns < ScreenLayout.leastColumns
        let most = isSmall ? size.rows : min(max(size.rows / 4, 6), size.rows - 5, 8)
        return HeaderPart(view: view, columns: size.columns).lines(atMost: most).map(\.trimmed)
    }

    private func parts(_ layout: ScreenLayout) -> [(Range<Int>, [StyledLine])] {
        let columns = size.columns
        return [
            (0..<layout.header, header),
            (layout.interfaces, InterfacesPart(view: view, columns: columns).lines(layout.interfaces.count)),
            (layout.destinations, DestinationsPart(view: view, columns: columns).lines(layout.destinations.count)),
            (layout.timeline, TimelinePart(view: view, columns: columns).lines(layout.timeline.count)),
            (layout.log, LogPart(view: view, columns: columns).lines(layout.log.count)),
        ]
    }

    /// All rows but the last, those between the parts empty.
    private func assemble(_ parts: [(Range<Int>, [StyledLine])]) -> [StyledLine] {
        var lines = [StyledLine](repeating: .init(), count: size.rows - 1)
        for (rows, part) in parts {
            for (row, line) in zip(rows, part) where row < lines.count { lines[row] = line.trimmed }
        }
        return lines
    }
}
