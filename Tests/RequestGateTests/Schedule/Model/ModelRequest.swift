import RequestGate

/// A request as its user and its driver know it; nothing of the scheduler's own.
struct ModelRequest {
    enum Phase: Equatable {
        /// It waits for a path or its turn.
        case waiting
        /// It was told to wait until then, pauses not counted.
        case delayed(until: Int64)
        case running
    }

    let host: Int
    let gate: Int
    let traits: RequestTraits
    let policy: RetryPolicy
    let waitTimeout: Int64?
    let priority: RequestPriority
    /// Nil while it goes beside the scheduler.
    var id: RequestScheduler.RequestID?
    /// By when it must have ended; moved by pauses.
    var deadline: Int64
    var phase = Phase.waiting
    var attempt: UInt32 = 0
    var startedAt: Int64 = 0
    /// How many attempts there were of all requests when this one's began.
    var serial = 0
    /// Whether the present attempt's head came, or its user paused it: it then takes no place any more.
    var isOutOfWindow = false
    /// Since when it is paused.
    var pausedAt: Int64?
    var isEnded = false
    /// Whether an attempt of it may have been processed.
    var mayBeProcessed = false
    /// Whether its body was read, in part at least.
    var wasRead = false
    /// Attempts that count against its limit.
    var counted = 0
    /// What its last retry cost.
    var cost: Int32 = 0
    /// Whether it was told that its path is lost while its gate was open.
    var wasLiedTo = false
    /// Since when it waits, and for how long its gate had been closed by then.
    var lineSince: Int64 = 0
    var lineClosed: Int64 = 0
    /// How long it waited at a closed gate at least, and in all, before that.
    var waitedAtLeast: Int64 = 0
    var waitedAtMost: Int64 = 0

    var isPaused: Bool { pausedAt != nil }

    var isDelayed: Bool { if case .delayed = phase { true } else { false } }
}

/// A gate as its owner knows it.
struct ModelGate {
    var id: RequestScheduler.GateID
    let host: Int
    var isOpen: Bool
    /// Since when it is closed; when it was, for how long in all.
    var closedAt: Int64 = 0
    var closed: Int64 = 0

    func closedTime(at now: Int64) -> Int64 { closed + (isOpen ? 0 : now - closedAt) }
}

/// A host: its server, and what is known from outside of what it is good for.
struct ModelHost {
    var id: RequestScheduler.HostID
    var server = ModelServer.healthy
    /// Nobody may be sent to it before.
    var silentUntil: Int64 = 0
    /// When requests last waited at a gate of it that opened; nil once nobody waits any more.
    ///
    /// By the number of attempts that there were by then.
    var outage: Int?
    /// How many were answered since then.
    var answers = 0
    /// When one that was to prove it failed last, since then.
    var vainAt: Int64?
    /// What retries took from its budget, and what came back.
    var spent: Int32 = 0
    var refunded: Int32 = 0
    /// When those left again to whom was said at an open gate that their path is lost, since it was last answered.
    var vainStarts: [Int64] = []
}

/// How a server behaves.
enum ModelServer: CaseIterable {
    case healthy, slow, refusing, overloaded, throttling, silent, resetting, truncating, failing, unknowing, untrusted
    /// Attempts end at once, as if the path were lost.
    case lying
    /// Each of the others by turns.
    case moody
}
