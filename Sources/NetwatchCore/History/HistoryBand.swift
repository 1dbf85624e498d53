import ReachabilityCore

/// A day's states as stretches of cells; what weighs most in a cell is what it shows, so that no outage is lost.
struct HistoryBand {
    /// How a stretch looks, by the name of its class; the heavier comes later.
    enum Look: String, CaseIterable {
        case none
        case unknown
        case wifi
        case cellular
        case away

        /// What the legend calls it.
        var name: String {
            switch self {
            case .none: "no record"
            case .unknown: "unknown"
            case .wifi: "wifi or wired"
            case .cellular: "cellular"
            case .away: "not reachable"
            }
        }

        /// How high it is drawn: cellular paths are lower, so that colour is not their only sign.
        func height(_ whole: Int) -> Int { self == .cellular ? whole * 5 / 8 : whole }

        fileprivate init(_ status: ReachabilityStatus) {
            switch status {
            case .unknown: self = .unknown
            case .notReachable: self = .away
            case .cellular: self = .cellular
            case .wifi: self = .wifi
            }
        }

        fileprivate var weight: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    }

    /// Some cells that look the same.
    struct Stretch {
        var cells: Range<Int>
        var look: Look
    }

    /// The stretches from midnight to midnight, without gap.
    let stretches: [Stretch]

    init(_ history: History, _ day: LocalDay, in window: Range<Instant>, width: Int) {
        var cells = [Look](repeating: .none, count: width)
        for span in history.timeline.spans(in: day.span.clamped(to: window)) {
            let look = Look(span.status)
            let first = Self.cell(of: span.start, day, width: width)
            // What ends with a cell has no part in the next.
            let end = Instant(nanoseconds: max(span.start.nanoseconds, span.end.nanoseconds - 1))
            let last = Self.cell(of: end, day, width: width)
            for cell in first...max(first, last) where cells[cell].weight < look.weight { cells[cell] = look }
        }
        var stretches: [Stretch] = []
        for (cell, look) in cells.enumerated() {
            if let last = stretches.last, last.look == look {
                stretches[stretches.count - 1].cells = last.cells.lowerBound..<cell + 1
            } else {
                stretches.append(.init(cells: cell..<cell + 1, look: look))
            }
        }
        self.stretches = stretches
    }

    /// The cell of a moment of a day, whatever its length.
    static func cell(of moment: Instant, _ day: LocalDay, width: Int) -> Int {
        let length = Int128(day.span.upperBound.nanoseconds) - Int128(day.span.lowerBound.nanoseconds)
        let part = Int128(moment.nanoseconds) - Int128(day.span.lowerBound.nanoseconds)
        guard length > 0 else { return 0 }
        return Int(min(max(part * Int128(width) / length, 0), Int128(width - 1)))
    }
}
