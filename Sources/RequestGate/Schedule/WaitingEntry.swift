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
/// For each priority a list of those that had a turn before, and one of those that had none. The links are in the entries.
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
    mutating func append(_ slot: Int32, _ entries: inout [WaitingEntry]) {
        let list = entries[Int(slot)].list
        let last = tails[list]
        entries[Int(slot)].previous = last
        entries[Int(slot)].next = -1
        if last < 0 { heads[list] = slot } else { entries[Int(last)].next = slot }
        tails[list] = slot
        total += 1
    }

    /// Takes an entry out.
    mutating func remove(_ slot: Int32, _ entries: inout [WaitingEntry]) {
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
