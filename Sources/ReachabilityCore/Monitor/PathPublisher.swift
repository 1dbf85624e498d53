/// The publication of paths: only differences, held back until they settle.
struct PathPublisher: Sendable, Hashable {
    /// The time for which a path must stay the same before it is published.
    private let settle: Duration
    /// The same for changes from reachable to not reachable.
    private let settleGoingDown: Duration
    /// The number of published changes.
    private var sequence: UInt64 = 0
    /// The path that was published last; nil before the first.
    private(set) var published: NetworkPath?
    private var announcements: [ReachabilityChange] = []
    private var reasons: [ReachabilityReason] = []
    private var held: Held?
    private var awaited: Awaited?
    /// Whether a loss of messages was announced, and not everything has been read again.
    private var isResynchronizing = false

    init(settle: Duration = .zero, settleGoingDown: Duration? = nil) {
        self.settle = Self.limited(settle)
        self.settleGoingDown = Self.limited(settleGoingDown ?? settle)
    }

    /// Numbers the changes after those of another publisher, which published them before this one's.
    mutating func continueNumbers(after last: UInt64) { sequence = last }

    private static func limited(_ duration: Duration) -> Duration {
        max(.zero, min(duration, Pacing.longestSettleTime))
    }

    /// A path that is not published yet.
    private struct Held: Sendable, Hashable {
        var path: NetworkPath
        /// When the path first differed from the published one.
        var since: Instant
        /// When the path became what it is.
        var changed: Instant
    }

    /// A path that is to be confirmed before it is offered, or to settle before it is published.
    private struct Awaited: Sendable, Hashable {
        var path: NetworkPath
        /// How many reasons there were when the path became what it is.
        var reasons: Int
    }

    /// When the path that is held back is due.
    var deadline: Instant? {
        guard let held else { return nil }
        let quiet = quietTime(before: held.path)
        return min(held.changed.advanced(by: quiet), held.since.advanced(by: quiet * Pacing.longestHold))
    }

    /// Adds reasons of the next change, in order and each once.
    ///
    /// Addresses that go with their interface are no reason of their own: the kernel announces them in messages of
    /// their own, and whether those are read together with the interface's is a matter of microseconds.
    mutating func note(_ added: [ReachabilityReason]) {
        for reason in added where !reasons.contains(reason) {
            if reason == .addressRemoved, reasons.contains(.linkDown) || reasons.contains(.linkRemoved) { continue }
            reasons.append(reason)
        }
    }

    /// Records that a path will be offered once it is confirmed, or published once it has settled: what happens until
    /// then is not its reason, unless the path changes.
    mutating func expect(_ path: NetworkPath) {
        if awaited?.path != path { awaited = .init(path: path, reasons: reasons.count) }
    }

    /// Takes a newly evaluated path.
    ///
    /// - Parameters:
    ///   - path: The path.
    ///   - isCurrent: Whether it takes all changes into account; if not, their reasons are kept for the next one.
    ///   - now: The moment.
    /// - Returns: The change to publish, if the path differs and is due.
    mutating func offer(_ path: NetworkPath, isCurrent: Bool = true, at now: Instant) -> ReachabilityChange? {
        guard let published else { return publish(path, .state) }
        guard path != published else {
            held = nil
            if isCurrent { forgetReasons() }
            return nil
        }
        guard quietTime(before: path) > .zero else { return publish(path, .change) }
        expect(path)
        if held == nil { held = .init(path: path, since: now, changed: now) }
        if held?.path != path {
            held?.path = path
            held?.changed = now
        }
        return due(at: now)
    }

    /// Returns the change to a path that was held back, if it is due.
    mutating func due(at now: Instant) -> ReachabilityChange? {
        guard let held, let deadline, deadline <= now else { return nil }
        return publish(held.path, .change)
    }

    // MARK: Announcements

    /// Returns the next change that does not come from an evaluation.
    mutating func takeAnnouncement() -> ReachabilityChange? {
        announcements.isEmpty ? nil : announcements.removeFirst()
    }

    /// Announces an event that leaves state and path as they are.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - reason: Its reason.
    ///   - suspended: How long the machine was suspended; nil for other events.
    mutating func announce(_ event: ReachabilityChange.Event, _ reason: ReachabilityReason, suspended: Duration? = nil)
    {
        guard let published else { return }
        sequence += 1
        let change = ReachabilityChange(
            event: event,
            status: published.status,
            previous: published.status,
            path: published,
            reasons: [reason],
            sequence: sequence,
            suspended: suspended
        )
        announcements.append(change)
    }

    /// Announces that messages were lost, unless that was announced and not everything has been read again.
    ///
    /// - Parameter reason: How they were lost.
    /// - Returns: Whether it was announced.
    mutating func announceResynchronization(_ reason: ReachabilityReason) -> Bool {
        guard !isResynchronizing, published != nil else { return false }
        announce(.resync, reason)
        note([reason])
        isResynchronizing = true
        return true
    }

    /// Announces that interfaces roamed to another access point, if the published path leads through one of them.
    ///
    /// If the loss in between was published, the path leads through none of them, and there is nothing to announce.
    mutating func announceRoams(of interfaces: [InterfaceIndex]) {
        guard let published, published.carriers.contains(where: { interfaces.contains($0.index) }) else { return }
        announce(.roam, .roamed)
    }

    /// Records that everything was read again after a loss.
    mutating func endResynchronization() { isResynchronizing = false }

    /// Announces that the state is unknown; also as the first change.
    mutating func announceFailure(_ reason: ReachabilityReason) {
        let path = NetworkPath(status: .unknown, reasons: [reason])
        guard published != path else { return }
        forgetReasons()
        reasons = [reason]
        announcements.append(publish(path, .error))
    }

    /// Returns the last change.
    mutating func stop() -> ReachabilityChange {
        reasons = [.notStarted]
        return publish(.init(status: .unknown, reasons: [.notStarted]), .change)
    }

    private mutating func publish(_ path: NetworkPath, _ event: ReachabilityChange.Event) -> ReachabilityChange {
        sequence += 1
        defer {
            published = path
            held = nil
            forgetReasons()
        }
        if let awaited, awaited.path == path, awaited.reasons > 0 { reasons = Array(reasons.prefix(awaited.reasons)) }
        return .init(
            event: event,
            status: path.status,
            previous: published?.status,
            path: path,
            reasons: event == .state ? [.initial] : causes,
            sequence: sequence
        )
    }

    /// The reasons that are causes: the effects of a lost or gained carrier are announced before or after it.
    ///
    /// The kernel forgets the neighbours of an interface with its carrier. A bond changes, and then has a carrier.
    private var causes: [ReachabilityReason] {
        guard reasons.contains(where: { $0 == .neighbourChanged || $0 == .linkChanged }) else { return reasons }
        let isLoss = reasons.contains { [.carrierLost, .linkDown, .linkRemoved].contains($0) }
        let isGain = reasons.contains { [.carrierGained, .linkUp, .linkAdded].contains($0) }
        return reasons.filter { reason in
            switch reason {
            case .neighbourChanged: !isLoss
            case .linkChanged: !isLoss && !isGain
            default: true
            }
        }
    }

    private mutating func forgetReasons() {
        reasons = []
        awaited = nil
    }

    private func quietTime(before path: NetworkPath) -> Duration {
        guard let published else { return .zero }
        return published.status.isReachable && !path.status.isReachable ? settleGoingDown : settle
    }
}
