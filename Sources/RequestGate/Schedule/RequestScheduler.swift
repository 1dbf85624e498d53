/// Decides when which request leaves: what waits for a path, for its turn after an outage, or for its next attempt.
///
/// A pure machine. Events go in with the moment at which they happened; after each, ``next(at:using:)`` is asked for one
/// action at a time until it has none, and ``nextMoment`` says when to ask again though nothing happened.
///
/// - A request waits in the line of its gate: a host under one requirement. Waiting for a path is counted apart from
///   attempts, over all its waits together.
/// - When a gate opens before a line, its host has to be proven first: one request goes, one that can be repeated if there
///   is one. Then as many as the host's ``ReleaseWindow`` and the session's let.
/// - A request whose attempt failed is decided on by its ``RetryPolicy``, the host's ``TokenBucket`` and its deadline.
/// - Each has one deadline. While its user has paused it, neither deadline nor delay nor wait goes on.
public struct RequestScheduler: Sendable {
    /// A request, as long as it has not ended; its number is used again, its generation is not.
    public struct RequestID: Sendable, Hashable {
        /// Its place; places are dense from 0, and used again.
        public let slot: Int32
        let generation: UInt32
    }

    /// A host: what budget, breaker and window are kept for.
    public typealias HostID = Int32
    /// A host under one requirement.
    public typealias GateID = Int32

    /// What a request is to the scheduler.
    public struct Order: Sendable {
        /// Its gate.
        public var gate: GateID
        /// By when it must have ended.
        public var deadline: BootInstant
        /// For how long it may wait for a path in all its waits together; nil for as long as its deadline lets.
        public var patience: Duration?
        /// How urgent it is.
        public var priority: RequestPriority
        /// Whether and how it may be sent again.
        public var traits: RequestTraits

        /// Sets each.
        public init(
            gate: GateID,
            deadline: BootInstant = .never,
            patience: Duration? = nil,
            priority: RequestPriority = .normal,
            traits: RequestTraits
        ) {
            self.gate = gate
            self.deadline = deadline
            self.patience = patience
            self.priority = priority
            self.traits = traits
        }
    }

    /// What to do now.
    public enum Action: Sendable, Hashable {
        /// Send a request on its way; news of this attempt carry its number.
        case start(RequestID, attempt: UInt32)
        /// A request has failed; it is forgotten.
        case fail(RequestID, Failure)
    }

    /// Why a request fails by the scheduler's own word.
    public enum Failure: Sendable, Hashable {
        /// There was no path to its destination for so long.
        case noPath(waited: Duration)
        /// Its deadline has passed.
        case deadline
        /// Its host's circuit breaker is open.
        case breaker
    }

    var entries: [WaitingEntry] = []
    var vacant: [Int32] = []
    /// The generation that a new place begins with.
    var firstGeneration: UInt32 = 0
    var gates: [ScheduledGate?] = []
    var vacantGates: [Int32] = []
    var hosts: [ScheduledHost?] = []
    var vacantHosts: [Int32] = []
    var timers = TimerHeap()
    var holds = TimerHeap()
    var ready = ReadyQueue()
    var window = ReleaseWindow()
    var inFlight = 0
    /// How many hosts have a window in effect.
    var windowsInEffect = 0
    let breaker: CircuitBreaker.Policy?

    /// Makes a scheduler without requests.
    ///
    /// - Parameter breaker: When hosts that fail are given a rest; nil for never.
    public init(breaker: CircuitBreaker.Policy? = nil) { self.breaker = breaker }

    /// How many requests there are.
    public var count: Int { entries.count - vacant.count }

    /// How many were released and take a place until they are answered, of all hosts.
    public var leases: Int { inFlight }

    /// When ``next(at:using:)`` is to be asked though nothing happens; nil for never.
    public var nextMoment: BootInstant? {
        switch (timers.first?.at, holds.first?.at) {
        case (let one?, let other?): min(one, other)
        case (let one, let other): one ?? other
        }
    }

    /// Whether a request's number still stands for it.
    public func isCurrent(_ id: RequestID) -> Bool { slot(of: id) != nil }

    func slot(of id: RequestID) -> Int? {
        let slot = Int(id.slot)
        guard entries.indices.contains(slot), entries[slot].generation == id.generation else { return nil }
        return entries[slot].phase == .vacant ? nil : slot
    }

    func id(of slot: Int) -> RequestID { .init(slot: Int32(slot), generation: entries[slot].generation) }
}
