import ReachabilityCore

extension LiveView {
    /// Takes a key.
    mutating func press(_ key: Key) -> LiveViewAction? {
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
        case .character("?"), .character("h"): open(.help)
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
        case .escape, .enter, .character("q"): navigation.overlay = nil
        case .character("e"): return .explain
        case .character("r"): return toggledRecording
        case .character("?"), .character("h"): open(.help)
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
        open(.details(entry))
    }

    /// Opens something over the screen, at its beginning.
    mutating func open(_ overlay: Navigation.Overlay) { (navigation.overlay, navigation.overlayTop) = (overlay, 0) }

    private mutating func stepBack() {
        if navigation.selection != nil {
            navigation.selection = nil
        } else if !log.filter.isEmpty {
            log.setFilter("")
        }
        navigation.logTop = 0
    }
}
