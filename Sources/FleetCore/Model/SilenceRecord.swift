import EventCore
import NetwatchCore
import ReachabilityCore

/// A silence, and the events before and after it, between which its cause is found.
struct SilenceRecord: Hashable, Sendable {
    /// In nanoseconds since 1970, by the reader's clock.
    var start: Int64
    var end: Int64?
    /// Why the connection ended.
    var reason: FleetLink.Reason
    var cause = SilenceCause.unknown
    /// Whether the machine may return soon, as if it had not been lost.
    var hasGrace = false
    /// Whether the events that say the cause are in.
    var isJudged = false
    /// The newest event that was published before it; nil if there was none.
    var before: EventID?
    /// The newest event when the machine had returned.
    var after: EventID?
    var bootBefore: String?
    var bootAfter: String?

    init(start: Int64, reason: FleetLink.Reason, before: EventID?, boot: String?) {
        self.start = start
        self.reason = reason
        self.before = before
        bootBefore = boot
        cause = reason == .stopped ? .stopped : .unknown
    }

    /// As others see it.
    var silence: Silence {
        let end = end.map { Timestamp(nanosecondsSinceEpoch: $0) }
        return .init(start: .init(nanosecondsSinceEpoch: start), end: end, cause: cause)
    }

    /// Whether the machine is known to have been started again meanwhile; nil if that is not known.
    private var wasBooted: Bool? {
        guard let bootBefore, let bootAfter else { return nil }
        return bootBefore != bootAfter
    }

    /// Finds the cause, if the events that say it are in.
    mutating func judge(by log: NodeLog) {
        guard !isJudged, let end, let after, log.hasDelivered(through: after, from: before) else { return }
        isJudged = true
        guard let before, let found = log.events(after: before, through: after) else { return }
        cause = cause(found, .nanoseconds(end - start), isSameRun: before.run == after.run)
    }

    /// - Parameters:
    ///   - found: The events in the silence.
    ///   - length: How long the silence lasted. It was noticed late, so that an outage that explains it is not much shorter.
    ///   - isSameRun: Whether the event service ran throughout.
    /// - Returns: The cause.
    private func cause(_ found: NodeLog.Excerpt, _ length: Duration, isSameRun: Bool) -> SilenceCause {
        let wasOff = wasBooted ?? !isSameRun
        if reason == .stopped { return wasOff ? .machineOff : .stopped }
        if !isSameRun, let reasons = found.reasonsOfUnfinishedOutage { return .noPath(reasons) }
        if found.suspended * 2 >= length, found.suspended > .zero { return .suspended }
        if let outage = found.longestOutage, outage.length * 2 >= length { return .noPath(outage.reasons) }
        if wasOff { return .machineOff }
        if !isSameRun { return .notRunning }
        return found.isComplete && found.wasAlwaysReachable ? .brokerNotReachable : .unknown
    }
}

extension NodeLog {
    /// The events between two.
    struct Excerpt {
        /// The total time of suspensions.
        var suspended = Duration.zero
        /// The longest time without a path, of which a part was among them.
        var longestOutage: (length: Duration, reasons: [String])?
        /// Of the first run, if it ended without a path.
        var reasonsOfUnfinishedOutage: [String]?
        /// Whether there was a path before the first of them, and with all.
        var wasAlwaysReachable = true
        /// Whether none is missing.
        var isComplete = true
    }

    /// Returns whether all events between two were delivered, as far as they are going to be.
    fileprivate func hasDelivered(through last: EventID, from first: EventID?) -> Bool {
        if let first, first.run == last.run, last.sequence <= first.sequence { return true }
        return self[last.run].flatMap(\.delivered.last).map { $0 >= last.sequence } ?? false
    }

    /// Returns what the events after one and up to another say; nil if the former is not known.
    fileprivate func events(after first: EventID, through last: EventID) -> Excerpt? {
        guard let start = runs.firstIndex(where: { $0.run == first.run }),
            let end = runs.firstIndex(where: { $0.run == last.run }), start <= end
        else { return nil }
        var reader = ExcerptReader(after: runs[start].event(at: first.sequence))
        for index in start...end {
            let run = runs[index]
            let from = index == start ? run.position(after: first.sequence) : 0
            for event in run.events[from...] where index < end || event.sequence <= last.sequence { reader.take(event) }
            if index < end { reader.endRun(isFirst: index == start) }
        }
        let numbers = min(first.sequence, last.sequence)...last.sequence
        reader.excerpt.isComplete = start == end && runs[start].known.contains(numbers)
        return reader.finished
    }
}

extension RunLog {
    /// An event, or the last one before it that is kept; nil if there is none.
    fileprivate func event(at sequence: UInt64) -> LoggedEvent? {
        let place = position(after: sequence)
        return place > 0 ? events[place - 1] : nil
    }
}

/// Reads the events of an excerpt in order.
private struct ExcerptReader {
    var excerpt = NodeLog.Excerpt()
    private var status: ReachabilityStatus?
    /// The outage that has begun, and the time of the last event in it.
    private var outage: (start: Int64?, reasons: [String])?
    private var time: Int64?

    /// - Parameter event: The event before the first; an outage that began with it goes on.
    init(after event: LoggedEvent?) {
        (status, time) = (event?.status, event?.time)
        excerpt.wasAlwaysReachable = status?.isReachable ?? false
        if let event, event.status == .notReachable { outage = (event.time, event.reasons) }
    }

    mutating func take(_ event: LoggedEvent) {
        excerpt.suspended += event.suspension ?? .zero
        if !event.status.isReachable { excerpt.wasAlwaysReachable = false }
        if event.status == .notReachable {
            if status != .notReachable { outage = (event.time, event.reasons) }
        } else {
            endOutage(at: event.time)
        }
        (status, time) = (event.status, event.time ?? time)
    }

    /// A run has ended, after which nothing of its state is known.
    mutating func endRun(isFirst: Bool) {
        if isFirst { excerpt.reasonsOfUnfinishedOutage = outage?.reasons }
        endOutage(at: time)
        status = nil
    }

    /// The excerpt, with an outage that has not ended.
    var finished: NodeLog.Excerpt {
        var reader = self
        reader.endOutage(at: reader.time)
        return reader.excerpt
    }

    private mutating func endOutage(at end: Int64?) {
        guard let outage else { return }
        self.outage = nil
        // Without a clock, an outage may have lasted as long as can be.
        let length = outage.start.flatMap { start in end.map { Duration.nanoseconds($0 - start) } } ?? .seconds(1 << 40)
        guard length > excerpt.longestOutage?.length ?? .seconds(-1) else { return }
        excerpt.longestOutage = (length, outage.reasons)
    }
}
