package import EventCore
package import NetwatchCore
package import ReachabilityCore
package import ValidationCore

/// The past of one run of the service, as much as the page shows of it, in bounded memory.
package struct PageHistory: Sendable {
    /// A change, and when it was published.
    struct Entry: Sendable {
        let change: ReachabilityChange
        /// The verdict on the path, if that is what changed; otherwise nil.
        let verdict: ValidationVerdict?
        let moment: EventMetrics.Moment
    }

    /// A time without network.
    struct Outage: Sendable {
        /// When it began.
        let start: EventMetrics.Moment
        /// When it ended, in nanoseconds since boot; nil if it has not.
        var end: Int64?
        /// The reasons of the change with which it began, then those of the path.
        let reasons: [ReachabilityReason]
    }

    /// The newest changes, the oldest first.
    private(set) var entries: [Entry] = []
    /// The newest outages, the oldest first.
    private(set) var outages: [Outage] = []
    /// When there was which state, by the time since boot, until the newest change; nil until the first.
    private var timeline: StateTimeline?
    /// When the state began that there is now.
    private(set) var since: EventMetrics.Moment?
    /// The newest report about the current path; nil if there is none.
    package var validation: ValidationSummary?

    /// The number of changes that are kept.
    static let changeCapacity = 100
    /// The number of outages that are kept.
    static let outageCapacity = 20

    /// Creates an empty history.
    package init() {}

    /// The newest change.
    var latest: ReachabilityChange? { entries.last?.change }

    /// Returns when there was which state, until a moment; nil until the first change.
    func timeline(until end: Instant) -> StateTimeline? {
        var timeline = timeline
        timeline?.advance(to: end)
        return timeline
    }

    /// Adds a change.
    ///
    /// - Parameters:
    ///   - change: The change, or the state if the verdict changed.
    ///   - verdict: The verdict on the path, if that changed.
    ///   - moment: When it was published.
    package mutating func record(
        _ change: ReachabilityChange,
        verdict: ValidationVerdict? = nil,
        at moment: EventMetrics.Moment
    ) {
        if change.status != latest?.status { since = moment }
        if entries.count == Self.changeCapacity { entries.removeFirst() }
        entries.append(.init(change: change, verdict: verdict, moment: moment))
        noteState(change, at: .init(nanoseconds: moment.sinceBoot))
        noteOutage(change, at: moment)
    }

    private mutating func noteState(_ change: ReachabilityChange, at instant: Instant) {
        guard timeline != nil else {
            timeline = StateTimeline(change.status, at: instant)
            return
        }
        if let suspended = change.suspended {
            let start = instant.advanced(by: .zero - suspended)
            timeline?.noteGap(from: start, to: instant)
        }
        timeline?.note(change.status, at: instant)
    }

    /// An unknown state neither begins nor ends an outage.
    private mutating func noteOutage(_ change: ReachabilityChange, at moment: EventMetrics.Moment) {
        let isOut = outages.last.map { $0.end == nil } ?? false
        switch change.status {
        case .unknown: break
        case .notReachable where !isOut:
            if outages.count == Self.outageCapacity { outages.removeFirst() }
            outages.append(.init(start: moment, end: nil, reasons: change.allReasons))
        case .notReachable: break
        case .cellular, .wifi:
            if isOut { outages[outages.count - 1].end = moment.sinceBoot }
        }
    }
}

extension ReachabilityChange {
    /// The reasons of the change, then those of the path, each once.
    var allReasons: [ReachabilityReason] { reasons + path.reasons.filter { !reasons.contains($0) } }
}
