/// Which rows of the screen each part has.
struct ScreenLayout: Hashable {
    /// How many lines the top has.
    private(set) var header: Int
    /// The table of interfaces, with its heading.
    private(set) var interfaces = 0..<0
    /// The hosts, with their heading.
    private(set) var destinations = 0..<0
    /// The timeline.
    private(set) var timeline = 0..<0
    /// The log, with its heading.
    private(set) var log = 0..<0
    /// The last line's row; nil if there is none.
    private(set) var footer: Int?

    /// A screen for the top alone, for one that is too small for more.
    init(headerOnly rows: Int) { header = rows }

    /// Shares the rows.
    ///
    /// - Parameters:
    ///   - rows: How many there are, at least ``leastRows``.
    ///   - header: How many the top takes.
    ///   - interfaces: How many interfaces there are.
    ///   - destinations: How many hosts there are.
    ///   - mostTimeline: How many rows the timeline has a use for.
    init(rows: Int, header: Int, interfaces: Int, destinations: Int, timeline mostTimeline: Int) {
        self.header = header
        footer = rows - 1
        let hasGaps = rows >= 20
        var parts = Parts(
            rows: rows - header - 1 - (hasGaps ? 1 : 0),
            gap: hasGaps ? 1 : 0,
            hasDestinations: destinations > 0
        )
        parts.share(interfaces: interfaces, destinations: destinations, timeline: mostTimeline)
        var row = header + (hasGaps ? 1 : 0)
        let gap = hasGaps ? 1 : 0
        func place(_ count: Int) -> Range<Int> {
            guard count > 0 else { return row..<row }
            defer { row += count + gap }
            return row..<row + count
        }
        self.interfaces = place(parts.interfaces)
        self.destinations = place(parts.destinations)
        timeline = place(parts.timeline)
        log = row..<max(row, rows - 1)
    }

    /// With fewer, the top alone is shown.
    static let leastRows = 8
    /// With fewer, the top alone is shown.
    static let leastColumns = 24

    /// How many rows each part has.
    private struct Parts {
        /// For all of them.
        private var rest: Int
        var interfaces = 0
        var destinations = 0
        var timeline = 0

        init(rows: Int, gap: Int, hasDestinations: Bool) {
            rest = rows - gap * (hasDestinations ? 3 : 2)
        }

        /// The least first, then what each part would like; what is left is the log's.
        mutating func share(interfaces all: Int, destinations hosts: Int, timeline most: Int) {
            rest -= 3  // The log's least.
            give(2, to: \.interfaces)
            give(1, to: \.timeline)
            if hosts > 0 { give(2, to: \.destinations) }
            give(1, to: \.timeline)
            let half = max((rest + 1) / 2, 0)
            give(min(max(all - 1, 0), half), to: \.interfaces)
            give(min(max(hosts - 1, 0), rest / 2), to: \.destinations)
            while rest >= 4, timeline < most { give(1, to: \.timeline) }
        }

        private mutating func give(_ wished: Int, to part: WritableKeyPath<Self, Int>) {
            let given = max(min(wished, rest), 0)
            self[keyPath: part] += given
            rest -= given
        }
    }
}
