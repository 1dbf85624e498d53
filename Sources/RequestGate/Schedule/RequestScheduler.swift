/// Decides when which request leaves: what waits for a path, for its turn after an outage, or for its next attempt.
///
/// A pure machine. Events go in with the moment at which they happened; after each, ``next(at:using:)`` is asked for
/// one action at a time until it has none, and ``nextMoment`` says when to ask again though nothing happened.
///
/// - A request waits in the line of its gate: a host under one requirement. Waiting for a path is counted apart from
///   attempts, over all its waits together.
/// - When a gate opens before a line, its host has to be proven first: one request goes, one that can be repeated if
///   there is one. Then as many as the host's `ReleaseWindow` and the session's let.
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
        public var waitTimeout: Duration?
        /// How urgent it is.
        public var priority: RequestPriority
        /// Whether and how it may be sent again.
        public var traits: RequestTraits

        /// Sets each.
        public init(
            gate: GateID,
            deadline: BootInstant = .never,
            waitTimeout: Duration? = nil,
            priority: RequestPriority = .normal,
            traits: RequestTraits
        ) {
            self.gate = gate
            self.deadline = deadline
            self.waitTimeout = waitTimeout
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

    private var requests = WaitingRequests()
    private var board: HostBoard

    /// Makes a scheduler without requests.
    ///
    /// - Parameter breaker: When hosts that fail are given a rest; nil for never.
    public init(breaker: CircuitBreaker.Policy? = nil) { board = .init(breaker: breaker) }

    /// How many requests there are.
    public var count: Int { requests.count }

    /// How many were released and take a place until they are answered, of all hosts.
    public var leases: Int { board.inFlight }

    /// When ``next(at:using:)`` is to be asked though nothing happens; nil for never.
    public var nextMoment: BootInstant? {
        switch (requests.nextMoment, board.nextMoment) {
        case (let one?, let other?): min(one, other)
        case (let one, let other): one ?? other
        }
    }

    /// Whether a request's number still stands for it.
    public func isCurrent(_ id: RequestID) -> Bool { requests.slot(of: id) != nil }

    // MARK: Hosts and gates

    /// Adds a host, without a request and in no trouble.
    public mutating func addHost() -> HostID { board.addHost() }

    /// Whether a host can be forgotten: no request of it is known, and nothing is held against it.
    public func isForgettable(_ host: HostID) -> Bool { board[host]?.isForgettable ?? true }

    /// Forgets a host that can be forgotten; its number is used again.
    public mutating func forget(_ host: HostID) {
        if board[host]?.isForgettable == true { board.remove(host) }
    }

    /// Forgets a host although its budget lacks something; not one with requests, nor one that is to be left alone.
    ///
    /// - Returns: Whether it is forgotten; its number is used again then.
    public mutating func forgive(_ host: HostID, at now: BootInstant) -> Bool {
        guard board[host]?.isForgivable(at: now) == true else { return false }
        board.remove(host)
        return true
    }

    /// Adds a gate of a host.
    public mutating func addGate(of host: HostID, isOpen: Bool, at now: BootInstant) -> GateID {
        board.addGate(of: host, isOpen: isOpen, at: now)
    }

    /// How many requests a gate has, wherever they are.
    public func requests(of gate: GateID) -> Int { board.gate(gate)?.requests ?? 0 }

    /// Forgets a gate without requests; its number is used again.
    public mutating func forget(gate: GateID) { board.remove(gate: gate) }

    /// A gate was opened or closed: there is a path to its host that meets its requirement, or there is none.
    public mutating func set(_ gate: GateID, isOpen: Bool, at now: BootInstant) {
        board.set(gate, isOpen: isOpen, at: now)
    }

    // MARK: Requests

    /// A request that was not under way is to go: it waits in the line of its gate.
    public mutating func submit(_ order: Order, at now: BootInstant) -> RequestID {
        let slot = place(order, at: now)
        line(up: slot, at: now)
        return requests.id(of: slot)
    }

    /// A request that went its way without the scheduler is under way: it failed, and is to be decided on.
    ///
    /// - Returns: Its number; that of its attempt is 1.
    public mutating func adopt(_ order: Order, at now: BootInstant) -> RequestID {
        let slot = place(order, at: now)
        requests[slot].phase = .running
        requests[slot].hadTurn = true
        requests[slot].starts = 1
        requests[slot].attempts = 1
        setTimer(slot, at: now)
        return requests.id(of: slot)
    }

    private mutating func place(_ order: Order, at now: BootInstant) -> Int {
        board.countRequest(of: order.gate, by: 1)
        return requests.add(order, at: now)
    }

    /// Gives a request's place back.
    private mutating func vacate(_ slot: Int, at now: BootInstant) {
        leaveLine(slot, at: now)
        leaveDelay(slot)
        board.returnLease(&requests[slot])
        let gate = requests[slot].gate
        board.countRequest(of: gate, by: -1)
        requests.vacate(slot)
        if let host = board.gate(gate)?.host { board.settle(host, at: now) }
        requests.shrinkIfEmpty()
    }

    /// A request is wanted no more; it is forgotten.
    public mutating func cancel(_ id: RequestID, at now: BootInstant) {
        guard let slot = requests.slot(of: id) else { return }
        vacate(slot, at: now)
    }

    /// When a request must have ended, as its pauses have moved it; nil if it is not known any more.
    public func deadline(of id: RequestID) -> BootInstant? { requests.slot(of: id).map { requests[$0].deadline } }

    /// When a request must have ended if it were resumed now.
    private func deadline(_ slot: Int, at now: BootInstant) -> BootInstant {
        let entry = requests[slot]
        return entry.isPaused ? entry.deadline.advanced(by: entry.due.duration(to: now)) : entry.deadline
    }

    /// How many attempts of a request count against its limit so far; 0 if it is not known any more.
    public func attempts(of id: RequestID) -> Int { requests.slot(of: id).map { Int(requests[$0].attempts) } ?? 0 }

    /// The host of a request.
    private func host(of slot: Int) -> Int32 { board.host(of: requests[slot]) }

    // MARK: Pausing

    /// The user pauses a request: what is not under way does not leave, and none of its clocks goes on.
    ///
    /// What is under way stays so: it is for the owner to stop reading.
    ///
    /// - Parameters:
    ///   - id: The request.
    ///   - hasLeft: Whether a request that was let go has a connection; one that still waits for it is taken back, and
    ///     that was no attempt.
    ///   - now: The moment.
    public mutating func pause(_ id: RequestID, hasLeft: Bool = true, at now: BootInstant) {
        guard let slot = requests.slot(of: id), !requests[slot].isPaused else { return }
        requests[slot].isPaused = true
        guard requests[slot].phase == .running else { return hold(slot, at: now) }
        guard hasLeft else {
            if requests[slot].attempts > 0 { requests[slot].attempts -= 1 }
            return hold(slot, at: now)
        }
        board.lapse(&requests[slot])
        requests[slot].due = now
        requests.setTimer(slot, at: .never)
    }

    /// Keeps a paused request until it is resumed.
    private mutating func hold(_ slot: Int, at now: BootInstant) {
        let isDelayed = requests[slot].phase == .backingOff
        leaveLine(slot, at: now)
        leaveDelay(slot)
        board.returnLease(&requests[slot])
        requests[slot].delayLeft = isDelayed ? max(0, requests[slot].due.nanoseconds - now.nanoseconds) : 0
        requests[slot].phase = .held
        requests[slot].due = now
        requests.setTimer(slot, at: .never)
        board.settle(host(of: slot), at: now)
    }

    /// The user resumes a request.
    public mutating func resume(_ id: RequestID, at now: BootInstant) {
        guard let slot = requests.slot(of: id), requests[slot].isPaused else { return }
        requests[slot].deadline = deadline(slot, at: now)
        requests[slot].isPaused = false
        guard requests[slot].phase == .held else { return setTimer(slot, at: now) }
        let delay = requests[slot].delayLeft
        if delay > 0 { backOff(slot, for: .nanoseconds(delay), at: now) } else { line(up: slot, at: now) }
    }

    // MARK: Releasing

    /// One thing to do now; to be asked again after each, until there is none.
    ///
    /// - Parameters:
    ///   - now: The moment.
    ///   - generator: Where jitter comes from.
    /// - Returns: What to do, or nil.
    public mutating func next(at now: BootInstant, using generator: inout some RandomNumberGenerator) -> Action? {
        while true {
            if let action = nextDue(at: now) { return action }
            guard let host = board.popReady() else { return nil }
            if let action = grant(host, at: now, &generator) { return action }
        }
    }

    /// Gives one request of a host its turn, if that may be.
    private mutating func grant(
        _ host: HostID,
        at now: BootInstant,
        _ generator: inout some RandomNumberGenerator
    ) -> Action? {
        if board[host]?.owesRest == true { board.rest(host, at: now, &generator) }
        guard let known = board[host], board.hasLine(host), known.inFlight < known.window.limit else { return nil }
        if let silence = known.silence, silence > now { return nil }
        guard let slot = ReleaseOrder.first(at: known, board, requests, at: now) else { return nil }
        if board[host]?.breaker?.allows(at: now) == false {
            board.queue(host)
            return fail(Int(slot), .breaker, at: now)
        }
        // Its host goes to the end of the queue, so that each host has its turn.
        board.queue(host)
        return release(Int(slot), at: now, &generator)
    }

    private mutating func release(
        _ slot: Int,
        at now: BootInstant,
        _ generator: inout some RandomNumberGenerator
    ) -> Action? {
        leaveLine(slot, at: now)
        requests[slot].hadTurn = true
        let delay = board.lease(&requests[slot], at: now, &generator)
        guard delay > .zero else { return start(slot, at: now) }
        requests[slot].phase = .slotted
        requests[slot].due = now.advanced(by: delay)
        setTimer(slot, at: now)
        return nil
    }

    /// Sends a request on its way that has its turn.
    private mutating func start(_ slot: Int, at now: BootInstant) -> Action {
        requests[slot].phase = .running
        requests[slot].due = now.advanced(by: board.leaseTime(of: requests[slot]))
        requests[slot].starts &+= 1
        if requests[slot].attempts < .max { requests[slot].attempts += 1 }
        setTimer(slot, at: now)
        return .start(requests.id(of: slot), attempt: requests[slot].starts)
    }

    // MARK: Lines

    /// Puts a request into the line of its gate.
    private mutating func line(up slot: Int, at now: BootInstant) {
        let gate = requests[slot].gate
        let closed = board.gate(gate)?.closedTime(at: now) ?? 0
        requests[slot].phase = .lined
        requests[slot].waited = closed - requests[slot].waited
        board.enqueue(slot, in: &requests)
        setTimer(slot, at: now)
    }

    /// Takes a request out of its gate's line, if it stands in it.
    private mutating func leaveLine(_ slot: Int, at now: BootInstant) {
        guard requests[slot].phase == .lined else { return }
        let gate = requests[slot].gate
        board.dequeue(slot, in: &requests)
        requests[slot].waited = (board.gate(gate)?.closedTime(at: now) ?? 0) - requests[slot].waited
        requests[slot].phase = .held
    }

    /// For how long a request has waited for a path, in nanoseconds.
    private func waited(_ slot: Int, at now: BootInstant) -> Int64 {
        let entry = requests[slot]
        guard entry.phase == .lined else { return entry.waited }
        return (board.gate(entry.gate)?.closedTime(at: now) ?? 0) - entry.waited
    }

    /// A request's delay is over, or wanted no more.
    private mutating func leaveDelay(_ slot: Int) {
        guard requests[slot].phase == .backingOff else { return }
        board[host(of: slot)]?.delayed -= 1
        requests[slot].phase = .held
    }

    // MARK: The end of an attempt

    /// The head of an answer came: its host is there.
    ///
    /// - Parameters:
    ///   - id: The request.
    ///   - attempt: The attempt's number.
    ///   - isOverload: Whether the server says that it is asked too much (429, 503).
    ///   - retryAfter: How long the server wants to be left alone, so that nothing leaves while the rest of its answer
    ///     comes.
    ///   - now: The moment.
    public mutating func answered(
        _ id: RequestID,
        attempt: UInt32,
        isOverload: Bool,
        retryAfter: Duration? = nil,
        at now: BootInstant
    ) {
        guard let slot = requests.slot(of: id), isUnderWay(slot, attempt) else { return }
        let host = host(of: slot)
        if let retryAfter, retryAfter > .zero { board.hold(host, until: now.advanced(by: retryAfter)) }
        board.tell(requests[slot], isOverload: isOverload, at: now)
        // Who says that it is asked too much is there, and not back: to ask on at once would be to ask without end.
        if !isOverload { board[host]?.failedProbes = 0 }
        if isOverload, requests[slot].hasLease { board[host]?.owesRest = true }
        board.returnLease(&requests[slot])
        board.count(host, at: now)
        board.settle(host, at: now)
    }

    /// An attempt ended well; the request is forgotten.
    public mutating func finished(_ id: RequestID, at now: BootInstant) {
        guard let slot = requests.slot(of: id) else { return }
        succeeded(at: host(of: slot), cost: max(1, Int32(requests[slot].cost)), at: now)
        vacate(slot, at: now)
    }

    /// A request that never waited was answered well: what its host's budget has lacked comes back.
    public mutating func succeeded(at host: HostID, at now: BootInstant) { succeeded(at: host, cost: 1, at: now) }

    private mutating func succeeded(at host: HostID, cost: Int32, at now: BootInstant) {
        board[host]?.breaker?.succeeded(at: now)
        board[host]?.bucket.succeeded(cost: cost)
    }

    /// What is to follow on a failed attempt by the policy, the budget and the deadline; nothing changes yet.
    public mutating func decision(
        on id: RequestID,
        _ failure: AttemptFailure,
        _ policy: RetryPolicy,
        at now: BootInstant,
        using generator: inout some RandomNumberGenerator
    ) -> RetryDecision {
        guard let slot = requests.slot(of: id) else { return .giveUp(because: .permanent) }
        let entry = requests[slot]
        var decision = policy.decide(failure, entry.traits, attempts: Int(entry.attempts), using: &generator)
        if board.isShed(requests[slot], failure), case .retry(_, let reason) = decision {
            decision = .retry(in: .zero, because: reason)
        }
        return checked(decision, on: id, failure, at: now)
    }

    /// A decision, unless the deadline, the breaker or the budget forbid it.
    public func checked(
        _ decision: RetryDecision,
        on id: RequestID,
        _ failure: AttemptFailure,
        at now: BootInstant
    ) -> RetryDecision {
        guard case .retry(let delay, _) = decision, let slot = requests.slot(of: id),
            let host = board[host(of: slot)]
        else { return decision }
        let earliest = now.advanced(by: delay)
        if max(earliest, host.hold ?? earliest) >= deadline(slot, at: now) { return .giveUp(because: .deadline) }
        if host.breaker?.opens(at: earliest) != nil { return .giveUp(because: .breaker) }
        if board.isShed(requests[slot], failure) { return decision }
        var bucket = host.bucket
        return bucket.take(isTimeout: failure.kind == .timeout) ? decision : .giveUp(because: .budget)
    }

    /// An attempt failed, and this follows.
    ///
    /// - Returns: Whether the request goes on; if not, it is forgotten, and has failed. News of another attempt than
    ///   the present one change nothing, and do not go on either.
    public mutating func ended(
        _ id: RequestID,
        attempt: UInt32,
        _ failure: AttemptFailure,
        _ decision: RetryDecision,
        at now: BootInstant,
        using generator: inout some RandomNumberGenerator
    ) -> Bool {
        guard let slot = requests.slot(of: id), isUnderWay(slot, attempt) else { return false }
        let isShed = board.isShed(requests[slot], failure)
        learn(slot, failure, at: now, &generator)
        switch decision {
        case .giveUp:
            vacate(slot, at: now)
            return false
        case .waitForPath:
            if requests[slot].attempts > 0 { requests[slot].attempts -= 1 }
            board.doubt(requests[slot].gate, at: now, &generator)
            goOn(slot, after: .zero, at: now)
        case .retry(let delay, _):
            let isTimeout = failure.kind == .timeout
            let isPaid = !isShed && board[host(of: slot)]?.bucket.take(isTimeout: isTimeout) == true
            requests[slot].cost = isPaid ? UInt8(clamping: TokenBucket.cost(isTimeout: isTimeout)) : 0
            goOn(slot, after: delay, at: now)
        }
        return true
    }

    private func isUnderWay(_ slot: Int, _ attempt: UInt32) -> Bool {
        requests[slot].phase == .running && requests[slot].starts == attempt
    }

    private mutating func goOn(_ slot: Int, after delay: Duration, at now: BootInstant) {
        requests[slot].deadline = deadline(slot, at: now)
        requests[slot].phase = .held
        if requests[slot].isPaused {
            hold(slot, at: now)
            requests[slot].delayLeft = delay.clampedNanoseconds
        } else if delay > .zero {
            backOff(slot, for: delay, at: now)
        } else {
            line(up: slot, at: now)
        }
    }

    private mutating func backOff(_ slot: Int, for delay: Duration, at now: BootInstant) {
        requests[slot].phase = .backingOff
        board[host(of: slot)]?.delayed += 1
        requests[slot].due = now.advanced(by: delay)
        setTimer(slot, at: now)
    }

    /// What a failed attempt says of its host.
    private mutating func learn(
        _ slot: Int,
        _ failure: AttemptFailure,
        at now: BootInstant,
        _ generator: inout some RandomNumberGenerator
    ) {
        let host = host(of: slot)
        if let wait = failure.retryAfter, wait > .zero { board.hold(host, until: now.advanced(by: wait)) }
        switch failure.kind {
        case .permanent, .pathLost: break
        case .status(let status) where status < 500 && status != 429: board[host]?.breaker?.succeeded(at: now)
        case .status, .transient, .timeout, .refused: board[host]?.breaker?.failed(at: now)
        }
        let wasLeased = requests[slot].hasLease
        if wasLeased, failure.kind == .refused { board.tell(requests[slot], isOverload: true, at: now) }
        board.returnLease(&requests[slot])
        board.count(host, at: now)
        if wasLeased, failure.kind != .pathLost, failure.kind != .permanent { board.rest(host, at: now, &generator) }
    }

    // MARK: What is due

    /// Sets the moment at which something is due for a request, by its phase.
    private mutating func setTimer(_ slot: Int, at now: BootInstant) {
        let entry = requests[slot]
        var moment = entry.deadline
        switch entry.phase {
        case .vacant: break
        case .running where entry.isPaused: moment = .never
        case .running: if board.takesPlace(requests[slot]) { moment = min(moment, entry.due) }
        case .held: moment = .never
        case .slotted, .backingOff: moment = min(moment, entry.due)
        case .lined where entry.waitLimit != .max: moment = min(moment, patienceEnd(slot, at: now))
        case .lined: break
        }
        requests.setTimer(slot, at: moment)
    }

    /// When the wait timeout of a queued request may expire.
    private func patienceEnd(_ slot: Int, at now: BootInstant) -> BootInstant {
        let left = max(0, requests[slot].waitLimit - waited(slot, at: now))
        let isCounting = board.gate(requests[slot].gate)?.isCounting == true
        // While its wait does not count, its end does not come nearer: to look again soon would be to look all the
        // time.
        return now.advanced(by: .nanoseconds(isCounting ? left : max(left, Self.glance)))
    }

    private static let glance: Int64 = 100_000_000

    /// What is due by now, one thing at a time.
    private mutating func nextDue(at now: BootInstant) -> Action? {
        while true {
            if board.endHold(at: now) { continue }
            guard let slot = requests.popDue(at: now) else { return nil }
            if let action = due(slot, at: now) { return action }
        }
    }

    private mutating func due(_ slot: Int, at now: BootInstant) -> Action? {
        let entry = requests[slot]
        guard entry.deadline > now else { return fail(slot, .deadline, at: now) }
        switch entry.phase {
        case .vacant, .held: break
        case .running:
            board.lapse(&requests[slot])
            setTimer(slot, at: now)
        case .backingOff:
            leaveDelay(slot)
            line(up: slot, at: now)
        case .slotted: return leave(slot, at: now)
        case .lined:
            let waited = waited(slot, at: now)
            if waited >= entry.waitLimit, board.gate(entry.gate)?.isCounting == true {
                return fail(slot, .noPath(waited: .nanoseconds(waited)), at: now)
            }
            setTimer(slot, at: now)
        }
        return nil
    }

    /// A request's random moment has come: it leaves, unless its path was away meanwhile, or its host is to be left
    /// alone.
    private mutating func leave(_ slot: Int, at now: BootInstant) -> Action? {
        let isHeld = board[host(of: slot)]?.silence.map { $0 > now } ?? false
        if board.takesPlace(requests[slot]), !isHeld, board.gate(requests[slot].gate)?.isOpen == true {
            return start(slot, at: now)
        }
        board.returnLease(&requests[slot])
        line(up: slot, at: now)
        return nil
    }

    /// Lets a request fail: it is forgotten.
    private mutating func fail(_ slot: Int, _ failure: Failure, at now: BootInstant) -> Action {
        let id = requests.id(of: slot)
        vacate(slot, at: now)
        return .fail(id, failure)
    }
}
