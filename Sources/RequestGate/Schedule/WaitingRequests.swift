/// The requests of a scheduler, by place, with the moment at which something is due for each.
///
/// Places are dense from 0, and used again; a generation tells the requests apart that had the same place.
struct WaitingRequests: Sendable {
    private var entries: [WaitingEntry] = []
    private var vacant: [Int32] = []
    /// The generation that a new place begins with.
    private var firstGeneration: UInt32 = 0
    private var timers = TimerHeap()

    /// How many requests there are.
    var count: Int { entries.count - vacant.count }

    /// The request at a place.
    subscript(slot: Int) -> WaitingEntry {
        _read { yield entries[slot] }
        _modify { yield &entries[slot] }
    }

    /// The place of a request; nil if its number stands for it no more.
    func slot(of id: RequestScheduler.RequestID) -> Int? {
        let slot = Int(id.slot)
        guard entries.indices.contains(slot), entries[slot].generation == id.generation else { return nil }
        return entries[slot].phase == .vacant ? nil : slot
    }

    /// The number of the request at a place.
    func id(of slot: Int) -> RequestScheduler.RequestID {
        .init(slot: Int32(slot), generation: entries[slot].generation)
    }

    /// Adds a request, which is held.
    ///
    /// - Returns: Its place.
    mutating func add(_ order: RequestScheduler.Order, at now: BootInstant) -> Int {
        let slot = Int(vacant.popLast() ?? Int32(entries.count))
        if slot == entries.count { entries.appendSparingly(.init(generation: firstGeneration)) }
        var entry = WaitingEntry()
        entry.generation = entries[slot].generation &+ 1
        entry.phase = .held
        entry.deadline = order.deadline
        entry.since = now
        entry.waitLimit = order.waitTimeout.map { max(0, $0.clampedNanoseconds) } ?? .max
        entry.gate = order.gate
        entry.priority = order.priority
        entry.isIdempotent = order.traits.isIdempotent
        entry.isReplayable = order.traits.isReplayable
        entries[slot] = entry
        return slot
    }

    /// Gives a place back, with its timer.
    mutating func vacate(_ slot: Int) {
        timers.remove(Int32(slot))
        entries[slot].phase = .vacant
        vacant.appendSparingly(Int32(slot))
    }

    /// Gives memory back, if nobody is left of many: generations go on from the highest, so that no number comes again.
    mutating func shrinkIfEmpty() {
        guard vacant.count == entries.count, entries.count > Self.kept else { return }
        firstGeneration = entries.lazy.map(\.generation).max() ?? firstGeneration
        entries = []
        vacant = []
        timers = .init()
    }

    /// How many places are kept though nobody stands there.
    private static let kept = 1024

    // MARK: Timers

    /// When something is due for the first of them; nil for never.
    var nextMoment: BootInstant? { timers.first?.at }

    /// Sets when something is due for a request.
    mutating func setTimer(_ slot: Int, at moment: BootInstant) {
        if moment == .never { timers.remove(Int32(slot)) } else { timers.set(Int32(slot), at: moment) }
    }

    /// Takes the first out for which something is due.
    mutating func popDue(at now: BootInstant) -> Int? { timers.popFirst(dueAt: now).map { Int($0) } }
}

/// What the scheduler keeps of one request: at most 128 bytes with its place in the timers.
struct WaitingEntry: Sendable {
    /// Where a request is; whether its user has paused it is told apart from that.
    enum Phase: UInt8, Sendable {
        /// Nobody's: the place is free.
        case vacant
        /// In the line of its gate: it waits for a path, or for its turn.
        case lined
        /// It has its turn, and leaves a random moment later.
        case slotted
        /// It waits until it may be tried again.
        case backingOff
        /// It is under way.
        case running
        /// It was paused when it was not under way.
        case held
    }

    /// By when it must have ended; moves on while it is held.
    var deadline = BootInstant.never
    /// When it came: what it is aged by.
    var since = BootInstant.never
    /// The end of a delay; under way, until when it may take a place unanswered; while it is paused, when that began.
    var due = BootInstant.never
    /// How long it may wait for a path in all, in nanoseconds.
    var waitLimit = Int64.max
    /// How long it has waited for a path; in line, its gate's closed time less that.
    var waited: Int64 = 0
    /// What is left of its delay while it is held.
    var delayLeft: Int64 = 0
    var gate: Int32 = -1
    var next: Int32 = -1
    var previous: Int32 = -1
    var generation: UInt32 = 0
    var hostTicket: UInt32 = 0
    var sessionTicket: UInt32 = 0
    /// How often it was sent on its way, waits included: tells news of the present attempt from older ones.
    var starts: UInt32 = 0
    /// How many attempts count against its limit.
    var attempts: UInt16 = 0
    var phase = Phase.vacant
    var priority = RequestPriority.normal
    /// What its last retry took out of the budget.
    var cost: UInt8 = 0
    var isPaused = false
    /// Whether what becomes of it counts for the windows.
    var hasLease = false
    /// Whether it takes a place in the windows no more, since it was not answered for long, or was paused.
    var hasLapsed = false
    /// Whether a window let it out for this attempt.
    var wasLetOut = false
    /// Whether it has had its turn before: it comes before those of its priority that have not.
    var hadTurn = false
    var isIdempotent = false
    var isReplayable = false

    /// Whether it can show, at no risk, that its host is there again.
    var canProbe: Bool { isIdempotent && isReplayable }

    /// What a policy has to know of it.
    var traits: RequestTraits { .init(isIdempotent: isIdempotent, isReplayable: isReplayable) }

    /// The list of its gate's line that it stands in.
    var list: Int { 2 * Int(priority.rawValue) + (hadTurn ? 1 : 0) }
}

/// The requests that wait at one gate.
///
/// For each priority a list of those that had a turn before, and one of those that had none. The links are in the
/// entries.
struct WaitingLists: Sendable {
    /// Two for each priority; the odd ones hold those that were under way before.
    static let count = 2 * RequestPriority.allCases.count

    private var heads = InlineArray<6, Int32>(repeating: -1)
    private var tails = InlineArray<6, Int32>(repeating: -1)
    /// How many stand in all lists.
    private(set) var total = 0

    var isEmpty: Bool { total == 0 }

    /// The first of a list; -1 if it is empty.
    func first(_ list: Int) -> Int32 { heads[list] }

    /// Puts an entry at the end of its list.
    mutating func append(_ slot: Int32, _ entries: inout WaitingRequests) {
        let list = entries[Int(slot)].list
        let last = tails[list]
        entries[Int(slot)].previous = last
        entries[Int(slot)].next = -1
        if last < 0 { heads[list] = slot } else { entries[Int(last)].next = slot }
        tails[list] = slot
        total += 1
    }

    /// Takes an entry out.
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
