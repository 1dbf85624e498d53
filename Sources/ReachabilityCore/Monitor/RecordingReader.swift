/// The dumps of a recording that is replayed: which are open, and whether there is enough for a first evaluation.
struct RecordingReader: Sendable {
    /// Whether the recording also holds what was found out about devices.
    private(set) var holdsProbes = false
    private var isComplete = false
    private var assembly = DumpAssembly()
    private var subjects: [UInt32: [DumpSubject]] = [:]
    private var missing = Set(Self.initialDumps)
    private var lastDump: Instant?

    /// The dumps with which a monitor's recording begins.
    private static let initialDumps = DumpScheduler.prerequisites + DumpScheduler.routes

    /// When the model can be evaluated; nil if the recording does not contain enough yet.
    ///
    /// After the first evaluation, a model that is being read again is evaluated when no other dump follows.
    ///
    /// - Parameter hasPublished: Whether there was an evaluation.
    /// - Returns: The moment; in the past if there is nothing to wait for.
    func evaluationDue(hasPublished: Bool) -> Instant? {
        guard isComplete else { return nil }
        let beginning = Instant(nanoseconds: .min)
        guard hasPublished, !missing.isEmpty else { return beginning }
        return lastDump?.advanced(by: Pacing.recordedDump) ?? beginning
    }

    /// Records that the recording ends: what there is can be evaluated, except a dump without its end.
    mutating func finish() {
        assembly.cancel()
        isComplete = true
        holdsProbes = false
        subjects = [:]
        missing = []
    }

    /// The meaning of a recorded message for the model.
    enum Step: Sendable, Hashable {
        /// Nothing, or nothing before a dump has ended.
        case nothing
        /// It is to be applied: a notification, or a reply whose request the recording does not hold.
        case change
        /// A dump has ended, and others are under way.
        case ended
        /// The last dump under way has ended: the result is in the model, and it may be possible to evaluate it.
        case committed(SnapshotEffect, isComplete: Bool)
    }

    /// Takes a message.
    mutating func receive(
        _ event: KernelEvent,
        _ header: NetlinkHeader,
        at now: Instant,
        _ snapshot: inout NetworkSnapshot
    ) -> Step {
        switch event {
        case .request(let request): begin(request, header.sequence, at: now)
        case .done(let errno), .error(let errno): return end(header.sequence, errno: errno, at: now, &snapshot)
        case .familiesRequested: holdsProbes = true
        default: if !take(event, header, at: now) { return .change }
        }
        return .nothing
    }

    /// Takes a request for a dump.
    ///
    /// Another program's dump may ask for a part of a table only: its replies are taken one by one.
    private mutating func begin(_ request: NetlinkRequest, _ sequence: UInt32, at now: Instant) {
        guard request.isDump else { return }
        lastDump = now
        guard !request.hasFurtherFilter else { return }
        // With the links a monitor begins to read everything again.
        if isComplete, request.subject == .links { missing = Set(Self.initialDumps) }
        for other in subjects.keys { subjects[other]?.removeAll { request.subjects.contains($0) } }
        subjects[sequence] = request.subjects
        for subject in request.subjects { assembly.begin(subject) }
    }

    /// Takes a reply to a dump, or a notification, which is newer than what was read before it; returns whether it belongs
    /// to a dump.
    private mutating func take(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) -> Bool {
        guard header.flags.contains(.multi) else {
            assembly.note(event, header, at: now)
            return false
        }
        lastDump = now
        guard let subjects = subjects[header.sequence] else { return false }
        for subject in subjects { assembly.take(event, header, of: subject, at: now) }
        return true
    }

    /// Takes the end of a dump; the last one's puts everything that was read into the model.
    private mutating func end(
        _ sequence: UInt32,
        errno: Int32,
        at now: Instant,
        _ snapshot: inout NetworkSnapshot
    ) -> Step {
        guard let ended = subjects.removeValue(forKey: sequence) else { return .nothing }
        lastDump = now
        if DumpErrno.isTemporary(errno) {
            // What was received is a part of the table. The monitor has requested it again.
            for subject in ended { assembly.cancel(subject) }
        } else {
            missing.subtract(ended)
        }
        if missing.isEmpty { isComplete = true }
        return subjects.isEmpty ? .committed(assembly.commit(to: &snapshot), isComplete: isComplete) : .ended
    }

    /// Returns, once, whether a notification at this moment shows that the recording began without all the dumps of a
    /// monitor, so that there is nothing more to wait for.
    mutating func endsInitialDumps(at now: Instant) -> Bool {
        guard !isComplete, subjects.isEmpty else { return false }
        if let lastDump, lastDump.advanced(by: Pacing.recordedStart) > now { return false }
        isComplete = true
        return true
    }
}

extension NetlinkRequest {
    /// The tables that are asked for.
    fileprivate var subjects: [DumpSubject] {
        guard coversAllFamilies else { return [subject] }
        switch subject {
        case .addresses: return [.addresses(.ipv4), .addresses(.ipv6)]
        case .routes: return [.routes(.ipv4, table: nil), .routes(.ipv6, table: nil)]
        case .rules: return [.rules(.ipv4), .rules(.ipv6)]
        case .neighbours(_, let interface):
            return AddressFamily.allCases.map { .neighbours($0, interface: interface) }
        case .netconf: return [.netconf(.ipv4), .netconf(.ipv6)]
        case .links, .nexthops: return [subject]
        }
    }
}
