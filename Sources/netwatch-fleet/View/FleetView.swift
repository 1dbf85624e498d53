import CommandLineSupport
import FleetCore
import NetwatchCore

/// The view in the terminal: the table, one machine, or the table with a line for a filter.
struct FleetView {
    /// The caller's next step after a key.
    enum Action {
        case nothing
        case redraw
        case quit
        /// Stop the process as ctrl-Z does elsewhere (SIGTSTP).
        case suspend
    }

    private enum Mode {
        case table
        /// One of the visible machines is marked, by its number on the screen.
        case choice(Int)
        case machine(NodeKey)
        /// The conditions as far as they are typed, and what is wrong with them.
        case filter(String, problem: String?)
    }

    private var table: FleetScreen
    private var mode = Mode.table
    private let isASCII: Bool
    private let utcOffset: Int

    init(_ options: FleetScreen.Options) {
        table = FleetScreen(options)
        (isASCII, utcOffset) = (options.isASCII, options.utcOffset)
    }

    /// Draws the fleet.
    mutating func frame(_ viewer: FleetViewer, _ size: ScreenSize, at now: Timestamp) -> Frame {
        table.notice = viewer.notice
        switch mode {
        case .table: return table.frame(viewer.board, of: viewer.model, size, at: now)
        case .choice(let number):
            var frame = table.frame(viewer.board, of: viewer.model, size, at: now)
            mark(number, in: &frame, viewer, size)
            return frame
        case .machine(let key): return MachineFrame(viewer.model, key, utcOffset: utcOffset).frame(size, at: now)
        case .filter(let text, let problem):
            var frame = table.frame(viewer.board, of: viewer.model, size, at: now)
            put(text, problem, in: &frame, size)
            return frame
        }
    }

    private func mark(_ number: Int, in frame: inout Frame, _ viewer: FleetViewer, _ size: ScreenSize) {
        let machines = table.machines(on: viewer.board, size)
        let line = machines.line + min(number, machines.positions.count - 1)
        guard !machines.positions.isEmpty, line < frame.lines.count else { return }
        for index in frame.lines[line].runs.indices { frame.lines[line].runs[index].style.isReversed = true }
    }

    /// Puts the line for conditions in the place of the last line.
    private func put(_ text: String, _ problem: String?, in frame: inout Frame, _ size: ScreenSize) {
        guard size.rows > 0 else { return }
        let input = "/" + text
        // What was typed last stays visible.
        let visible = String(input.suffix(max(size.columns - 1, 0)))
        var line = StyledLine([.init(visible, .init(.key))])
        let room = size.columns - TextWidth.columns(visible) - 3
        if let problem, room > 0 { line.runs.append(.init("  " + problem.prefix(room), .init(.bad))) }
        while frame.lines.count < size.rows { frame.lines.append(.init()) }
        frame.lines[size.rows - 1] = line
        frame.cursor = .init(row: size.rows - 1, column: min(TextWidth.columns(visible), size.columns - 1))
    }

    /// Handles a key.
    mutating func press(_ key: Key, _ viewer: FleetViewer, _ size: ScreenSize) -> Action {
        if key == .control("c") { return .quit }
        if key == .control("z") { return .suspend }
        switch mode {
        case .filter(let text, _): return edit(text, key, viewer)
        case .machine:
            if key == .control("l") { return .redraw }
            mode = .table
            return .nothing
        case .choice(let number):
            choose(number, key, viewer, size)
            return .nothing
        case .table: return pressInTable(key, viewer, size)
        }
    }

    /// Moves the mark, and the table with it at its ends.
    private mutating func choose(_ number: Int, _ key: Key, _ viewer: FleetViewer, _ size: ScreenSize) {
        let positions = table.machines(on: viewer.board, size).positions
        let last = positions.count - 1
        switch key {
        case .enter:
            let position = positions.lowerBound + min(number, last)
            let node = viewer.board.nodes(position..<position + 1, in: viewer.model).first
            mode = node.map { .machine($0.key) } ?? .table
        case .down where number < last, .character("j") where number < last: mode = .choice(number + 1)
        case .up where number > 0, .character("k") where number > 0: mode = .choice(max(min(number, last) - 1, 0))
        case .down, .up, .character("j"), .character("k"), .pageUp, .pageDown, .home, .end:
            _ = table.press(key, on: viewer.board, size)
        default: mode = .table
        }
    }

    private mutating func pressInTable(_ key: Key, _ viewer: FleetViewer, _ size: ScreenSize) -> Action {
        switch key {
        case .character("/"):
            mode = .filter("", problem: nil)
            return .nothing
        case .enter:
            if !table.machines(on: viewer.board, size).positions.isEmpty { mode = .choice(0) }
            return .nothing
        default: break
        }
        switch table.press(key, on: viewer.board, size) {
        case .nothing: return .nothing
        case .redraw: return .redraw
        case .quit: return .quit
        }
    }

    /// Edits the conditions; return applies them, and without any all machines of the command line are shown again.
    private mutating func edit(_ text: String, _ key: Key, _ viewer: FleetViewer) -> Action {
        switch key {
        case .escape: mode = .table
        case .enter: apply(text, viewer)
        case .backspace: mode = text.isEmpty ? .table : .filter(String(text.dropLast()), problem: nil)
        case .character(let character): mode = .filter(text + String(character), problem: nil)
        default: break
        }
        return .nothing
    }

    private mutating func apply(_ text: String, _ viewer: FleetViewer) {
        var filter = viewer.configuration.filter
        do throws(FleetFilterError) {
            if !text.allSatisfy(\.isWhitespace) { filter.add(try FleetFilter(parsing: text)) }
            viewer.show(filter)
            mode = .table
        } catch {
            mode = .filter(text, problem: error.problem)
        }
    }
}
