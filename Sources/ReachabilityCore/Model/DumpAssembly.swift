/// Collects dumps of the kernel's tables, and puts them into a model as a whole.
///
/// Events that arrive meanwhile are applied to the model, as always, and recorded here too: they override what was read.
/// ```swift
/// var assembly = DumpAssembly()
/// assembly.begin(.links)                              // when the request is sent
/// assembly.take(reply, header, of: .links, at: now)  // for each reply, NLMSG_DONE included
/// assembly.note(event, header, at: now)               // for each event that the model is given meanwhile
/// let effect = assembly.commit(to: &snapshot)         // when every reading is finished
/// ```
/// Several subjects may be read together; one commit takes them all, and its effect is the net difference from the model
/// before. The states between are not visible. Read what routes depend on before them: links, addresses, settings, nexthop
/// objects. And before a commit, record all events that have been announced until then.
package struct DumpAssembly: Sendable {
    private var readings: [Progress] = []
    private var log: [Event] = []

    /// A reading, and how many events had been noted when it began.
    private struct Progress: Sendable {
        var reading: DumpReading
        let start: Int
    }

    /// An event that came while something was read.
    private struct Event: Sendable {
        let event: KernelEvent
        let header: NetlinkHeader
        let time: Instant
    }

    /// Makes an assembly without dumps.
    package init() {}

    /// Whether something is being read, so that events are recorded.
    package var isReading: Bool { !readings.isEmpty }

    /// Returns what has been read of a subject since it was begun.
    package func reading(of subject: DumpSubject) -> DumpReading? {
        readings.first { $0.reading.subject == subject }?.reading
    }

    /// Begins to read a subject, or begins again, as after an interruption; call it before the request is sent.
    package mutating func begin(_ subject: DumpSubject) {
        readings.removeAll { $0.reading.subject == subject }
        readings.append(.init(reading: .init(subject), start: log.count))
    }

    /// Takes a reply to the dump of a subject; without ``begin(_:)`` it is dropped.
    package mutating func take(
        _ event: KernelEvent,
        _ header: NetlinkHeader,
        of subject: DumpSubject,
        at now: Instant
    ) {
        guard let position = readings.firstIndex(where: { $0.reading.subject == subject }) else { return }
        readings[position].reading.take(event, header, at: now)
    }

    /// Records an event that came while something is being read.
    package mutating func note(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) {
        if isReading { log.append(.init(event: event, header: header, time: now)) }
    }

    /// Gives up whatever is being read.
    package mutating func cancel() { self = .init() }

    /// Gives up the dump of a subject: unless it is begun again, a commit leaves that part of the model as it is.
    package mutating func cancel(_ subject: DumpSubject) {
        readings.removeAll { $0.reading.subject == subject }
        if !isReading { cancel() }
    }

    /// Puts all that was read into a model, with the events that came since, and ends the dumps.
    ///
    /// - Parameters:
    ///   - snapshot: The model, to which the noted events have been applied.
    ///   - keepsMissing: Whether routes that the model has and a reading has not are kept: right if the model had
    ///     missed no event, since then it would know of their end, and the kernel may leave routes out of a dump.
    /// - Returns: The net difference. Its stale subjects include tables that were changed meanwhile in a way that cannot
    ///   be followed without knowing the moment at which they were read: read those again.
    package mutating func commit(to snapshot: inout NetworkSnapshot, keepsMissing: Bool = false) -> SnapshotEffect {
        var effect = SnapshotEffect()
        let replayed = replay(over: snapshot, &effect)
        var merge = SnapshotMerge(into: snapshot)
        merge.adopt(readings.map(\.reading.subject), from: replayed, keepsMissing: keepsMissing)
        snapshot = merge.finish(&effect)
        cancel()
        return effect
    }

    /// Applies the recorded events in their order, and puts each dump into the model at the event before which it began.
    private func replay(over snapshot: NetworkSnapshot, _ effect: inout SnapshotEffect) -> NetworkSnapshot {
        var model = snapshot
        for position in 0...log.count {
            for progress in readings where progress.start == position {
                SnapshotMerge.replace(progress.reading, in: &model)
            }
            guard position < log.count else { break }
            let entry = log[position]
            let change = model.apply(entry.event, entry.header, at: entry.time)
            for subject in change.staleSubjects { effect.markStale(subject) }
            guard case .route(let message) = entry.event, entry.header.flags.contains(.replace) else { continue }
            for progress in readings where progress.start <= position {
                if progress.reading.subject.covers(.route(message)) { effect.markStale(progress.reading.subject) }
            }
        }
        return model
    }
}

/// One dump of one of the kernel's tables: its entries, before they are put into a model.
///
/// Of routes only those that the model holds are kept, so that a large table costs no memory.
package struct DumpReading: Sendable, Hashable {
    /// The table that was asked for.
    package let subject: DumpSubject
    /// Whether the kernel said that something changed meanwhile (`NLM_F_DUMP_INTR`, possibly on `NLMSG_DONE`).
    package private(set) var isInterrupted = false
    /// The entries, in the kernel's order.
    private(set) var entries: [Entry] = []

    /// One entry of the table, and when it was received.
    struct Entry: Sendable, Hashable {
        let event: KernelEvent
        let time: Instant
    }

    /// Begins a dump.
    package init(_ subject: DumpSubject) { self.subject = subject }

    /// Takes a reply.
    ///
    /// Entries that do not belong to the subject are dropped: a kernel without IPv6 replies to an IPv6 dump with IPv4's
    /// entries, and one without strict checking ignores the filter.
    package mutating func take(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) {
        if header.flags.contains(.dumpInterrupted) { isInterrupted = true }
        if subject.covers(event) { entries.append(.init(event: event, time: now)) }
    }

    /// Whether another dump of the same subject has the same entries, in the same order.
    ///
    /// The kernel can omit entries of a dump of IPv6 routes without an indication, so such a table is accepted when two
    /// dumps agree. Lifetimes, and what follows from the state of devices, may differ.
    package func agrees(with other: Self) -> Bool {
        subject == other.subject && entries.count == other.entries.count
            && zip(entries, other.entries).allSatisfy { $0.event.lasting == $1.event.lasting }
    }
}

extension DumpSubject {
    /// Whether an event is an entry of this table that the model keeps.
    func covers(_ event: KernelEvent) -> Bool {
        switch (self, event) {
        case (.links, .link), (.nexthops, .nexthop): true
        case (.addresses(let family), .address(let message)): message.address.family == family
        case (.routes(let family, let table), .route(let message)):
            message.isMirrored && message.family == family && (table == nil || message.table == table)
        case (.rules(let family), .rule(let message)): message.family == family
        case (.neighbours(let family, let interface), .neighbour(let message)):
            message.address.family == family && (interface == nil || message.index == interface)
        case (.netconf(let family), .netconf(let message)): message.family == family
        default: false
        }
    }
}

extension KernelEvent {
    /// The event without what changes by itself.
    fileprivate var lasting: Self {
        switch self {
        case .route(var message):
            message.lifetime = nil
            message.flags = 0
            for position in message.nextHops.indices { message.nextHops[position].flags = [] }
            return .route(message)
        case .address(var message):
            message.preferredLifetime = nil
            message.validLifetime = nil
            return .address(message)
        default: return self
        }
    }
}
