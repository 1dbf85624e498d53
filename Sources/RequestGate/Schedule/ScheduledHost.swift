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
