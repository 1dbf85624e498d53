/// Decides which paths become notices, and when: only differences, held back until they settle.
struct PathPublisher: Sendable, Hashable {
    /// How long a path must stay the same before it is published.
    var settle: Duration
    /// The same for changes from reachable to not reachable.
    var settleGoingDown: Duration
    /// How many notices there were.
    private(set) var sequence: UInt64
    /// What was published last; nil before the first notice.
    private(set) var published: NetworkPath?
    /// Whether there was a notice.
    private(set) var hasPublished = false
    private var reasons: [Reason] = []
    private var held: Held?
    private var awaited: Awaited?

    /// A change is held back no longer than this many times the time it must be quiet.
    private static let patience = 5

    init(settle: Duration = .zero, settleGoingDown: Duration? = nil, sequence: UInt64 = 0) {
        self.settle = Self.sensible(settle)
        self.settleGoingDown = Self.sensible(settleGoingDown ?? settle)
        self.sequence = sequence
    }

    /// What a user calls a duration may be longer than clocks go.
    private static func sensible(_ duration: Duration) -> Duration { max(.zero, min(duration, .seconds(86_400))) }

    /// A path that is not published yet.
    private struct Held: Sendable, Hashable {
        var path: NetworkPath
        /// When the published path was left.
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

    /// When a path that is held back is due, if one is.
    var deadline: Instant? {
        guard let held else { return nil }
        let quiet = quietTime(before: held.path)
        return min(held.changed.advanced(by: quiet), held.since.advanced(by: quiet * Self.patience))
    }

    /// Notes why the next notice comes, in order and each once.
    ///
    /// The addresses that go with their interface are no cause beside it: the kernel tells of them in messages of their
    /// own, and whether those are read together with the interface's is a matter of microseconds.
    mutating func note(_ added: [Reason]) {
        for reason in added where !reasons.contains(reason) {
            if reason == .addressRemoved, reasons.contains(.linkDown) || reasons.contains(.linkRemoved) { continue }
            reasons.append(reason)
        }
    }

    /// Notes that a path will be offered once it is confirmed, or published once it has settled: what happens until then
    /// is not why, unless the path becomes another.
    mutating func expect(_ path: NetworkPath) {
        if awaited?.path != path { awaited = .init(path: path, reasons: reasons.count) }
    }

    /// Takes a new verdict; gives a notice if it is a difference, and due.
    ///
    /// - Parameters:
    ///   - path: The verdict.
    ///   - isCurrent: Whether it takes all into account that was noted; if not, what was noted may yet be the reason.
    ///   - now: The moment.
    /// - Returns: The notice, if there is one.
    mutating func offer(_ path: NetworkPath, isCurrent: Bool = true, at now: Instant) -> StateChange? {
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

    /// Gives the notice of a path that was held back, if it is due.
    mutating func due(at now: Instant) -> StateChange? {
        guard let held, let deadline, deadline <= now else { return nil }
        return publish(held.path, .change)
    }

    /// Gives a notice that is not about the path: status and path stay what they are.
    mutating func announce(_ event: StateChange.Event, _ reason: Reason) -> StateChange? {
        guard let published else { return nil }
        sequence += 1
        return .init(
            event: event,
            status: published.status,
            previous: published.status,
            path: published,
            reasons: [reason],
            sequence: sequence
        )
    }

    /// Gives the notice that nothing is known any more; also as the first one.
    mutating func fail(_ reason: Reason) -> StateChange? {
        let path = NetworkPath(status: .unknown, reasons: [reason])
        guard published != path else { return nil }
        forgetReasons()
        reasons = [reason]
        return publish(path, .error)
    }

    /// Gives the last notice.
    mutating func stop() -> StateChange {
        reasons = [.notStarted]
        return publish(.init(status: .unknown, reasons: [.notStarted]), .change)
    }

    private mutating func publish(_ path: NetworkPath, _ event: StateChange.Event) -> StateChange {
        sequence += 1
        defer {
            published = path
            hasPublished = true
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

    /// The reasons that are causes: what goes with the loss or the gain of a carrier is told before or after it.
    ///
    /// The kernel forgets the neighbours of an interface with its carrier. A bond changes, and then has a carrier.
    private var causes: [Reason] {
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
