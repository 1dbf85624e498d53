/// Builds the kernel's tables aside while they are read, and swaps them into a model as a whole.
///
/// Events that arrive meanwhile are applied to the model, as always, and noted here too: they win over what was read.
/// ```swift
/// var assembly = DumpAssembly()
/// assembly.begin(.links)                              // when the request is sent
/// assembly.take(answer, header, of: .links, at: now)  // for each answer, NLMSG_DONE included
/// assembly.note(event, header, at: now)               // for each event that the model is given meanwhile
/// let effect = assembly.commit(to: &snapshot)         // when every reading is finished
/// ```
/// Several subjects may be read together; one commit takes them all, and its effect is the net difference to the model
/// before. Nothing is seen of the states between. What routes depend on is to be read before them: links, addresses,
/// settings, nexthop objects. And before a commit, all events are to be noted that have been announced until then.
public struct DumpAssembly: Sendable {
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

    /// Makes an assembly in which nothing is being read.
    public init() {}

    /// Whether something is being read, so that events are to be noted.
    public var isReading: Bool { !readings.isEmpty }

    /// What has been read of a subject since it was begun.
    public func reading(of subject: DumpSubject) -> DumpReading? {
        readings.first { $0.reading.subject == subject }?.reading
    }

    /// Begins to read a subject, or begins again, as after an interruption; to be called before the request is sent.
    public mutating func begin(_ subject: DumpSubject) {
        readings.removeAll { $0.reading.subject == subject }
        readings.append(.init(reading: .init(subject), start: log.count))
    }

    /// Takes an answer to the dump of a subject; without ``begin(_:)`` it is dropped.
    public mutating func take(
        _ event: KernelEvent,
        _ header: NetlinkHeader,
        of subject: DumpSubject,
        at now: Instant
    ) {
        guard let position = readings.firstIndex(where: { $0.reading.subject == subject }) else { return }
        readings[position].reading.take(event, header, at: now)
    }

    /// Notes an event that came while something is being read.
    public mutating func note(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) {
        if isReading { log.append(.init(event: event, header: header, time: now)) }
    }

    /// Gives up whatever is being read.
    public mutating func cancel() { self = .init() }

    /// Puts all that was read into a model, with the events that came since, and ends the readings.
    ///
    /// - Parameters:
    ///   - snapshot: The model, to which the noted events have been applied.
    ///   - keepsMissing: Whether routes that the model has and a reading has not are kept: right if the model had
    ///     missed no event, since then it would know of their end, and the kernel may leave routes out of a dump.
    /// - Returns: The net difference. Among its doubts are tables that were altered meanwhile in a way that can't be
    ///   followed without knowing the moment at which they were read: read those again.
    public mutating func commit(to snapshot: inout NetworkSnapshot, keepsMissing: Bool = false) -> SnapshotEffect {
        let subjects = readings.map(\.reading.subject)
        var effect = SnapshotEffect()
        let replayed = replay(over: snapshot, doubts: &effect)
        var result = snapshot
        for subject in subjects {
            result.adopt(subject, from: replayed)
            if keepsMissing { result.restore(subject, from: snapshot) }
        }
        result.expiredRoutes = replayed.expiredRoutes
        for key in result.reconcile(with: snapshot, knowing: subjects) { effect.predict(key) }
        result.settleNextHops(knowing: snapshot)
        result.settleRules()
        result.noteDifferences(from: snapshot, &effect)
        snapshot = result
        cancel()
        return effect
    }

    /// Goes through the noted events in their order, and lays each reading over the model when it began.
    private func replay(over snapshot: NetworkSnapshot, doubts: inout SnapshotEffect) -> NetworkSnapshot {
        var model = snapshot
        for position in 0...log.count {
            for progress in readings where progress.start == position { model.lay(progress.reading) }
            guard position < log.count else { break }
            let entry = log[position]
            for subject in model.apply(entry.event, entry.header, at: entry.time).doubts { doubts.doubt(subject) }
            guard case .route(let message) = entry.event, entry.header.flags.contains(.replace) else { continue }
            for progress in readings where progress.start <= position {
                if progress.reading.subject.covers(.route(message)) { doubts.doubt(progress.reading.subject) }
            }
        }
        return model
    }
}
