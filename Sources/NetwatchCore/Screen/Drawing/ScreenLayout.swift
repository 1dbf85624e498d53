import ReachabilityCore

/// Where each part of a screen is, for what is shown on it: the rows of each part.
///
/// The lines of the top and of an overlay are part of it, because their number determines the rows.
struct ScreenLayout: Hashable {
    /// The size of the screen.
    let size: ScreenSize
    /// The lines of the top.
    let headerLines: [StyledLine]
    /// All lines of the overlay; empty if there is none.
    let overlayLines: [StyledLine]
    /// The rows of the overlay, with its heading.
    let overlay: Range<Int>
    /// The table of interfaces, with its heading.
    private(set) var interfaces = 0..<0
    /// The hosts, with their heading.
    private(set) var destinations = 0..<0
    /// The timeline.
    private(set) var timeline = 0..<0
    /// The log, with its heading.
    private(set) var log = 0..<0
    /// The row of the last line; nil on a screen that is too small for more than the top.
    private(set) var footer: Int?

    /// Computes the layout of a view on a screen of a size.
    init(of view: LiveView, size: ScreenSize) {
        self.size = size
        let isSmall = size.rows < Self.minimumRows || size.columns < Self.minimumColumns
        let maximum = isSmall ? size.rows : min(max(size.rows / 4, 6), size.rows - 5, 8)
        headerLines = HeaderPart(view: view, columns: size.columns).lines(atMost: maximum).map(\.trimmed)
        let overlayPart = OverlayPart(view: view, columns: size.columns)
        overlayLines = isSmall ? [] : view.navigation.overlay.map(overlayPart.contents) ?? []
        let start = headerLines.count + (Self.hasGaps(size) ? 1 : 0)
        overlay = start..<max(start, size.rows - 1)
        guard !isSmall else { return }
        footer = size.rows - 1
        place(Shares(of: view, size, header: headerLines.count), from: start)
    }

    /// The rows of the top.
    var header: Range<Int> { 0..<headerLines.count }

    private mutating func place(_ shares: Shares, from start: Int) {
        var row = start
        let gap = Self.hasGaps(size) ? 1 : 0
        func rows(_ count: Int) -> Range<Int> {
            guard count > 0 else { return row..<row }
            defer { row += count + gap }
            return row..<row + count
        }
        interfaces = rows(shares.interfaces)
        destinations = rows(shares.destinations)
        timeline = rows(shares.timeline)
        log = row..<max(row, size.rows - 1)
    }

    /// Whether an empty row separates the parts.
    private static func hasGaps(_ size: ScreenSize) -> Bool { size.rows >= 20 }

    /// With fewer, the top alone is shown.
    private static let minimumRows = 8
    /// With fewer, the top alone is shown.
    private static let minimumColumns = 24

    /// How many rows each part gets; the log gets the rest.
    private struct Shares {
        private(set) var interfaces = 0
        private(set) var destinations = 0
        private(set) var timeline = 0
        /// The rows that are not assigned to a part yet.
        private var rest: Int

        /// Gives each part its minimum first, then what it has a use for.
        init(of view: LiveView, _ size: ScreenSize, header: Int) {
            let hosts = view.destinations.count
            let gap = hasGaps(size) ? 1 : 0
            rest = size.rows - header - 1 - gap - gap * (hosts > 0 ? 3 : 2)
            rest -= 3  // The minimum of the log.
            give(2, to: \.interfaces)
            give(1, to: \.timeline)
            if hosts > 0 { give(2, to: \.destinations) }
            give(1, to: \.timeline)
            let half = max((rest + 1) / 2, 0)
            give(min(max(view.interfaces.count - 1, 0), half), to: \.interfaces)
            give(min(max(hosts - 1, 0), rest / 2), to: \.destinations)
            let maximumRows = TimelinePart(view: view, columns: size.columns).maximumRows
            while rest >= 4, timeline < maximumRows { give(1, to: \.timeline) }
        }

        private mutating func give(_ wished: Int, to part: WritableKeyPath<Self, Int>) {
            let given = max(min(wished, rest), 0)
            self[keyPath: part] += given
            rest -= given
        }
    }
}
