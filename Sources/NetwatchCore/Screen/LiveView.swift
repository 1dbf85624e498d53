package import ReachabilityCore

/// The live view: everything that the screen shows, as a value that inputs alter.
///
/// The shell passes in what happens, carries out what ``apply(_:)`` requests, and draws ``frame()`` when ``revision``
/// changes. Nothing here reads a clock, a terminal or the network.
package struct LiveView: Sendable {
    let options: LiveViewOptions
    let words: PathWords
    /// The time as it is shown.
    private(set) var clock: ViewClock
    /// The contents of the header.
    private(set) var verdict: Verdict
    /// Which state there was when.
    private(set) var timeline: StateTimeline
    /// The table of interfaces.
    private(set) var interfaces: [InterfaceRow] = []
    /// The traffic of the interfaces.
    private(set) var traffic = TrafficMeter()
    /// The Wi-Fi details of the interfaces.
    private(set) var wifi: [InterfaceIndex: WiFiSign] = [:]
    /// The hosts' rows.
    private(set) var destinations: [DestinationRow]
    /// The changes.
    private(set) var log: EventLog
    /// The first change that the view received.
    private var first: FirstChange?
    /// The changes from before that, until the first one is known.
    private var earlier: EarlierChanges?
    /// Whether the kernel's messages are being recorded.
    private(set) var recording = RecordingState.off
    /// Where on the screen people are.
    private(set) var navigation = Navigation()
    /// The number of changes that may have altered the frame; while it stays the same, so do the lines of the frame.
    package private(set) var revision: UInt64 = 0
    /// The size of the screen.
    private var size = ScreenSize(columns: 80, rows: 24)
    /// The layout; nil after the size or the content has changed, until it is needed.
    private var computedLayout: ScreenLayout?

    /// Begins with nothing known.
    package init(_ options: LiveViewOptions, at now: ViewMoment) {
        let clock = ViewClock(now)
        self.options = options
        self.clock = clock
        words = .init(glyphs: .init(isASCII: options.isASCII))
        verdict = .init(clock)
        timeline = .init(.unknown, at: clock.elapsed)
        destinations = options.hosts.map { DestinationRow($0, clock) }
        log = .init(words)
    }

    /// When the frame changes without an input, as in ``Frame/nextChange``.
    package var nextChange: Instant? { clock.nextChange }

    /// Takes an input.
    ///
    /// - Returns: What the shell is to do about it.
    package mutating func apply(_ input: LiveViewInput) -> LiveViewAction? {
        switch input {
        case .key(let key):
            revision += 1
            return press(key)
        case .wheel(let up, let row):
            revision += 1
            scrollByWheel(up: up, over: row)
        case .resize(let size):
            noteContentChange()
            self.size = size
        default: take(input)
        }
        return nil
    }

    /// Draws what the screen shows.
    package mutating func frame() -> Frame {
        let layout = layout()
        return ScreenPainter(view: self, layout: layout).frame
    }

    /// Notes that the size or what is shown has changed, so that the layout has to be computed again.
    private mutating func noteContentChange() {
        revision += 1
        computedLayout = nil
    }

    /// Returns where each part is; computes it if the size or the content has changed since.
    private mutating func layout() -> ScreenLayout {
        if let computedLayout { return computedLayout }
        let layout = ScreenLayout(of: self, size: size)
        computedLayout = layout
        return layout
    }

    var glyphs: Glyphs { words.glyphs }
}

extension LiveView {
    /// Takes an input; ``revision`` stays the same if nothing shown changes.
    private mutating func take(_ input: LiveViewInput) {
        switch input {
        case .change(let change, let latency, at: let moment):
            advance(to: moment)
            take(change, latency)
            joinEarlier()
        case .earlier(let changes):
            earlier = changes
            joinEarlier()
        case .model(let snapshot, let evaluation, let why, at: let moment):
            advance(to: moment)
            take(snapshot, evaluation, why)
        case .validation(let report): alter(\.verdict.report) { $0.verdict.take(report) }
        case .counters(let counters, at: let moment): alter(\.traffic.shown) { $0.traffic.take(counters, at: moment) }
        case .wifi(let details): alter(\.wifi) { $0.take(details) }
        case .destination(let place, let state, at: let moment):
            advance(to: moment)
            take(state, at: place)
        case .recording(let state, at: let moment):
            advance(to: moment)
            alter(\.recording) { $0.recording = state }
        case .explanation(let lines): show(.explanation(lines))
        case .tick(let moment): advance(to: moment)
        case .key, .wheel, .resize: break
        }
    }

    /// Alters a part, and notes a change if the part differs afterwards.
    private mutating func alter<Value: Equatable>(_ part: KeyPath<Self, Value>, _ body: (inout Self) -> Void) {
        let before = self[keyPath: part]
        body(&self)
        if self[keyPath: part] != before { noteContentChange() }
    }

    /// When the frame was to change by time has come, it counts as another even where a clock that was set undid that:
    /// so that the shell learns the next one.
    private mutating func advance(to moment: ViewMoment) {
        if moment.instant >= clock.nextChange { noteContentChange() }
        alter(\.clock.face) { view in
            let suspended = view.clock.take(moment)
            guard let suspended else { return view.timeline.advance(to: view.clock.elapsed) }
            let start = view.clock.elapsed.advanced(by: .zero - suspended)
            view.timeline.noteGap(from: start, to: view.clock.elapsed)
            view.clock.noteEvent()
        }
    }

    private mutating func take(_ change: ReachabilityChange, _ latency: Duration?) {
        noteContentChange()
        if first == nil { first = .init(change: change, time: clock.now, elapsed: clock.elapsed) }
        timeline.note(change.status, at: clock.elapsed)
        if verdict.take(change, clock) { clock.noteEvent() }
        let isShown = log.append(change, latency: latency, time: .init(clock.now))
        // Who reads older events is not disturbed.
        if isShown, navigation.logTop > 0 { navigation.logTop += 1 }
    }

    /// Puts the changes from before the view was opened in front of its own, once it has its first one.
    private mutating func joinEarlier() {
        guard let first, let earlier else { return }
        self.earlier = nil
        guard let entries = earlier.leading(to: first.change, at: first.time.time) else { return }
        noteContentChange()
        timeline = timeline.continuing(earlier.timeline, offset: first.offset, from: first.elapsed)
        log.prepend(entries)
        if timeline.since < first.elapsed {
            verdict.extend(since: timeline.since, first.localTime(of: timeline.since, entries))
        }
    }

    private mutating func take(_ snapshot: NetworkSnapshot, _ evaluation: PathEvaluation, _ why: [Sentence]) {
        let rows = InterfaceRows(snapshot: snapshot, path: evaluation.path, context: options.context, words: words)
        alter(\.interfaces) { $0.interfaces = rows.rows() }
        alter(\.wifi) { view in
            let present = Set(view.interfaces.map(\.index))
            view.wifi = view.wifi.filter { present.contains($0.key) }
            view.dropStaleSignals()
        }
        alter(\.verdict.why) { $0.verdict.explain(why) }
    }

    private mutating func take(_ details: [WiFiDetails]) {
        var signs: [InterfaceIndex: WiFiSign] = [:]
        for each in details {
            let index = each.interface.index
            signs[index] = WiFiSign(each, words).calmed(after: wifi[index])
        }
        wifi = signs
        dropStaleSignals()
    }

    /// A radio whose link cannot carry packets has no network; what was read just before it lost it comes later.
    private mutating func dropStaleSignals() {
        for row in interfaces where row.condition != .up { wifi[row.index] = nil }
    }

    private mutating func take(_ state: DestinationState, at place: Int) {
        guard destinations.indices.contains(place) else { return }
        alter(\.destinations) { view in
            if view.destinations[place].take(state, view.clock) { view.clock.noteEvent() }
        }
    }
}

extension LiveView {
    /// Takes a key.
    private mutating func press(_ key: Key) -> LiveViewAction? {
        dismissNote()
        switch key {
        case .control("c"): return .quit
        case .control("z"): return .suspend
        case .control("l"): return .redraw
        default: break
        }
        if let draft = navigation.draft {
            type(key, draft)
            return nil
        }
        if navigation.overlay != nil { return pressOverlay(key) }
        return pressMain(key)
    }

    /// How a recording ended has been read when the next key is pressed.
    private mutating func dismissNote() {
        switch recording {
        case .failed, .saved: recording = .off
        case .off, .on: break
        }
    }

    private mutating func pressMain(_ key: Key) -> LiveViewAction? {
        switch key {
        case .character("q"): return .quit
        case .character("e"): return .explain
        case .character("r"): return toggledRecording
        case .character("?"), .character("h"): show(.help)
        case .character("/"): navigation.draft = log.filter
        case .character(" "): togglePause()
        case .enter: openDetails()
        case .tab: moveFocus()
        case .escape: stepBack()
        default: if let motion = Motion(key) { move(motion) }
        }
        return nil
    }

    private mutating func pressOverlay(_ key: Key) -> LiveViewAction? {
        switch key {
        case .escape, .enter, .character("q"): show(nil)
        case .character("e"): return .explain
        case .character("r"): return toggledRecording
        case .character("?"), .character("h"): show(.help)
        default: if let motion = Motion(key) { scrollOverlay(motion) }
        }
        return nil
    }

    private var toggledRecording: LiveViewAction {
        if case .on = recording { .stopRecording } else { .startRecording }
    }

    private mutating func type(_ key: Key, _ draft: String) {
        var text = draft
        switch key {
        case .enter:
            navigation.draft = nil
            return
        case .escape:
            text = ""
            navigation.draft = nil
        case .backspace where text.isEmpty: navigation.draft = nil
        case .backspace: text.removeLast()
        case .control("u"): text = ""
        case .character(let character) where text.count < Self.longestFilter: text.append(character)
        default: return
        }
        if navigation.draft != nil { navigation.draft = text }
        log.setFilter(text)
        (navigation.logTop, navigation.selection) = (0, nil)
    }

    /// In characters; more is no filter but a cat on the keyboard.
    private static let longestFilter = 100

    private mutating func togglePause() {
        log.togglePause()
        if !log.isPaused { navigation.logTop = 0 }
    }

    private mutating func openDetails() {
        let chosen = navigation.selection.flatMap(log.place)
        guard let entry = log.shown(chosen ?? navigation.logTop) else { return }
        navigation.selection = entry.serial
        show(.details(entry))
    }

    /// Shows something over the screen, from its first line; nil shows the screen itself.
    private mutating func show(_ overlay: Navigation.Overlay?) {
        noteContentChange()
        (navigation.overlay, navigation.overlayTop) = (overlay, 0)
    }

    private mutating func stepBack() {
        if navigation.selection != nil {
            navigation.selection = nil
        } else if !log.filter.isEmpty {
            log.setFilter("")
        }
        navigation.logTop = 0
    }
}

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
    /// The rows that one wheel step scrolls.
    private static let wheelStep = 3

    /// Makes the arrows scroll the next part that does not fit.
    private mutating func moveFocus() {
        let parts = scrollable(layout())
        let place = parts.firstIndex(of: navigation.focus).map { ($0 + 1) % parts.count } ?? 0
        navigation.focus = parts[place]
    }

    /// Moves the choice in the log, or scrolls a table.
    private mutating func move(_ motion: Motion) {
        let layout = layout()
        // There may be room by now.
        if !scrollable(layout).contains(navigation.focus) { navigation.focus = .log }
        switch navigation.focus {
        case .log: choose(motion, room: max(layout.log.count - 1, 1))
        case .interfaces: scroll(\.interfacesTop, motion, of: interfaces.count, room: layout.interfaces.count - 1)
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

    /// Scrolls the overlay.
    private mutating func scrollOverlay(_ motion: Motion) {
        let layout = layout()
        let room = max(layout.overlay.count - 1, 1)
        let last = max(layout.overlayLines.count - room, 0)
        navigation.overlayTop = motion.target(from: min(navigation.overlayTop, last), last: last, page: room)
    }

    /// Scrolls what is under the mouse.
    private mutating func scrollByWheel(up: Bool, over row: Int) {
        let motion = Motion.rows(up ? -Self.wheelStep : Self.wheelStep)
        guard navigation.overlay == nil else { return scrollOverlay(motion) }
        let layout = layout()
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

    private mutating func scroll(_ top: WritableKeyPath<Navigation, Int>, _ motion: Motion, of count: Int, room: Int) {
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

/// Where on the screen people are: what they have scrolled to, chosen and opened.
struct Navigation: Sendable {
    /// The part that the arrows move.
    var focus = Focus.log
    /// How many newer entries are above the log's first row.
    var logTop = 0
    /// The serial of the chosen entry.
    var selection: Int?
    /// How many interfaces are above the table's first row.
    var interfacesTop = 0
    /// How many hosts are above their first row.
    var destinationsTop = 0
    /// The overlay.
    var overlay: Overlay?
    /// How many of its lines are above its first row.
    var overlayTop = 0
    /// The filter as it is being typed.
    var draft: String?

    /// A part of the screen.
    enum Focus: Sendable {
        case log
        case interfaces
        case destinations
    }

    /// The overlay.
    enum Overlay: Sendable {
        case help
        case details(LogEntry)
        case explanation([String])
    }

    /// The first entry of the log that is shown, with so many in all and room for so many.
    func logTop(of count: Int, room: Int) -> Int { min(logTop, max(count - max(room, 1), 0)) }

    /// Returns the visible rows of a table; one fewer if the last row shows the number of hidden ones.
    static func window(_ top: Int, of count: Int, room: Int) -> Range<Int> {
        guard count > room else { return 0..<count }
        let shown = room > 1 ? room - 1 : max(room, 0)
        let start = min(max(top, 0), count - shown)
        return start..<start + shown
    }
}
