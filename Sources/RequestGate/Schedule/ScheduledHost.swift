/// The state of one host, kept while requests wait for it and while it has recorded failures.
struct ScheduledHost: Sendable {
    var window = ReleaseWindow()
    var jitter = SlotJitter()
    var bucket = TokenBucket()
    var breaker: CircuitBreaker?
    /// The host's gates.
    var gates: [Int32] = []
    /// The number of released requests that count as in flight: those without a response yet.
    var inFlight = 0
    /// The first attempt number since the last outage.
    ///
    /// Earlier attempts don't count as in flight.
    var leasesFrom: UInt32 = 0
    /// The number of requests that back off before their next attempt.
    var delayed = 0
    /// When the last probe was released.
    var probed = BootInstant.never
    /// The end of the delay that the server requested.
    var hold: BootInstant?
    /// The end of the delay after a failed probe.
    var probeHold: BootInstant?
    /// Whether a delay after a failed probe has to start, whose duration is not yet decided.
    var owesProbeDelay = false
    /// The number of consecutive failed probes.
    var failedProbes: UInt8 = 0
    /// Whether the host is queued to be checked for requests that can be released.
    var isQueued = false

    /// The instant before which no request is sent; nil if there is none.
    var earliestStart: BootInstant? {
        guard let hold, let probeHold else { return hold ?? probeHold }
        return max(hold, probeHold)
    }

    /// Whether the host has no state that has to be kept.
    var isForgettable: Bool { isUnused && bucket.isFull && breaker?.isPristine ?? true }

    /// Returns whether the host has no state that forbids requests now.
    func isEvictable(at now: BootInstant) -> Bool { isUnused && breaker?.opens(at: now) == nil }

    private var isUnused: Bool { inFlight == 0 && gates.isEmpty && hold == nil }
}

/// The state of one gate: a host under one requirement.
struct ScheduledGate: Sendable {
    let host: Int32
    var isOpen: Bool
    var lists = WaitingLists()
    /// The number of the gate's requests, in whatever phase they are.
    var requests = 0
    /// The total time up to its last change, in nanoseconds, during which the gate was closed or its host was being
    /// probed.
    private var closed: Int64 = 0
    /// Since when the gate is closed or its host is being probed; nil if neither.
    private var since: BootInstant?

    init(host: Int32, isOpen: Bool, at now: BootInstant) {
        self.host = host
        self.isOpen = isOpen
        since = isOpen ? nil : now
    }

    /// Whether waiting here counts as waiting for a path.
    var isCounting: Bool { since != nil }

    /// Returns the total time during which the gate was closed or its host was being probed, in nanoseconds.
    func closedTime(at now: BootInstant) -> Int64 {
        closed + (since.map { max(0, now.nanoseconds - $0.nanoseconds) } ?? 0)
    }

    /// Starts or stops counting time.
    mutating func count(_ counts: Bool, at now: BootInstant) {
        guard counts != isCounting else { return }
        closed = closedTime(at: now)
        since = counts ? now : nil
    }
}

/// The hosts to be checked for requests that can be released, first in, first out.
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
