/// Decides when each request is sent: after waiting for a path, for its turn after an outage, or for its next attempt.
///
/// The scheduler has no clock and does no I/O. Events are passed in with the time at which they happened. After each
/// event, the owner calls ``next(at:using:)`` until it returns nil; ``nextMoment`` says when to call it without an
/// event.
///
/// - A request waits in the queue of its gate: a host under one requirement. The time spent waiting for a path is
///   limited separately from the attempts, as the sum of all waits.
/// - When a gate with queued requests opens, its host is probed first: one request is sent, preferably one that can be
///   repeated. After that, the host's `ReleaseWindow` and the session's limit the requests in flight.
/// - A failed attempt is judged by the request's ``RetryPolicy``, the host's `TokenBucket` and the deadline.
/// - Each request has one deadline. While the user has paused it, its deadline, delay and wait are suspended.
package struct RequestScheduler: Sendable {
    /// Identifies a request until it ends.
    ///
    /// Its slot is reused, its generation is not.
    package struct RequestID: Sendable, Hashable {
        /// The index of the request's slot.
        ///
        /// Slots are dense from 0 and are reused.
        package let slot: Int32
        let generation: UInt32
    }

    /// A host, which has a retry budget, a circuit breaker and a release window.
    package typealias HostID = Int32
    /// A host under one requirement.
    package typealias GateID = Int32

    /// The properties of a request that the scheduler uses.
    package struct Order: Sendable {
        /// The gate of the request.
        package var gate: GateID
        /// The instant by which the request must have ended.
        package var deadline: BootInstant
        /// The maximum time spent waiting for a path, as the sum of all waits; nil for no limit except the deadline.
        package var waitTimeout: Duration?
        /// Whether the wait may time out while there is a path, and the host is being probed.
        ///
        /// It may not for a request that does not wait for a path: the host has one.
        package var countsProbing: Bool
        /// The priority of the request.
        package var priority: RequestPriority
        /// Whether the request may be sent again.
        package var traits: RequestTraits

        /// Creates an order.
        package init(
            gate: GateID,
            deadline: BootInstant = .never,
            waitTimeout: Duration? = nil,
            countsProbing: Bool = true,
            priority: RequestPriority = .normal,
            traits: RequestTraits
        ) {
            self.gate = gate
            self.deadline = deadline
            self.waitTimeout = waitTimeout
            self.countsProbing = countsProbing
            self.priority = priority
            self.traits = traits
        }
    }

    /// An action for the owner.
    package enum Action: Sendable, Hashable {
        /// Start an attempt of a request. Events of this attempt carry its number.
        case start(RequestID, attempt: UInt32)
        /// Fail a request. The scheduler has removed it.
        case fail(RequestID, Failure)
    }

    /// The reasons for which the scheduler itself fails a request.
    package enum Failure: Sendable, Hashable {
        /// No path to the destination was found within the wait timeout.
        case noPath(waited: Duration)
        /// The deadline has passed.
        case deadline
        /// The host's circuit breaker is open.
        case breaker
    }

    private var requests = WaitingRequests()
    private var board: HostBoard

    /// Creates a scheduler without requests.
    ///
    /// - Parameter breaker: The policy of the hosts' circuit breakers; nil for none.
    package init(breaker: CircuitBreakerPolicy? = nil) { board = .init(breaker: breaker) }

    /// The number of requests.
    package var count: Int { requests.count }

    /// The number of released requests, of all hosts, that count as in flight until their response arrives.
    package var leases: Int { board.inFlight }

    /// The instant at which ``next(at:using:)`` has to be called if no event happens before; nil for never.
    package var nextMoment: BootInstant? {
        switch (requests.nextMoment, board.nextMoment) {
        case (let one?, let other?): min(one, other)
        case (let one, let other): one ?? other
        }
    }

    /// Returns whether a request has not ended.
    package func isCurrent(_ id: RequestID) -> Bool { requests.slot(of: id) != nil }

    // MARK: Hosts and gates

    /// Adds a host without requests or recorded failures.
    package mutating func addHost() -> HostID { board.addHost() }

    /// Returns whether a host has no requests and no recorded failures, so that it can be removed.
    package func isForgettable(_ host: HostID) -> Bool { board[host]?.isForgettable ?? true }

    /// Removes a host if ``isForgettable(_:)``.
    ///
    /// Its number is reused.
    package mutating func forget(_ host: HostID) {
        if board[host]?.isForgettable == true { board.remove(host) }
    }

    /// Removes a host although its retry budget is not full, unless it has requests or may not be contacted yet.
    ///
    /// - Returns: Whether the host was removed. Its number is then reused.
    package mutating func evict(_ host: HostID, at now: BootInstant) -> Bool {
        guard board[host]?.isEvictable(at: now) == true else { return false }
        board.remove(host)
        return true
    }

    /// Adds a gate to a host.
    package mutating func addGate(of host: HostID, isOpen: Bool, at now: BootInstant) -> GateID {
        board.addGate(of: host, isOpen: isOpen, at: now)
    }

    /// Returns the number of a gate's requests, in whatever phase they are.
    package func requests(of gate: GateID) -> Int { board.gates[gate]?.requests ?? 0 }

    /// Removes a gate without requests.
    ///
    /// Its number is reused.
    package mutating func forget(gate: GateID) { board.remove(gate: gate) }

    /// Opens or closes a gate: whether there is a path to its host that meets its requirement.
    package mutating func set(_ gate: GateID, isOpen: Bool, at now: BootInstant) {
        board.set(gate, isOpen: isOpen, at: now)
    }

    // MARK: Requests

    /// Adds a request and queues it at its gate.
    package mutating func submit(_ order: Order, at now: BootInstant) -> RequestID {
        let slot = place(order, at: now)
        enqueue(slot, at: now)
        return requests.id(of: slot)
    }

    /// Adds a request whose first attempt ran without the scheduler and failed, so that it can be retried.
    ///
    /// - Returns: Its identifier. The number of its attempt is 1.
    package mutating func adopt(_ order: Order, at now: BootInstant) -> RequestID {
        let slot = place(order, at: now)
        requests[slot].phase = .running
        requests[slot].wasReleasedBefore = true
        requests[slot].starts = 1
        requests[slot].attempts = 1
        setTimer(slot, at: now)
        return requests.id(of: slot)
    }

    private mutating func place(_ order: Order, at now: BootInstant) -> Int {
        board.gates[order.gate]?.requests += 1
        return requests.add(order, at: now)
    }

    /// Removes a request and frees its slot.
    private mutating func vacate(_ slot: Int, at now: BootInstant) {
        board.gates.dequeue(slot, in: &requests, at: now)
        endDelay(slot)
        board.returnLease(&requests[slot])
        let gate = requests[slot].gate
        board.gates[gate]?.requests -= 1
        requests.vacate(slot)
        if let host = board.gates[gate]?.host { board.settle(host, at: now) }
        requests.shrinkIfEmpty()
    }

    /// Removes a request that was cancelled.
    package mutating func cancel(_ id: RequestID, at now: BootInstant) {
        guard let slot = requests.slot(of: id) else { return }
        vacate(slot, at: now)
    }

    /// Returns the deadline of a request, extended by its pauses; nil if the request has ended.
    package func deadline(of id: RequestID) -> BootInstant? { requests.slot(of: id).map { requests[$0].deadline } }

    /// Returns the number of attempts that count against a request's limit; 0 if the request has ended.
    package func attempts(of id: RequestID) -> Int { requests.slot(of: id).map { Int(requests[$0].attempts) } ?? 0 }

    /// Returns the host of a request.
    private func host(of slot: Int) -> Int32 { board.host(of: requests[slot]) }

    // MARK: Pausing

    /// Pauses a request: it is not sent, and its deadline, delay and wait are suspended.
    ///
    /// A request that is being sent or received continues; the owner has to stop reading.
    ///
    /// - Parameters:
    ///   - id: The request.
    ///   - hasConnection: Whether a running request has a connection. If not, it is withdrawn, and its attempt does not
    ///     count.
    ///   - now: The current time.
    package mutating func pause(_ id: RequestID, hasConnection: Bool = true, at now: BootInstant) {
        guard let slot = requests.slot(of: id), !requests[slot].isPaused else { return }
        requests[slot].isPaused = true
        guard requests[slot].phase == .running else { return hold(slot, at: now) }
        guard hasConnection else {
            requests[slot].withdrawAttempt()
            return hold(slot, at: now)
        }
        board.lapse(&requests[slot])
        requests[slot].due = now
        requests.setTimer(slot, at: .never)
    }

    /// Keeps a paused request until it is resumed.
    private mutating func hold(_ slot: Int, at now: BootInstant) {
        let isDelayed = requests[slot].phase == .backingOff
        board.gates.dequeue(slot, in: &requests, at: now)
        endDelay(slot)
        board.returnLease(&requests[slot])
        requests[slot].hold(isDelayed: isDelayed, at: now)
        requests.setTimer(slot, at: .never)
        board.settle(host(of: slot), at: now)
    }

    /// Resumes a paused request.
    package mutating func resume(_ id: RequestID, at now: BootInstant) {
        guard let slot = requests.slot(of: id), requests[slot].isPaused else { return }
        requests[slot].deadline = requests[slot].deadlineIfResumed(at: now)
        requests[slot].isPaused = false
        guard requests[slot].phase == .held else { return setTimer(slot, at: now) }
        let delay = requests[slot].delayLeft
        if delay > 0 { backOff(slot, for: .nanoseconds(delay), at: now) } else { enqueue(slot, at: now) }
    }

    // MARK: Releasing

    /// Returns the next action.
    ///
    /// Call it repeatedly until it returns nil.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - generator: The source of jitter.
    /// - Returns: The action; nil if there is none.
    package mutating func next(at now: BootInstant, using generator: inout some RandomNumberGenerator) -> Action? {
        while true {
            if let action = nextDue(at: now) { return action }
            guard let host = board.popReady() else { return nil }
            if let action = grant(host, at: now, &generator) { return action }
        }
    }

    /// Releases one request of a host if its window, hold and circuit breaker allow it.
    private mutating func grant(
        _ host: HostID,
        at now: BootInstant,
        _ generator: inout some RandomNumberGenerator
    ) -> Action? {
        if board[host]?.owesProbeDelay == true { board.delayProbe(host, at: now, &generator) }
        guard let known = board[host], board.gates.hasRequests(atOpen: known.gates),
            known.inFlight < known.window.limit
        else { return nil }
        if let earliestStart = known.earliestStart, earliestStart > now { return nil }
        guard let slot = ReleaseOrder.first(at: known, board, requests, at: now) else { return nil }
        if board[host]?.breaker?.allows(at: now) == false {
            board.queue(host)
            return fail(Int(slot), .breaker, at: now)
        }
        // The host moves to the end of the queue, so that all hosts take turns.
        board.queue(host)
        return release(Int(slot), at: now, &generator)
    }

    private mutating func release(
        _ slot: Int,
        at now: BootInstant,
        _ generator: inout some RandomNumberGenerator
    ) -> Action? {
        board.gates.dequeue(slot, in: &requests, at: now)
        requests[slot].wasReleasedBefore = true
        let delay = board.lease(&requests[slot], at: now, &generator)
        guard delay > .zero else { return start(slot, at: now) }
        requests[slot].phase = .released
        requests[slot].due = now.advanced(by: delay)
        setTimer(slot, at: now)
        return nil
    }

    /// Starts an attempt of a released request.
    private mutating func start(_ slot: Int, at now: BootInstant) -> Action {
        requests[slot].start(at: now, leaseTime: board.leaseTime(of: requests[slot]))
        setTimer(slot, at: now)
        return .start(requests.id(of: slot), attempt: requests[slot].starts)
    }

    // MARK: Phases

    /// Queues a request at its gate.
    private mutating func enqueue(_ slot: Int, at now: BootInstant) {
        board.enqueue(slot, in: &requests, at: now)
        setTimer(slot, at: now)
    }

    /// Ends a request's delay before its next attempt.
    private mutating func endDelay(_ slot: Int) {
        guard requests[slot].phase == .backingOff else { return }
        board[host(of: slot)]?.delayed -= 1
        requests[slot].phase = .held
    }

    // MARK: The end of an attempt

    /// Records the head of a response, which shows that the host is reachable.
    ///
    /// - Parameters:
    ///   - id: The request.
    ///   - attempt: The attempt's number.
    ///   - isOverload: Whether the status reports overload (429, 503).
    ///   - retryAfter: The delay that the server requested. It applies immediately, before the response is complete.
    ///   - now: The current time.
    package mutating func receivedHead(
        _ id: RequestID,
        attempt: UInt32,
        isOverload: Bool,
        retryAfter: Duration? = nil,
        at now: BootInstant
    ) {
        guard let slot = requests.slot(of: id), requests[slot].isRunning(attempt) else { return }
        board.receivedHead(of: &requests[slot], isOverload: isOverload, retryAfter: retryAfter, at: now)
    }

    /// Records the success of a request and removes it.
    package mutating func finished(_ id: RequestID, at now: BootInstant) {
        guard let slot = requests.slot(of: id) else { return }
        succeeded(at: host(of: slot), cost: max(1, Int32(requests[slot].cost)), at: now)
        vacate(slot, at: now)
    }

    /// Records the success of a request outside the scheduler, which returns tokens to the host's retry budget.
    package mutating func succeeded(at host: HostID, at now: BootInstant) { succeeded(at: host, cost: 1, at: now) }

    private mutating func succeeded(at host: HostID, cost: Int32, at now: BootInstant) {
        board[host]?.breaker?.succeeded(at: now)
        board[host]?.bucket.succeeded(cost: cost)
    }

    /// Returns the decision on a failed attempt by the policy, the budget and the deadline.
    ///
    /// It changes no state.
    package mutating func decision(
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

    /// Returns a decision, or a rejection if the deadline, the circuit breaker or the budget forbids a retry.
    package func checked(
        _ decision: RetryDecision,
        on id: RequestID,
        _ failure: AttemptFailure,
        at now: BootInstant
    ) -> RetryDecision {
        guard case .retry(let delay, _) = decision, let slot = requests.slot(of: id),
            let host = board[host(of: slot)]
        else { return decision }
        let earliest = now.advanced(by: delay)
        let deadline = requests[slot].deadlineIfResumed(at: now)
        if max(earliest, host.hold ?? earliest) >= deadline { return .giveUp(because: .deadline) }
        if host.breaker?.opens(at: earliest) != nil { return .giveUp(because: .breaker) }
        if board.isShed(requests[slot], failure) { return decision }
        var bucket = host.bucket
        return bucket.take(isTimeout: failure.kind == .timeout) ? decision : .giveUp(because: .budget)
    }

    /// Applies a decision to a failed attempt.
    ///
    /// - Returns: Whether the request continues. Otherwise it has failed and is removed. Events of any attempt but the
    ///   current one change nothing and return `false`.
    package mutating func ended(
        _ id: RequestID,
        attempt: UInt32,
        _ failure: AttemptFailure,
        _ decision: RetryDecision,
        at now: BootInstant,
        using generator: inout some RandomNumberGenerator
    ) -> Bool {
        guard let slot = requests.slot(of: id), requests[slot].isRunning(attempt) else { return false }
        let isShed = board.isShed(requests[slot], failure)
        board.attemptFailed(of: &requests[slot], failure, at: now, &generator)
        switch decision {
        case .giveUp:
            vacate(slot, at: now)
            return false
        case .waitForPath:
            requests[slot].withdrawAttempt()
            board.pathLost(at: requests[slot].gate, at: now, &generator)
            requeue(slot, after: .zero, at: now)
        case .retry(let delay, _):
            let isTimeout = failure.kind == .timeout
            let isPaid = !isShed && board[host(of: slot)]?.bucket.take(isTimeout: isTimeout) == true
            requests[slot].cost = isPaid ? UInt8(clamping: TokenBucket.cost(isTimeout: isTimeout)) : 0
            requeue(slot, after: delay, at: now)
        }
        return true
    }

    private mutating func requeue(_ slot: Int, after delay: Duration, at now: BootInstant) {
        requests[slot].deadline = requests[slot].deadlineIfResumed(at: now)
        requests[slot].phase = .held
        if requests[slot].isPaused {
            hold(slot, at: now)
            requests[slot].delayLeft = delay.clampedNanoseconds
        } else if delay > .zero {
            backOff(slot, for: delay, at: now)
        } else {
            enqueue(slot, at: now)
        }
    }

    private mutating func backOff(_ slot: Int, for delay: Duration, at now: BootInstant) {
        requests[slot].phase = .backingOff
        board[host(of: slot)]?.delayed += 1
        requests[slot].due = now.advanced(by: delay)
        setTimer(slot, at: now)
    }

    // MARK: Timers

    /// Sets a request's timer by its phase.
    private mutating func setTimer(_ slot: Int, at now: BootInstant) {
        requests.setTimer(slot, at: board.timerInstant(of: requests[slot], at: now))
    }

    /// Handles expired timers until one results in an action.
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
            endDelay(slot)
            enqueue(slot, at: now)
        case .released: return startReleased(slot, at: now)
        case .queued:
            if board.gates.hasTimedOut(entry, at: now) {
                return fail(slot, .noPath(waited: .nanoseconds(board.gates.waited(entry, at: now))), at: now)
            }
            setTimer(slot, at: now)
        }
        return nil
    }

    /// Sends a request after its random delay, unless its path was lost meanwhile, or its host is on hold.
    private mutating func startReleased(_ slot: Int, at now: BootInstant) -> Action? {
        let isHeld = board[host(of: slot)]?.earliestStart.map { $0 > now } ?? false
        if board.takesPlace(requests[slot]), !isHeld, board.gates[requests[slot].gate]?.isOpen == true {
            return start(slot, at: now)
        }
        board.returnLease(&requests[slot])
        enqueue(slot, at: now)
        return nil
    }

    /// Fails a request and removes it.
    private mutating func fail(_ slot: Int, _ failure: Failure, at now: BootInstant) -> Action {
        let id = requests.id(of: slot)
        vacate(slot, at: now)
        return .fail(id, failure)
    }
}
