/// Draws a table of which some rows may have no room.
struct TableDrawing<Field: Hashable & Sendable> {
    let layout: TableLayout<Field>
    /// How wide the lines are.
    let columns: Int
    let glyphs: Glyphs

    /// What stands in one column of a line.
    struct Cell {
        var text: String
        var style = Style.plain
        var isRight = false
    }

    /// A heading, and as many rows as have room; if some have none, the last line tells how many.
    ///
    /// - Parameters:
    ///   - items: What the rows are of.
    ///   - top: The first that is to be seen.
    ///   - rows: How many lines there may be.
    ///   - title: A column's heading.
    ///   - cell: What stands in a column of an item's row, so many columns wide.
    ///   - rest: The line that tells how many have no room.
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
