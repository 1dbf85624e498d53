/// What the scheduler knows of one host: kept while requests of it wait, and while it is in trouble.
struct ScheduledHost: Sendable {
    var window = ReleaseWindow()
    var jitter = SlotJitter()
    var bucket = TokenBucket()
    var breaker: CircuitBreaker?
    /// Its gates.
    var gates: [Int32] = []
    /// Requests released and not yet answered.
    var inFlight = 0
    /// Requests that wait for their next attempt.
    var delayed = 0
    /// When the request left that is to prove it.
    var probed = BootInstant.never
    /// Nothing leaves before: the server wants to be left alone, or did not show that it is back.
    var hold: BootInstant?
    /// How often in a row it did not show that it is back.
    var failedProbes: UInt8 = 0
    /// Whether it stands in the queue of those that may have something to release.
    var isQueued = false

    /// Whether nothing is left that would have to be remembered.
    var isForgettable: Bool { inFlight == 0 && gates.isEmpty && bucket.isFull && breaker == nil && hold == nil }
}
