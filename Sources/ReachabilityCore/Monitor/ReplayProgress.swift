/// How far a recording has come: which dumps are open, and whether there is enough for a first verdict.
struct ReplayProgress: Sendable {
    /// Whether what there is makes a verdict.
    private(set) var isComplete = false
    /// Whether the recording holds what was found out about devices, too.
    var holdsProbes = false
    private var subjects: [UInt32: [DumpSubject]] = [:]
    private var missing: Set<DumpSubject> = Set(Self.preface)
    private var lastDump: Instant?

    /// With what a recording of a monitor begins.
    private static let preface = ReadingSchedule.groundwork + ReadingSchedule.routes
    /// A notification that comes so long after the last message of a dump shows that no other dumps follow.
    private static let patience = Duration.milliseconds(500)
    /// Dumps follow each other without a pause; what one of several says is not judged by itself.
    private static let pause = Duration.milliseconds(10)

    /// When the model is judged that is being read anew, if no other dump follows; nil if it is not read anew.
    var judgement: Instant? { missing.isEmpty ? nil : lastDump?.advanced(by: Self.pause) }

    /// The recording ends: what there is makes a verdict.
    mutating func finish() {
        isComplete = true
        holdsProbes = false
        subjects = [:]
        missing = []
    }

    /// A dump is asked for; gives the tables that it will tell whole.
    ///
    /// Another program's may ask for a part only: that is taken as it comes, message by message.
    mutating func begin(_ request: NetlinkRequest, _ sequence: UInt32, at now: Instant) -> [DumpSubject] {
        guard request.isDump else { return [] }
        lastDump = now
        guard !request.hasFurtherFilter else { return [] }
        // With the links a monitor begins to read everything again.
        if isComplete, request.subject == .links { missing = Set(Self.preface) }
        for other in subjects.keys { subjects[other]?.removeAll { request.subjects.contains($0) } }
        subjects[sequence] = request.subjects
        return request.subjects
    }

    /// An answer has come; gives the tables that it may belong to, or nil if the recording does not hold its request.
    mutating func answer(_ sequence: UInt32, at now: Instant) -> [DumpSubject]? {
        lastDump = now
        return subjects[sequence]
    }

    /// A dump has ended; tells whether no other is under way, or nil if it was none.
    mutating func end(_ sequence: UInt32, at now: Instant) -> Bool? {
        guard let ended = subjects.removeValue(forKey: sequence) else { return nil }
        lastDump = now
        missing.subtract(ended)
        if missing.isEmpty { isComplete = true }
        return subjects.isEmpty
    }

    /// Whether a notification at this moment shows that the recording did not begin with all the dumps of a monitor.
    mutating func endsPreface(at now: Instant) -> Bool {
        guard !isComplete, subjects.isEmpty else { return false }
        if let lastDump, lastDump.advanced(by: Self.patience) > now { return false }
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
