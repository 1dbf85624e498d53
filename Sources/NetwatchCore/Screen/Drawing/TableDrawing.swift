/// Draws a table of which some rows may not fit.
struct TableDrawing<Field: Hashable & Sendable> {
    let layout: TableLayout<Field>
    /// How wide the lines are.
    let columns: Int
    let glyphs: Glyphs

    /// One column of a line.
    struct Cell {
        var text: String
        var style = Style.plain
        var isRight = false
    }

    /// A heading, and as many rows as fit; if some do not, the last line has their number.
    ///
    /// - Parameters:
    ///   - items: What the rows are of.
    ///   - top: The first that is to be seen.
    ///   - rows: How many lines there may be.
    ///   - title: A column's heading.
    ///   - cell: The content of a column in an item's row, of the given width.
    ///   - rest: The line with the number of rows that do not fit.
    /// - Returns: The lines.
    func lines<Item>(
        of items: [Item],
        from top: Int,
        rows: Int,
        title: (Field) -> Cell,
        cell: (Item, Field, Int) -> Cell,
        rest: (Int) -> StyledLine
    ) -> [StyledLine] {
        guard rows > 0 else { return [] }
        let window = Navigation.window(top, of: items.count, room: rows - 1)
        var lines = [line { field, _ in title(field) }]
        lines += items[window].map { item in line { cell(item, $0, $1) } }
        if lines.count < rows, window.count < items.count { lines.append(rest(items.count - window.count)) }
        return lines
    }

    private func line(_ cell: (Field, Int) -> Cell) -> StyledLine {
        var line = LineBuilder(columns, glyphs)
        for (position, column) in layout.columns.enumerated() {
            if position > 0 { line.pad(to: line.used + layout.gap) }
            let cell = cell(column.field, column.width)
            line.add(cell.text, cell.style, in: column.width, isRight: cell.isRight)
        }
        return line.line
    }
}

/// Shares a line's columns among a table's: those that matter less are left out where it is narrow.
package struct TableLayout<Field: Hashable>: Sendable where Field: Sendable {
    /// The requested width of a column.
    package struct ColumnRequest {
        /// Which column.
        package var field: Field
        /// The lower, the longer it stays.
        package var rank: Int
        /// The least width that makes sense.
        package var least: Int
        /// The width at which nothing is cut.
        package var ideal: Int
        /// Whether it takes only what the others leave, as a picture that may have any width.
        package var isElastic = false

        /// Creates a request.
        package init(field: Field, rank: Int, least: Int, ideal: Int, isElastic: Bool = false) {
            (self.field, self.rank, self.least, self.ideal) = (field, rank, least, ideal)
            self.isElastic = isElastic
        }
    }

    /// The columns that have a place, in the order of the requests, with their widths.
    package let columns: [(field: Field, width: Int)]
    /// The space between two.
    package let gap: Int

    /// Shares the width.
    ///
    /// - Parameters:
    ///   - requests: From the left.
    ///   - width: How much there is.
    package init(_ requests: [ColumnRequest], width: Int) {
        let gap = width >= 100 ? 2 : 1
        var widths: [Field: Int] = [:]
        var rest = width + gap
        let byRank = requests.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }
            .map(\.element)
        for request in byRank where request.least + gap <= rest {
            widths[request.field] = request.least
            rest -= request.least + gap
        }
        for request in byRank.filter({ !$0.isElastic }) + byRank.filter(\.isElastic) {
            guard let width = widths[request.field] else { continue }
            let more = min(max(request.ideal - width, 0), max(rest, 0))
            widths[request.field] = width + more
            rest -= more
        }
        columns = requests.compactMap { request in widths[request.field].map { (request.field, $0) } }
        self.gap = gap
    }
}
