import ReachabilityCore

/// A motion within a list.
enum Motion: Hashable {
    /// By so many rows; downwards, and so to older events, if above zero.
    case rows(Int)
    /// By so many pages.
    case pages(Int)
    /// To the beginning.
    case start
    /// To the end.
    case end

    init?(_ key: Key) {
        switch key {
        case .up, .character("k"): self = .rows(-1)
        case .down, .character("j"): self = .rows(1)
        case .pageUp: self = .pages(-1)
        case .pageDown: self = .pages(1)
        case .home, .character("g"): self = .start
        case .end, .character("G"): self = .end
        default: return nil
        }
    }

    /// Where it leads from a place.
    ///
    /// - Parameters:
    ///   - place: The place, counted from 0.
    ///   - last: The last place.
    ///   - page: How many places a page has.
    /// - Returns: A place from 0 to the last.
    func target(from place: Int, last: Int, page: Int) -> Int {
        switch self {
        case .rows(let count): min(max(place + count, 0), max(last, 0))
        case .pages(let count): min(max(place + count * max(page, 1), 0), max(last, 0))
        case .start: 0
        case .end: max(last, 0)
        }
    }
}

extension LiveView {
    /// How far the wheel scrolls at once, in rows.
    private static let wheelStep = 3

    /// Lets the arrows move the next part of which something has no room.
    mutating func moveFocus() {
        let parts = scrollable(ScreenPainter(view: self, size: navigation.size).layout)
        let place = parts.firstIndex(of: navigation.focus).map { ($0 + 1) % parts.count } ?? 0
        navigation.focus = parts[place]
    }

    /// Moves the choice in the log, or scrolls a table.
    mutating func move(_ motion: Motion) {
        let layout = ScreenPainter(view: self, size: navigation.size).layout
        // There may be room by now.
        if !scrollable(layout).contains(navigation.focus) { navigation.focus = .log }
        switch navigation.focus {
        case .log: choose(motion, room: max(layout.log.count - 1, 1))
        case .interfaces:
            scroll(\.interfacesTop, motion, of: interfaces.count, room: layout.interfaces.count - 1)
        case .destinations:
            scroll(\.destinationsTop, motion, of: destinations.count, room: layout.destinations.count - 1)
        }
    }

    /// The log, and the tables that have more than their room.
    private func scrollable(_ layout: ScreenLayout) -> [Navigation.Focus] {
        let isCut = { (rows: Range<Int>, count: Int) in !rows.isEmpty && count > rows.count - 1 }
        return [.log] + (isCut(layout.interfaces, interfaces.count) ? [.interfaces] : [])
            + (isCut(layout.destinations, destinations.count) ? [.destinations] : [])
    }

    /// Scrolls what lies over the screen.
    mutating func scrollOverlay(_ motion: Motion) {
        guard let overlay = navigation.overlay else { return }
        let painter = ScreenPainter(view: self, size: navigation.size)
        let room = max(painter.overlayRows.count - 1, 1)
        let count = OverlayPart(view: self, columns: navigation.size.columns).contents(overlay).count
        let last = max(count - room, 0)
        navigation.overlayTop = motion.target(from: min(navigation.overlayTop, last), last: last, page: room)
    }

    /// Scrolls what is under the mouse.
    mutating func turnWheel(up: Bool, over row: Int) {
        let motion = Motion.rows(up ? -Self.wheelStep : Self.wheelStep)
        guard navigation.overlay == nil else { return scrollOverlay(motion) }
        let layout = ScreenPainter(view: self, size: navigation.size).layout
        if layout.interfaces.contains(row) {
            scroll(\.interfacesTop, motion, of: interfaces.count, room: layout.interfaces.count - 1)
        } else if layout.destinations.contains(row) {
            scroll(\.destinationsTop, motion, of: destinations.count, room: layout.destinations.count - 1)
        } else {
            let room = max(layout.log.count - 1, 1)
            let last = max(log.shownCount - room, 0)
            let top = navigation.logTop(of: log.shownCount, room: room)
            navigation.logTop = motion.target(from: top, last: last, page: room)
        }
    }

    private mutating func scroll(
        _ top: WritableKeyPath<Navigation, Int>,
        _ motion: Motion,
        of count: Int,
        room: Int
    ) {
        let window = Navigation.window(navigation[keyPath: top], of: count, room: room)
        let last = count - window.count
        navigation[keyPath: top] = motion.target(from: window.lowerBound, last: last, page: window.count)
    }

    /// The first motion chooses what is at the top; the screen follows the choice.
    private mutating func choose(_ motion: Motion, room: Int) {
        let count = log.shownCount
        guard count > 0 else { return }
        let top = navigation.logTop(of: count, room: room)
        let chosen = navigation.selection.flatMap(log.place)
        let isFirst = chosen == nil && motion == .rows(1)
        let from = min(max(chosen ?? top, top), top + room - 1)
        let place = isFirst ? top : motion.target(from: from, last: count - 1, page: room)
        var newTop = top
        if case .pages = motion { newTop = motion.target(from: top, last: count - room, page: room) }
        navigation.selection = log.shown(place)?.serial
        navigation.logTop = min(max(newTop, place - room + 1), place)
    }
}
