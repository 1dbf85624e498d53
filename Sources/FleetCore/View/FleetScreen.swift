package import NetwatchCore
import ReachabilityCore

/// The live table of a fleet.
package struct FleetScreen: Sendable {
    /// The parameters of a screen.
    package struct Options: Hashable, Sendable {
        /// The broker, at the right of the first line.
        package var broker: String
        package var isASCII: Bool
        /// The offset of local time from UTC, in seconds east.
        package var utcOffset: Int

        package init(broker: String, isASCII: Bool = false, utcOffset: Int = 0) {
            self.broker = broker
            self.isASCII = isASCII
            self.utcOffset = utcOffset
        }
    }

    /// The caller's next step after a key.
    package enum Action: Hashable, Sendable {
        case nothing
        case redraw
        case quit
    }

    /// The parameters; the offset of local time may change.
    package var options: Options
    /// The state of the connection to the broker while it is not usable; nil otherwise.
    package var notice: String?
    /// The first machine that is shown.
    private(set) var top = 0

    package init(_ options: Options) { self.options = options }

    /// Handles a key: the arrows, j and k, page and end keys scroll; q and ctrl-c quit; ctrl-l redraws.
    package mutating func press(_ key: Key, on board: FleetBoard, _ size: ScreenSize) -> Action {
        let room = FleetLayout(self, board, size).room
        let last = max(board.count - room, 0)
        let target: Int
        switch key {
        case .character("q"), .control("c"): return .quit
        case .control("l"): return .redraw
        case .down, .character("j"): target = top + 1
        case .up, .character("k"): target = top - 1
        case .pageDown, .character(" "): target = top + max(room - 1, 1)
        case .pageUp: target = top - max(room - 1, 1)
        case .home, .character("g"): target = 0
        case .end, .character("G"): target = last
        default: return .nothing
        }
        let old = top
        top = min(max(target, 0), last)
        return top == old ? .nothing : .redraw
    }

    /// Draws the board, which was brought up to date.
    package func frame(_ board: FleetBoard, of model: FleetModel, _ size: ScreenSize, at now: Timestamp) -> Frame {
        guard size.rows > 0, size.columns > 0 else { return .init(lines: []) }
        let layout = FleetLayout(self, board, size)
        guard layout.hasTable else { return .init(lines: Array(layout.header.prefix(size.rows))) }
        let first = min(top, max(board.count - layout.room, 0))
        let table = NodeTable(options, widestName: board.widestName, columns: size.columns, at: now)
        let rows = board.nodes(first..<first + layout.room, in: model).map(table.row)
        var lines = layout.header + layout.groups + [table.heading] + rows
        lines += Array(repeating: .init(), count: max(size.rows - 1 - lines.count, 0))
        return .init(lines: lines + [layout.footer(first, rows.count, of: board.count)])
    }
}

/// The parts of the screen, but for the machines' rows.
struct FleetLayout {
    /// The summary, the notice, and joined silences.
    private(set) var header: [StyledLine] = []
    /// The table of groups, with an empty line behind it; empty without a grouping.
    private(set) var groups: [StyledLine] = []
    /// The number of rows for machines.
    private(set) var room = 0
    private let size: ScreenSize
    private let glyphs: Glyphs

    private static let minimumRows = 6
    private static let minimumColumns = 24
    /// With fewer rows below the top, groups are left out.
    private static let rowsForGroups = 8
    /// With fewer columns, the keys that only a part of the users needs are left out.
    private static let columnsForHints = 72

    init(_ screen: FleetScreen, _ board: FleetBoard, _ size: ScreenSize) {
        self.size = size
        glyphs = .init(isASCII: screen.options.isASCII)
        header = [summary(board.totals, screen.options.broker)]
        if let notice = screen.notice { header.append(line("  " + safe(notice), .warning)) }
        header += bursts(board.bursts, atMost: size.rows < 20 ? 1 : 3)
        guard hasTable else { return }
        if size.rows >= 20 { header.append(.init()) }
        if let grouping = board.grouping, size.rows >= header.count + Self.rowsForGroups {
            groups = groupLines(board.groups, GroupTable(screen.options, grouping, columns: size.columns))
        }
        // The heading and the last line are not machines'.
        room = max(size.rows - header.count - groups.count - 2, 1)
    }

    /// Whether there is room for more than the top.
    var hasTable: Bool { size.rows >= Self.minimumRows && size.columns >= Self.minimumColumns }

    /// The keys, and which machines are shown if not all.
    func footer(_ first: Int, _ shown: Int, of all: Int) -> StyledLine {
        var line = LineBuilder(size.columns, glyphs)
        var hints = [("q", "quit"), (glyphs.arrows, "scroll")]
        if size.columns >= Self.columnsForHints { hints += [("enter", "details"), ("/", "conditions")] }
        for (position, hint) in hints.enumerated() {
            line.add((position > 0 ? "  " : "") + hint.0, .init(.key))
            line.add(" " + hint.1, .init(.dim))
        }
        if shown < all { line.addAtEnd("\(first + 1)\(glyphs.range)\(first + shown) of \(all)", .init(.dim)) }
        return line.line.trimmed
    }

    private func summary(_ totals: FleetTotals, _ broker: String) -> StyledLine {
        var line = LineBuilder(size.columns, glyphs)
        line.add("\(glyphs.mark(totals.worst)) \(totals.headline)", .init(totals.worst.role, isBold: true))
        for detail in totals.details { line.add(glyphs.separator + detail.text, .init(detail.role)) }
        line.addAtEnd(safe(broker), .init(.dim))
        return line.line.trimmed
    }

    private func bursts(_ bursts: [FleetBurst], atMost rows: Int) -> [StyledLine] {
        let shown = bursts.count > rows ? rows - 1 : rows
        var lines = bursts.prefix(max(shown, 1)).map { line("  " + safe($0.text), .bad) }
        if bursts.count > lines.count, rows > 1 {
            lines.append(line("  \(bursts.count - lines.count) more groups likewise", .bad))
        }
        return lines
    }

    /// As many groups as have room, the worst first.
    private func groupLines(_ all: [(name: String, totals: FleetTotals)], _ table: GroupTable) -> [StyledLine] {
        let rows = max((size.rows - header.count) / 3, 2)
        let shown = all.count <= rows ? all.count : rows - 1
        var lines = [table.heading] + all.prefix(shown).map { table.row($0.name, $0.totals) }
        if shown < all.count { lines.append(line("\(all.count - shown) more groups", .dim)) }
        return lines + (size.rows >= 20 ? [.init()] : [])
    }

    private func line(_ text: String, _ role: Style.Role) -> StyledLine {
        var line = LineBuilder(size.columns, glyphs)
        line.add(text, .init(role))
        return line.line.trimmed
    }

    private func safe(_ text: String) -> String { PathWords(glyphs: glyphs).safe(text) }
}
