import EventCore
import NetwatchCore
import ReachabilityCore

/// The record of a machine.
///
/// Times are in nanoseconds since 1970, by the reader's clock.
struct NodeRecord: Sendable {
    var log = NodeLog()
    /// The condition, as of the last time that it was computed.
    private(set) var status: NodeStatus
    /// When ``status`` changes by time alone; nil if it does not, but for the availability.
    private(set) var nextChange: Int64?
    private var isExpected = false
    private var isKnown = false
    private var inventoryLabels: [String: String] = [:]
    private var ownLabels: [String: String]?
    private var presence = Presence.unknown
    private var session: String?
    /// Other sessions that ended or were replaced, the newest last.
    private var earlierSessions: [String] = []
    private var boot: String?
    private var lastSeen: Int64?
    /// Whether the state was published after the connection was made, so that it is that of now.
    private var hasCurrentState = false
    /// The oldest first; the last one may not have ended.
    private var silences: [SilenceRecord] = []
    /// The ids of gaps that the machine reported, the newest last.
    private var gaps: [String] = []

    private static let maximumSilences = 8
    private static let maximumGaps = 32
    private static let maximumEarlierSessions = 8

    init(_ key: NodeKey) { status = .init(key) }

    /// The event from which on all are needed to find the cause of a silence.
    private var firstNeededEvent: EventID? { silences.first { !$0.isJudged && $0.before != nil }?.before }

    // MARK: Messages

    /// The inventory has the machine.
    mutating func expect(labels: [String: String]) {
        isExpected = true
        inventoryLabels = labels
    }

    mutating func apply(_ report: NodeReport, _ delivery: Delivery, capacity: Int) -> FleetUpdate {
        let now = delivery.time.nanosecondsSinceEpoch
        isKnown = report.content != .removed
        switch report.content {
        case .link(let link): return apply(link, at: delivery.publication, now, delivery.isRetained)
        case .state(let event): return apply(event, isDelivered: false, delivery, capacity)
        case .event(let event): return apply(event, isDelivered: true, delivery, capacity)
        case .gap(let gap): return apply(gap)
        case .removed:
            forget()
            return .new
        }
    }

    /// The messages that the broker kept were removed, and with them the machine.
    private mutating func forget() {
        (log, presence, session, lastSeen, ownLabels) = (.init(), .unknown, nil, nil, nil)
        (silences, gaps, earlierSessions) = ([], [], [])
    }

    private mutating func apply(_ gap: GapReport) -> FleetUpdate {
        guard !gaps.contains(gap.id) else { return .duplicate }
        if gaps.count >= Self.maximumGaps { gaps.removeFirst() }
        gaps.append(gap.id)
        return .new
    }

    private mutating func apply(
        _ event: EventReport,
        isDelivered: Bool,
        _ delivery: Delivery,
        _ capacity: Int
    ) -> FleetUpdate {
        let now = delivery.time.nanosecondsSinceEpoch
        let update = log.add(event, isDelivered: isDelivered, receivedAt: now)
        if log.count > capacity + capacity / 8 { log.prune(before: .min, keeping: nil, capacity: capacity) }
        if !isDelivered {
            hasCurrentState = true
            see(at: delivery.publication ?? (delivery.isRetained ? min(event.time.nanosecondsSinceEpoch, now) : now))
        } else if !delivery.isRetained, update == .new {
            see(at: min(now, max(event.time.nanosecondsSinceEpoch, lastSeen ?? 0)))
        }
        return update
    }

    /// - Parameters:
    ///   - link: The message.
    ///   - publication: When it was published, if that is known.
    ///   - now: When it was received.
    ///   - isRetained: Whether the broker had kept it.
    /// - Returns: Whether it is outdated.
    private mutating func apply(
        _ link: LinkReport,
        at publication: Int64?,
        _ now: Int64,
        _ isRetained: Bool
    ) -> FleetUpdate {
        let moment = publication ?? now
        guard let reason = link.offline else {
            let start = publication ?? link.time.map { min($0.nanosecondsSinceEpoch, now) } ?? now
            connect(link, at: start, isRetained)
            return .new
        }
        if presence == .online, isOutdated(link, isRetained) {
            addEarlier(link.session)
            return .outdated
        }
        take(link)
        // It was connected until now if it says itself that it was stopped.
        if reason == .stopped, silences.last?.reason == .lost { endSilence(at: moment, boot: link.boot) }
        if presence != .silent || silences.last?.end != nil {
            silences.append(.init(start: moment, reason: reason, before: log.newest?.id, boot: link.boot ?? boot))
            silences[silences.count - 1].hasGrace = reason == .lost && !isRetained
            if silences.count > Self.maximumSilences { silences.removeFirst() }
        }
        (presence, hasCurrentState) = (.silent, false)
        boot = link.boot ?? boot
        return .new
    }

    private mutating func connect(_ link: LinkReport, at moment: Int64, _ isRetained: Bool) {
        take(link)
        see(at: moment)
        boot = link.boot
        // Of the retained messages, the state may come first.
        if presence != .online, !isRetained { hasCurrentState = false }
        presence = .online
        endSilence(at: moment, boot: link.boot)
    }

    private mutating func endSilence(at moment: Int64, boot: String?) {
        guard let last = silences.indices.last, silences[last].end == nil else { return }
        silences[last].end = max(moment, silences[last].start)
        silences[last].bootAfter = boot
    }

    /// Returns whether a message says only that a session ended which another one had replaced.
    private func isOutdated(_ link: LinkReport, _ isRetained: Bool) -> Bool {
        guard let session, session != link.session else { return false }
        // A retained message may be of a session that began and ended while the reader was not connected: it is unknown
        // to the reader, and the latest. Or it is the will of a replaced session, which the broker published late.
        return !isRetained || earlierSessions.contains(link.session)
    }

    private mutating func take(_ link: LinkReport) {
        if let session, session != link.session { addEarlier(session) }
        session = link.session
        ownLabels = link.labels
    }

    private mutating func addEarlier(_ session: String) {
        earlierSessions.removeAll { $0 == session }
        if earlierSessions.count >= Self.maximumEarlierSessions { earlierSessions.removeFirst() }
        earlierSessions.append(session)
    }

    private mutating func see(at moment: Int64) { lastSeen = max(lastSeen ?? moment, moment) }

    // MARK: The condition

    /// Computes the condition again.
    ///
    /// - Returns: Whether it has changed.
    mutating func settle(at now: Int64, grace: Int64, capacity: Int) -> Bool {
        dropBlips(at: now, grace)
        for index in silences.indices { judge(index) }
        log.prune(before: now - Span.day - Span.hour, keeping: firstNeededEvent, capacity: capacity)
        let old = status
        nextChange = nil
        describeLink(at: now, grace)
        describeEvents(at: now)
        return status != old
    }

    /// Drops a silence that was over within the grace time: a connection that was taken over by another.
    private mutating func dropBlips(at now: Int64, _ grace: Int64) {
        silences.removeAll { silence in
            silence.end.map { silence.hasGrace && $0 - silence.start < grace } ?? false
        }
    }

    private mutating func judge(_ index: Int) {
        if silences[index].end == nil {
            // What comes of a machine that is silent was published before.
            silences[index].before = log.newest?.id ?? silences[index].before
        } else if silences[index].after == nil, hasCurrentState || index < silences.count - 1 {
            silences[index].after = log.newest?.id
        }
        silences[index].judge(by: log)
    }

    private mutating func describeLink(at now: Int64, _ grace: Int64) {
        status.labels = inventoryLabels.merging(ownLabels ?? [:]) { $1 }
        status.lastSeen = lastSeen.map { .init(nanosecondsSinceEpoch: $0) }
        (status.isExpected, status.isKnown) = (isExpected, isKnown)
        status.presence = presence
        status.silence = silences.last { $0.end.map { $0 > now - Span.day } ?? true }?.silence
        guard presence == .silent, let last = silences.last, last.hasGrace, last.end == nil else { return }
        let end = last.start + grace
        guard now < end else { return }
        // It may be about to return.
        status.presence = .online
        status.silence = silences.dropLast().last { $0.end.map { $0 > now - Span.day } ?? true }?.silence
        nextChange = end
    }

    private mutating func describeEvents(at now: Int64) {
        let newest = log.newest
        status.newest = newest?.id
        status.lastState = newest?.status ?? .unknown
        status.state = status.presence == .online ? status.lastState : .unknown
        (status.path, status.validation) = (newest?.path, newest?.validation)
        status.reasons = newest?.reasons ?? []
        (status.backlog, status.lost) = (log.backlog, log.lost(since: now - Span.day))
        var history = log.history
        if status.backlog == 0, let last = coverageEnd(now) { history?.extend(to: .init(nanosecondsSinceEpoch: last)) }
        describe(history?.timeline, in: .init(nanoseconds: now - Span.day)..<(.init(nanoseconds: now)))
    }

    /// Until when the newest state is known to have lasted.
    private func coverageEnd(_ now: Int64) -> Int64? {
        presence == .online && hasCurrentState ? now : lastSeen.map { min($0, now) }
    }

    private mutating func describe(_ timeline: StateTimeline?, in window: Range<Instant>) {
        let now = window.upperBound.nanoseconds
        let sum = timeline?.availability(in: window) ?? .init()
        status.availability = sum.share
        status.outages = sum.outages
        status.uncovered = max(.nanoseconds(Span.day) - sum.up - sum.down, .zero)
        let isCurrent = timeline?.status == status.lastState && status.lastState != .unknown
        status.since = isCurrent ? timeline.map { .init(nanosecondsSinceEpoch: $0.since.nanoseconds) } : nil
        let flapping = Flapping(timeline?.changes(in: window) ?? [], at: now)
        status.isFlapping = flapping.end != nil
        if let end = flapping.end { nextChange = min(nextChange ?? end, end) }
    }
}

extension NodeStatus {
    /// A machine of which nothing is known.
    fileprivate init(_ key: NodeKey) {
        self.init(
            key: key,
            labels: [:],
            presence: .unknown,
            state: .unknown,
            lastState: .unknown,
            reasons: [],
            uncovered: .nanoseconds(Span.day),
            outages: 0,
            isFlapping: false,
            backlog: 0,
            lost: 0,
            isExpected: false,
            isKnown: false
        )
    }
}

extension Delivery {
    /// When the message was published, in nanoseconds since 1970; nil if it was retained, and has no expiry that says it.
    fileprivate var publication: Int64? {
        let now = time.nanosecondsSinceEpoch
        guard isRetained else { return now }
        return expiry.map { now - Int64(FleetMessage.expiry - min($0, FleetMessage.expiry)) * Span.second }
    }
}
