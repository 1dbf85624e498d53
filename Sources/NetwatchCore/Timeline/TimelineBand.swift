package import ReachabilityCore

/// A timeline as a row of cells of one length each, for a picture of it.
///
/// The cells lie on a grid of their own, whatever the moment at which the picture is made: while the state stays the
/// same, the picture changes once in a cell's length.
package struct TimelineBand: Sendable, Hashable {
    /// From the oldest to the newest, which has not ended; nil where there is no record.
    package let cells: [ReachabilityStatus?]

    /// Makes the cells.
    ///
    /// A cell shows what weighs most in it, so that no outage is too short to be seen: not reachable, then cellular, then
    /// wifi, then unknown.
    ///
    /// - Parameters:
    ///   - timeline: What to show.
    ///   - moment: The moment that the last cell holds.
    ///   - length: How long a cell is, at least a nanosecond.
    ///   - count: How many cells.
    package init(_ timeline: StateTimeline, until moment: Instant, cellLength length: Duration, count: Int) {
        let grid = Grid(length)
        let last = grid.cell(of: moment)
        let first = last - Int64(max(count, 0)) + 1
        var cells = [ReachabilityStatus?](repeating: nil, count: max(count, 0))
        let spans = timeline.spans(in: grid.start(of: first)..<max(moment, grid.start(of: first)))
        for (position, span) in spans.enumerated() where count > 0 {
            // A span that ends with a cell has no part in the next; the last span is still open.
            let hasEnded = position < spans.count - 1 && span.end > span.start
            let end = hasEnded ? Instant(nanoseconds: span.end.nanoseconds - 1) : span.end
            let (low, high) = (grid.cell(of: span.start) - first, grid.cell(of: end) - first)
            for cell in Int(max(low, 0))...Int(max(low, high, 0)) where cell < cells.count {
                cells[cell] = Self.heavier(cells[cell], span.status)
            }
        }
        self.cells = cells
    }

    private static func heavier(_ one: ReachabilityStatus?, _ other: ReachabilityStatus) -> ReachabilityStatus {
        guard let one, weight(one) > weight(other) else { return other }
        return one
    }

    private static func weight(_ status: ReachabilityStatus) -> Int {
        switch status {
        case .unknown: 0
        case .wifi: 1
        case .cellular: 2
        case .notReachable: 3
        }
    }

    private struct Grid {
        let nanoseconds: Int64

        init(_ length: Duration) {
            let (seconds, attoseconds) = length.components
            let whole = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            nanoseconds = whole.overflow ? .max : max(whole.partialValue &+ attoseconds / 1_000_000_000, 1)
        }

        func cell(of moment: Instant) -> Int64 { moment.nanoseconds.flooredQuotient(nanoseconds) }

        func start(of cell: Int64) -> Instant {
            let product = cell.multipliedReportingOverflow(by: nanoseconds)
            return .init(nanoseconds: product.overflow ? (cell < 0 ? .min : .max) : product.partialValue)
        }
    }
}
