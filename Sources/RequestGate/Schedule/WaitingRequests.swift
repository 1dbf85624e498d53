/// The requests of a scheduler by slot, with a timer for each.
///
/// Slots are dense from 0 and are reused. A generation distinguishes requests that had the same slot.
struct WaitingRequests: Sendable {
    private var entries: [WaitingEntry] = []
    private var vacant: [Int32] = []
    /// The generation with which a new slot starts.
    private var firstGeneration: UInt32 = 0
    private var timers = TimerHeap()

    /// The number of requests.
    var count: Int { entries.count - vacant.count }

    /// The request in a slot.
    subscript(slot: Int) -> WaitingEntry {
        _read { yield entries[slot] }
        _modify { yield &entries[slot] }
    }

    /// Returns the slot of a request; nil if the request has ended.
    func slot(of id: RequestScheduler.RequestID) -> Int? {
        let slot = Int(id.slot)
        guard entries.indices.contains(slot), entries[slot].generation == id.generation else { return nil }
        return entries[slot].phase == .vacant ? nil : slot
    }

    /// Returns the identifier of the request in a slot.
    func id(of slot: Int) -> RequestScheduler.RequestID {
        .init(slot: Int32(slot), generation: entries[slot].generation)
    }

    /// Adds a request in the phase ``WaitingEntry/Phase/held``.
    ///
    /// - Returns: Its slot.
    mutating func add(_ order: RequestScheduler.Order, at now: BootInstant) -> Int {
        let slot = Int(vacant.popLast() ?? Int32(entries.count))
        if slot == entries.count { entries.appendSparingly(.init(generation: firstGeneration)) }
        var entry = WaitingEntry()
        entry.generation = entries[slot].generation &+ 1
        entry.phase = .held
        entry.deadline = order.deadline
        entry.since = now
        entry.waitLimit = order.waitTimeout.map { max(0, $0.clampedNanoseconds) } ?? .max
        entry.countsProbing = order.countsProbing
        entry.gate = order.gate
        entry.priority = order.priority
        entry.isIdempotent = order.traits.isIdempotent
        entry.isReplayable = order.traits.isReplayable
        entries[slot] = entry
        return slot
    }

    /// Frees a slot and removes its timer.
    mutating func vacate(_ slot: Int) {
        timers.remove(Int32(slot))
        entries[slot].phase = .vacant
        vacant.appendSparingly(Int32(slot))
    }

    /// Frees memory after a large number of requests has ended.
    ///
    /// Generations continue from the highest, so that no identifier is repeated.
    mutating func shrinkIfEmpty() {
        guard vacant.count == entries.count, entries.count > Self.kept else { return }
        firstGeneration = entries.lazy.map(\.generation).max() ?? firstGeneration
        entries = []
        vacant = []
        timers = .init()
    }

    /// The number of slots that are kept although they are free.
    private static let kept = 1024

    // MARK: Timers

    /// The instant of the earliest timer; nil for never.
    var nextMoment: BootInstant? { timers.first?.at }

    /// Sets a request's timer; ``BootInstant/never`` removes it.
    mutating func setTimer(_ slot: Int, at moment: BootInstant) {
        if moment == .never { timers.remove(Int32(slot)) } else { timers.set(Int32(slot), at: moment) }
    }

    /// Removes the earliest timer if it has expired, and returns its request.
    mutating func popDue(at now: BootInstant) -> Int? { timers.popFirst(dueAt: now).map { Int($0) } }
}

/// The state of one request: at most 128 bytes including its timer.
struct WaitingEntry: Sendable {
    /// The phase of a request.
    ///
    /// Whether the user has paused it is stored separately.
    enum Phase: UInt8, Sendable {
        /// The slot is free.
        case vacant
        /// Queued at its gate: it waits for a path, or for its turn.
        case queued
        /// Released, and to be started after a random delay.
        case released
        /// Waiting for the delay before its next attempt.
        case backingOff
        /// Being attempted.
        case running
        /// Paused while it was not being attempted.
        case held
    }

    /// The instant by which the request must have ended.
    ///
    /// It is extended by pauses.
    var deadline = BootInstant.never
    /// When the request was added: the start of its waiting time.
    var since = BootInstant.never
    /// The end of a delay; while running, the time until which it counts as in flight without a response; while paused,
    /// the start of the pause.
    var due = BootInstant.never
    /// The maximum time of waiting for a path, as the sum of all waits, in nanoseconds.
    var waitLimit = Int64.max
    /// The time spent waiting for a path, in nanoseconds; while queued, the gate's closed time minus that time.
    var waited: Int64 = 0
    /// The rest of the delay while the request is held, in nanoseconds.
    var delayLeft: Int64 = 0
    var gate: Int32 = -1
    var next: Int32 = -1
    var previous: Int32 = -1
    var generation: UInt32 = 0
    var hostTicket: UInt32 = 0
    var sessionTicket: UInt32 = 0
    /// The number of starts, including those that ended in waiting for a path.
    ///
    /// It distinguishes events of the current attempt from older ones.
    var starts: UInt32 = 0
    /// The number of attempts that count against the limit.
    var attempts: UInt16 = 0
    var phase = Phase.vacant
    var priority = RequestPriority.normal
    /// The number of tokens that its last retry took from the budget.
    var cost: UInt8 = 0
    var isPaused = false
    /// Whether the result of the request applies to the windows.
    var hasLease = false
    /// Whether the request no longer counts as in flight, since it got no response in time or was paused.
    var hasLapsed = false
    /// Whether a window released the request for its current attempt.
    var wasReleasedByWindow = false
    /// Whether the request was released before.
    ///
    /// It then precedes requests of the same priority that were not.
    var wasReleasedBefore = false
    var isIdempotent = false
    var isReplayable = false
    /// Whether its wait may time out while the gate is open and the host is being probed.
    var countsProbing = true

    /// Whether the request can be repeated safely, so that it can probe its host.
    var canProbe: Bool { isIdempotent && isReplayable }

    /// The properties that decide whether the request may be retried.
    var traits: RequestTraits { .init(isIdempotent: isIdempotent, isReplayable: isReplayable) }

    /// The index of the list of its gate in which it is queued.
    var list: Int { 2 * Int(priority.rawValue) + (wasReleasedBefore ? 1 : 0) }

    /// Returns whether an attempt is the current one, and has not ended.
    func isRunning(_ attempt: UInt32) -> Bool { phase == .running && starts == attempt }

    /// Returns the deadline that the request has if it is resumed now.
    func deadlineIfResumed(at now: BootInstant) -> BootInstant {
        isPaused ? deadline.advanced(by: due.duration(to: now)) : deadline
    }

    /// Begins an attempt.
    mutating func start(at now: BootInstant, leaseTime: Duration) {
        phase = .running
        due = now.advanced(by: leaseTime)
        starts &+= 1
        if attempts < .max { attempts += 1 }
    }

    /// Removes the current attempt from those that count against the limit.
    mutating func withdrawAttempt() { if attempts > 0 { attempts -= 1 } }

    /// Holds the request while it is paused.
    ///
    /// - Parameters:
    ///   - isDelayed: Whether the rest of its delay has to be kept.
    ///   - now: The start of the pause.
    mutating func hold(isDelayed: Bool, at now: BootInstant) {
        phase = .held
        delayLeft = isDelayed ? max(0, due.nanoseconds - now.nanoseconds) : 0
        due = now
    }
}

/// The requests queued at one gate.
///
/// Each priority has two lists: one of requests that were released before, and one of the others. The links are stored
/// in the entries.
struct WaitingLists: Sendable {
    /// Two for each priority; those with odd indices hold the requests that were released before.
    static let count = 2 * RequestPriority.allCases.count

    private var heads = InlineArray<6, Int32>(repeating: -1)
    private var tails = InlineArray<6, Int32>(repeating: -1)
    /// The number of requests in all lists.
    private(set) var total = 0

    var isEmpty: Bool { total == 0 }

    /// Returns the slot of the first request of a list; -1 if it is empty.
    func first(_ list: Int) -> Int32 { heads[list] }

    /// Appends a request to its list.
    mutating func append(_ slot: Int32, _ entries: inout WaitingRequests) {
        let list = entries[Int(slot)].list
        let last = tails[list]
        entries[Int(slot)].previous = last
        entries[Int(slot)].next = -1
        if last < 0 { heads[list] = slot } else { entries[Int(last)].next = slot }
        tails[list] = slot
        total += 1
    }

    /// Removes a request from its list.
    mutating func remove(_ slot: Int32, _ entries: inout WaitingRequests) {
        let entry = entries[Int(slot)]
        if entry.previous < 0 { heads[entry.list] = entry.next } else { entries[Int(entry.previous)].next = entry.next }
        if entry.next < 0 {
            tails[entry.list] = entry.previous
        } else {
            entries[Int(entry.next)].previous = entry.previous
        }
        entries[Int(slot)].next = -1
        entries[Int(slot)].previous = -1
        total -= 1
    }
}
