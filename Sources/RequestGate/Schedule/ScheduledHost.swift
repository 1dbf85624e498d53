/// What the scheduler knows of one host: kept while requests of it wait, and while it is in trouble.
struct ScheduledHost: Sendable {
    var window = ReleaseWindow()
    var jitter = SlotJitter()
    var bucket = TokenBucket()
    var breaker: CircuitBreaker?
    /// Its gates.
    var gates: [Int32] = []
    /// Requests released and not yet answered, as far as they take a place.
    var inFlight = 0
    /// The first ticket since the last outage: what left before takes no place.
    var leasesFrom: UInt32 = 0
    /// Requests that wait for their next attempt.
    var delayed = 0
    /// When the request left that is to prove it.
    var probed = BootInstant.never
    /// Nothing leaves before: the server wants to be left alone.
    var hold: BootInstant?
    /// Nothing leaves before: it did not show that it is back.
    var rest: BootInstant?
    /// Whether it is to rest, for how long is not yet decided.
    var owesRest = false
    /// How often in a row it did not show that it is back.
    var failedProbes: UInt8 = 0
    /// Whether it stands in the queue of those that may have something to release.
    var isQueued = false

    /// Nothing leaves before.
    var silence: BootInstant? {
        guard let hold, let rest else { return hold ?? rest }
        return max(hold, rest)
    }

    /// Whether nothing is left that would have to be remembered.
    var isForgettable: Bool { isUnused && bucket.isFull && breaker?.isUntroubled ?? true }

    /// Whether nothing is left that says when it may be asked again.
    func isForgivable(at now: BootInstant) -> Bool { isUnused && breaker?.opens(at: now) == nil }

    private var isUnused: Bool { inFlight == 0 && gates.isEmpty && hold == nil }
}

/// What the scheduler knows of one gate: a host under one requirement.
struct ScheduledGate: Sendable {
    let host: Int32
    var isOpen: Bool
    var lists = WaitingLists()
    /// How many requests of this gate there are, wherever they are.
    var requests = 0
    /// For how long it was closed until it was last opened, or its host proven, in nanoseconds.
    private var closed: Int64 = 0
    /// Since when it is closed, or its host not proven; nil while neither.
    private var since: BootInstant?

    init(host: Int32, isOpen: Bool, at now: BootInstant) {
        self.host = host
        self.isOpen = isOpen
        since = isOpen ? nil : now
    }

    /// Whether waiting here counts as waiting for a path.
    var isCounting: Bool { since != nil }

    /// For how long it was closed in all, in nanoseconds.
    func closedTime(at now: BootInstant) -> Int64 {
        closed + (since.map { max(0, now.nanoseconds - $0.nanoseconds) } ?? 0)
    }

    /// Begins or ends to count.
    mutating func count(_ counts: Bool, at now: BootInstant) {
        guard counts != isCounting else { return }
        closed = closedTime(at: now)
        since = counts ? now : nil
    }
}

/// Hosts that may have something to release, each in its turn.
struct ReadyQueue: Sendable {
    private var hosts: [Int32] = []
    private var start = 0

    var isEmpty: Bool { start == hosts.count }

    mutating func append(_ host: Int32) { hosts.append(host) }

    mutating func popFirst() -> Int32? {
        guard start < hosts.count else { return nil }
        defer {
            start += 1
            if start > 32, start * 2 > hosts.count {
                hosts.removeFirst(start)
                start = 0
            }
        }
        return hosts[start]
    }
}
