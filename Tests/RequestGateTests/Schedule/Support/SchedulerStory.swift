import NetworkClientCore
import NetworkLab
import RequestGate

/// Drives a scheduler in virtual time as a session does: after each event it performs all actions.
struct SchedulerStory {
    /// An attempt that was started.
    struct Start: Hashable {
        let id: RequestScheduler.RequestID
        let attempt: UInt32
        let at: Duration
    }

    /// A request that the scheduler itself failed.
    struct End: Hashable {
        let id: RequestScheduler.RequestID
        let failure: RequestScheduler.Failure
        let at: Duration
    }

    var scheduler: RequestScheduler
    var generator = SeededGenerator(seed: 1)
    /// The time since the start.
    private(set) var now = Duration.zero
    /// The attempts that were started and not yet taken by the test.
    private(set) var starts: [Start] = []
    private(set) var ends: [End] = []
    /// The requests that were submitted.
    fileprivate(set) var submitted: [RequestScheduler.RequestID] = []
    /// How often the scheduler was asked for its next action.
    private(set) var questions = 0
    let host: RequestScheduler.HostID
    let gate: RequestScheduler.GateID

    /// Creates a scheduler with one host and one gate.
    init(isOpen: Bool = false, breaker: CircuitBreakerPolicy? = nil) {
        scheduler = .init(breaker: breaker)
        host = scheduler.addHost()
        gate = scheduler.addGate(of: host, isOpen: isOpen, at: Self.moment(.zero))
    }

    /// Returns a time on the scheduler's clock, which does not start at zero.
    static func moment(_ time: Duration) -> BootInstant { .init(nanoseconds: 1_000_000_000).advanced(by: time) }

    /// The current time on the scheduler's clock.
    var moment: BootInstant { Self.moment(now) }

    /// When the scheduler wants to be called again.
    var next: Duration? { scheduler.nextMoment.map { Self.moment(.zero).duration(to: $0) } }

    // MARK: Time

    /// Advances the time as a timer does, stopping at each of the scheduler's deadlines.
    mutating func pass(_ duration: Duration) {
        let end = now + duration
        while let next, next <= end {
            now = max(now, next)
            drain()
        }
        now = end
        drain()
    }

    /// Returns the attempts that were started since the last call.
    mutating func takeStarts() -> [Start] {
        defer { starts = [] }
        return starts
    }

    /// Returns the requests that failed since the last call.
    mutating func takeEnds() -> [End] {
        defer { ends = [] }
        return ends
    }

    /// Returns the requests of the attempts that were started since the last call.
    mutating func started() -> [RequestScheduler.RequestID] { takeStarts().map(\.id) }

    /// Returns the request that was last submitted in a slot.
    func id(ofSlot slot: Int) -> RequestScheduler.RequestID? { submitted.last { $0.slot == slot } }

    private mutating func drain() {
        while true {
            questions += 1
            switch scheduler.next(at: moment, using: &generator) {
            case nil: return
            case .start(let id, let attempt): starts.append(.init(id: id, attempt: attempt, at: now))
            case .fail(let id, let failure): ends.append(.init(id: id, failure: failure, at: now))
            }
        }
    }
}

// MARK: Events

extension SchedulerStory {
    /// A repeatable request (GET), or one that must not be repeated (POST).
    enum Method { case get, post }

    mutating func submit(
        _ method: Method = .get,
        gate: RequestScheduler.GateID? = nil,
        deadline: Duration? = nil,
        waitTimeout: Duration? = nil,
        countsProbing: Bool = true,
        priority: RequestPriority = .normal
    ) -> RequestScheduler.RequestID {
        var order = order(method, gate: gate, deadline: deadline, waitTimeout: waitTimeout, priority: priority)
        order.countsProbing = countsProbing
        let id = scheduler.submit(order, at: moment)
        submitted.append(id)
        pass(.zero)
        return id
    }

    mutating func adopt(_ method: Method = .get, deadline: Duration? = nil) -> RequestScheduler.RequestID {
        scheduler.adopt(order(method, deadline: deadline), at: moment)
    }

    func order(
        _ method: Method,
        gate: RequestScheduler.GateID? = nil,
        deadline: Duration? = nil,
        waitTimeout: Duration? = nil,
        priority: RequestPriority = .normal
    ) -> RequestScheduler.Order {
        .init(
            gate: gate ?? self.gate,
            deadline: deadline.map { moment.advanced(by: $0) } ?? .never,
            waitTimeout: waitTimeout,
            priority: priority,
            traits: .init(isIdempotent: method == .get, isReplayable: method == .get)
        )
    }

    mutating func open(_ gate: RequestScheduler.GateID? = nil) { set(gate, true) }
    mutating func close(_ gate: RequestScheduler.GateID? = nil) { set(gate, false) }

    private mutating func set(_ gate: RequestScheduler.GateID?, _ isOpen: Bool) {
        scheduler.set(gate ?? self.gate, isOpen: isOpen, at: moment)
        pass(.zero)
    }

    mutating func pause(_ id: RequestScheduler.RequestID, hasConnection: Bool = true) {
        scheduler.pause(id, hasConnection: hasConnection, at: moment)
        pass(.zero)
    }

    mutating func resume(_ id: RequestScheduler.RequestID) {
        scheduler.resume(id, at: moment)
        pass(.zero)
    }

    mutating func cancel(_ id: RequestScheduler.RequestID) {
        scheduler.cancel(id, at: moment)
        pass(.zero)
    }

    mutating func respond(_ id: RequestScheduler.RequestID, attempt: UInt32 = 1, isOverload: Bool = false) {
        scheduler.receivedHead(id, attempt: attempt, isOverload: isOverload, at: moment)
        pass(.zero)
    }

    mutating func finish(_ id: RequestScheduler.RequestID) {
        scheduler.finished(id, at: moment)
        pass(.zero)
    }

    /// Responds to a request successfully.
    mutating func serve(_ id: RequestScheduler.RequestID, attempt: UInt32 = 1) {
        respond(id, attempt: attempt)
        finish(id)
    }

    /// Fails an attempt, and applies the decision of a policy.
    @discardableResult
    mutating func fail(
        _ id: RequestScheduler.RequestID,
        attempt: UInt32 = 1,
        _ kind: AttemptFailure.Kind = .transient,
        _ processing: Processing = .neverSent,
        retryAfter: Duration? = nil,
        policy: RetryPolicy = .init(maximumAttempts: 10, baseDelay: .seconds(1))
    ) -> RetryDecision {
        let failure = AttemptFailure(kind, processing, retryAfter: retryAfter)
        let decision = scheduler.decision(on: id, failure, policy, at: moment, using: &generator)
        end(id, attempt: attempt, failure, decision)
        return decision
    }

    /// Fails an attempt, and applies a decision.
    @discardableResult
    mutating func end(
        _ id: RequestScheduler.RequestID,
        attempt: UInt32 = 1,
        _ failure: AttemptFailure,
        _ decision: RetryDecision
    ) -> Bool {
        let goesOn = scheduler.ended(id, attempt: attempt, failure, decision, at: moment, using: &generator)
        pass(.zero)
        return goesOn
    }
}
