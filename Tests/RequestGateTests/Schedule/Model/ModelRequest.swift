import RequestGate

/// The model's view of a request, independent of the scheduler's state.
struct ModelRequest {
    enum Phase: Equatable {
        /// It waits for a path or for its turn.
        case waiting
        /// It backs off until this time, not counting pauses.
        case delayed(until: Int64)
        case running
    }

    let host: Int
    let gate: Int
    let traits: RequestTraits
    let policy: RetryPolicy
    let waitTimeout: Int64?
    let priority: RequestPriority
    /// The scheduler's identifier; nil while the request runs without the scheduler.
    var id: RequestScheduler.RequestID?
    /// The time by which it must have ended.
    ///
    /// It is extended by pauses.
    var deadline: Int64
    var phase = Phase.waiting
    var attempt: UInt32 = 0
    var startedAt: Int64 = 0
    /// The number of attempts of all requests when its current attempt started.
    var serial = 0
    /// Whether the current attempt no longer counts as in flight: its response head arrived, or its user paused it.
    var isOutOfWindow = false
    /// The start of its pause.
    var pausedAt: Int64?
    var isEnded = false
    /// Whether an attempt may have been processed.
    var mayBeProcessed = false
    /// Whether its body was read, at least in part.
    var wasRead = false
    /// The number of attempts that count against its limit.
    var counted = 0
    /// The cost of its last retry.
    var cost: Int32 = 0
    /// Whether a lost path was reported for it while its gate was open.
    var wasToldPathLost = false
    /// When it was queued, and the total time that its gate had been closed by then.
    var lineSince: Int64 = 0
    var lineClosed: Int64 = 0
    /// The minimum and maximum time that it had waited before: at a closed gate, and in all.
    var waitedAtLeast: Int64 = 0
    var waitedAtMost: Int64 = 0

    var isPaused: Bool { pausedAt != nil }

    var isDelayed: Bool { if case .delayed = phase { true } else { false } }
}

/// The model's view of a gate.
struct ModelGate {
    var id: RequestScheduler.GateID
    let host: Int
    var isOpen: Bool
    /// When it was last closed, and the total time that it was closed before.
    var closedAt: Int64 = 0
    var closed: Int64 = 0

    func closedTime(at now: Int64) -> Int64 { closed + (isOpen ? 0 : now - closedAt) }
}

/// The model's view of a host: its server, and the expectations that follow from its history.
struct ModelHost {
    var id: RequestScheduler.HostID
    var server = ModelServer.healthy
    /// The time before which no request may be sent to it.
    var silentUntil: Int64 = 0
    /// When a gate with waiting requests last opened; nil once no request waits any more.
    ///
    /// It is the number of attempts at that time.
    var outage: Int?
    /// The number of responses since then.
    var responses = 0
    /// When a probe last failed since then.
    var failedProbeAt: Int64?
    /// The tokens that retries took from its budget, and those that were returned.
    var spent: Int32 = 0
    var refunded: Int32 = 0
    /// The starts, since its last response, of requests for which a lost path was reported at an open gate.
    var lostPathStarts: [Int64] = []
}

/// The behaviour of a server.
enum ModelServer: CaseIterable {
    case healthy, slow, refusing, overloaded, throttling, silent, resetting, truncating, failing, unknowing, untrusted
    /// Attempts end immediately with a lost path.
    case lying
    /// A random one of the others for each attempt.
    case moody
}
