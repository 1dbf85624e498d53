import ReachabilityCore

/// Where on the screen people are: what they have scrolled to, chosen and opened.
struct Navigation: Sendable {
    /// The size of the screen.
    var size = ScreenSize(columns: 80, rows: 24)
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
    /// What lies over the screen.
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

    /// What lies over the screen.
    enum Overlay: Sendable {
        case help
        case details(LogEntry)
        case explanation([String])
    }

    /// The first entry of the log that is shown, with so many in all and room for so many.
    func logTop(of count: Int, room: Int) -> Int { min(logTop, max(count - max(room, 1), 0)) }

    /// What of a table is shown: from where it was scrolled to, and one less if the last row must tell how many are not.
    static func window(_ top: Int, of count: Int, room: Int) -> Range<Int> {
        guard count > room else { return 0..<count }
        let shown = room > 1 ? room - 1 : max(room, 0)
        let start = min(max(top, 0), count - shown)
        return start..<start + shown
    }
}
