package import NetwatchCore

extension FleetScreen {
    /// Returns which lines of the screen show machines.
    ///
    /// - Parameters:
    ///   - board: The machines.
    ///   - size: The size of the screen.
    /// - Returns: The first line, and the positions of the machines on the board; empty where there is no room.
    package func machines(on board: FleetBoard, _ size: ScreenSize) -> (line: Int, positions: Range<Int>) {
        let layout = FleetLayout(self, board, size)
        guard layout.hasTable else { return (0, 0..<0) }
        let first = min(top, max(board.count - layout.room, 0))
        let end = min(first + layout.room, board.count)
        return (layout.header.count + layout.groups.count + 1, first..<max(first, end))
    }
}
