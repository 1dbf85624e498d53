import HTTPTypes
import NIOCore
import NetworkClientCore
import ReachabilityCore
import RequestGate

/// Carries out the decisions of ``RequestScheduler``: holds requests while there is no path to their destination, sends
/// them, and retries them.
///
/// Confined to the session's event loop, which each entry point checks. A request that can be sent immediately is not
/// scheduled.
final class RequestDispatcher {
    private unowned let core: SessionCore
    private var scheduler: RequestScheduler
    private var generator = StoredGenerator()
    /// The requests by their slot in the scheduler.
    private var handles: [RequestHandle?] = []
    private var queues = HostQueues()
    /// The conditions that were last reported to the waiting requests of gates.
    private var conditions: [RequestScheduler.GateID: GateWait] = [:]
    private var timer: Scheduled<Void>?
    private var timerDue = BootInstant.never
    private var isDraining = false

    init(_ core: SessionCore) {
        self.core = core
        scheduler = .init(breaker: core.configuration.circuitBreaker)
    }

    /// Sends a request that was just started, or holds it until it may be sent.
    func admit(_ handle: RequestHandle) {
        core.loop.preconditionInEventLoop()
        let policy = handle.current.policy
        if !policy.isRestricted, !policy.gate.waits || core.gate.keeper.isQuick, !mustBeScheduled(handle) {
            return core.send(handle)
        }
        let verdict = core.gate.verdict(for: handle)
        if case .open(let binding, let addresses) = verdict, !mustBeScheduled(handle) {
            handle.run.give(binding, addresses)
            return core.send(handle)
        }
        submit(handle, verdict)
    }

    /// Returns whether a request must be scheduled although its gate is open: there is a circuit breaker, or its host
    /// has recorded failures or waiting requests, which it must not overtake.
    private func mustBeScheduled(_ handle: RequestHandle) -> Bool {
        handle.current.policy.breaks || queues.isKnown(handle.current.endpoint)
    }

    private func submit(_ handle: RequestHandle, _ verdict: GateKeeper.Verdict) {
        _ = enqueue(handle, verdict, at: BootClock.now)
        if let wait = verdict.wait { report(wait, to: handle) }
        drain()
    }

    /// Reports to a request what it waits for.
    private func report(_ wait: GateWait, to handle: RequestHandle) {
        guard let gate = handle.run.scheduled?.gate, handle.run.isQueued, !handle.run.isPaused else { return }
        conditions[gate] = wait
        guard core.events.isObserved(handle) else { return }
        core.events.tell(.waitingForConnectivity(because: handle.current.endpoint.words(for: wait)), handle)
    }

    /// Reports to the waiting requests of a key what they wait for, if that has changed and is known.
    private func reportChange(of key: GateKey, to verdict: GateKeeper.Verdict) {
        for gate in queues.gates(for: key) {
            guard let wait = verdict.wait else {
                conditions[gate] = nil
                continue
            }
            let last = conditions[gate]
            guard last != wait, !wait.isUndecided else { continue }
            conditions[gate] = wait
            guard scheduler.requests(of: gate) > 0, last?.description != wait.description else { continue }
            for case let handle? in handles where handle.run.scheduled?.gate == gate { report(wait, to: handle) }
        }
    }

    /// Adds a request to the scheduler, in the queue of its gate.
    private func enqueue(
        _ handle: RequestHandle,
        _ verdict: GateKeeper.Verdict,
        at now: BootInstant
    ) -> RequestScheduler.RequestID {
        let gate = gate(of: handle, verdict, at: now)
        let id = scheduler.submit(order(for: handle, gate, verdict.wait, at: now), at: now)
        enter(handle, id, gate)
        return id
    }

    /// Adds a request to the scheduler whose first attempt ran without it and failed.
    private func adopt(_ handle: RequestHandle, at now: BootInstant) -> RequestScheduler.RequestID {
        if handle.run.isPaused {
            // The scheduler counts the pause only from now on.
            handle.countPause()
            handle.extras.pauseStart = .now()
        }
        let gate = gate(of: handle, core.gate.verdict(for: handle), at: now)
        let id = scheduler.adopt(order(for: handle, gate, nil, at: now), at: now)
        enter(handle, id, gate)
        return id
    }

    private func enter(_ handle: RequestHandle, _ id: RequestScheduler.RequestID, _ gate: RequestScheduler.GateID) {
        let place = Int(id.slot)
        while handles.count <= place { handles.append(nil) }
        handles[place] = handle
        let scheduled = handle.run.scheduledRun
        scheduled.id = id
        scheduled.gate = gate
        scheduled.attempt = 1
    }

    private func order(
        for handle: RequestHandle,
        _ gate: RequestScheduler.GateID,
        _ wait: GateWait?,
        at now: BootInstant
    ) -> RequestScheduler.Order {
        let request = handle.current
        return .init(
            gate: gate,
            deadline: handle.deadline.map { now.advanced(by: $0.after(.now())) } ?? .never,
            waitTimeout: request.policy.waitTimeout(for: wait, core.configuration.fixedLimits),
            countsProbing: request.policy.gate.waits,
            priority: request.policy.priority,
            traits: .init(isIdempotent: request.isRepeatable, isReplayable: true)
        )
    }

    private func gate(
        of handle: RequestHandle,
        _ verdict: GateKeeper.Verdict,
        at now: BootInstant
    ) -> RequestScheduler.GateID {
        let (gate, isNew) = queues.gate(of: handle.current, in: &scheduler, isOpen: verdict.isOpen, at: now)
        guard handle.current.policy.isGated else { return gate }
        if isNew { core.gate.keeper.hold(GateKey(handle.current)) }
        learn(verdict, of: GateKey(handle.current), at: now)
        return gate
    }

    /// Passes a verdict to the scheduler, and acknowledges it to the gate keeper.
    ///
    /// The keeper reports changes relative to the acknowledged verdict. Without it, a change that is reversed before
    /// the keeper's next evaluation would leave the gate closed.
    private func learn(_ verdict: GateKeeper.Verdict, of key: GateKey, at now: BootInstant) {
        for gate in queues.gates(for: key) { scheduler.set(gate, isOpen: verdict.isOpen, at: now) }
        core.gate.keeper.acknowledge(key, verdict)
        reportChange(of: key, to: verdict)
    }

    /// Removes a request that has ended from the scheduler.
    func ended(_ handle: RequestHandle, isSuccess: Bool) {
        core.loop.preconditionInEventLoop()
        if let id = handle.run.scheduled?.id {
            let now = BootClock.now
            if isSuccess { scheduler.finished(id, at: now) } else { scheduler.cancel(id, at: now) }
            leave(handle)
            drain()
        } else if isSuccess, let host = queues.host(of: handle.current.endpoint) {
            let now = BootClock.now
            scheduler.succeeded(at: host, at: now)
            queues.forget(host, in: &scheduler, at: now)
        }
    }

    /// Removes a request from the scheduler because another one follows its response; that one is scheduled separately.
    func finishHop(_ handle: RequestHandle) {
        core.loop.preconditionInEventLoop()
        guard let scheduled = handle.run.scheduled else { return }
        if let id = scheduled.id {
            scheduler.finished(id, at: BootClock.now)
            leave(handle)
        }
        (scheduled.binding, scheduled.addresses) = (nil, nil)
    }

    /// Forgets a request that the scheduler has removed.
    private func leave(_ handle: RequestHandle) {
        guard let scheduled = handle.run.scheduled, let id = scheduled.id, let gate = scheduled.gate else { return }
        handles[Int(id.slot)] = nil
        scheduled.id = nil
        guard queues.leave(gate, in: &scheduler, at: BootClock.now), handle.current.policy.isGated else { return }
        conditions[gate] = nil
        core.gate.keeper.letGo(GateKey(handle.current))
    }

    /// Stops the timer at the end of the session.
    func shutDown() {
        core.loop.preconditionInEventLoop()
        timer?.cancel()
        timer = nil
    }
}

/// Events of the scheduler, the gate keeper and the user.
extension RequestDispatcher {
    /// Performs the scheduler's actions that are due, and sets the timer for the next ones.
    private func drain() {
        guard !isDraining else { return }
        isDraining = true
        let now = BootClock.now
        while let action = scheduler.next(at: now, using: &generator) { perform(action, at: now) }
        isDraining = false
        arm()
    }

    private func perform(_ action: RequestScheduler.Action, at now: BootInstant) {
        switch action {
        case .start(let id, let attempt):
            guard let handle = handles[Int(id.slot)] else { return }
            start(handle, id, attempt, at: now)
        case .fail(let id, let failure):
            guard let handle = handles[Int(id.slot)] else { return }
            let error = error(of: failure, handle)
            leave(handle)
            core.fail(handle, error)
        }
    }

    private func start(
        _ handle: RequestHandle,
        _ id: RequestScheduler.RequestID,
        _ attempt: UInt32,
        at now: BootInstant
    ) {
        // It may have ended, with its receiver still closing.
        guard handle.run.isQueued else { return }
        let verdict = core.gate.verdict(for: handle)
        guard case .open(let binding, let addresses) = verdict else {
            return requeue(handle, id, attempt, verdict, at: now)
        }
        handle.run.give(binding, addresses)
        let scheduled = handle.run.scheduledRun
        scheduled.attempt = attempt
        scheduled.deadline = deadline(of: id, at: now)
        core.send(handle)
    }

    private func deadline(of id: RequestScheduler.RequestID, at now: BootInstant) -> NIODeadline? {
        scheduler.deadline(of: id).flatMap { deadline in
            deadline == .never ? nil : .now() + .init(now.duration(to: deadline))
        }
    }

    /// Queues a request again because its path was lost before the keeper reported it: it must not use another path.
    private func requeue(
        _ handle: RequestHandle,
        _ id: RequestScheduler.RequestID,
        _ attempt: UInt32,
        _ verdict: GateKeeper.Verdict,
        at now: BootInstant
    ) {
        learn(verdict, of: GateKey(handle.current), at: now)
        let failure = AttemptFailure(.pathLost, .neverSent)
        _ = scheduler.ended(id, attempt: attempt, failure, .waitForPath, at: now, using: &generator)
    }

    private func arm() {
        guard let next = scheduler.nextMoment else {
            timer?.cancel()
            (timer, timerDue) = (nil, .never)
            return
        }
        guard next != timerDue else { return }
        timer?.cancel()
        timerDue = next
        let delay = max(.zero, BootClock.now.duration(to: next))
        timer = core.loop.assumeIsolated().scheduleTask(in: .init(delay)) { [weak self] in
            self?.timerDue = .never
            self?.drain()
        }
    }

    /// Opens or closes a gate after a change of the network.
    func gateChanged(_ key: GateKey, _ verdict: GateKeeper.Verdict) {
        core.loop.preconditionInEventLoop()
        let now = BootClock.now
        for gate in queues.gates(for: key) { scheduler.set(gate, isOpen: verdict.isOpen, at: now) }
        if let wait = verdict.wait {
            if !wait.isForValidation { core.pools.giveUpConnecting(key.ofConnections, wait) }
            if !wait.isUndecided { endWithoutWaiting(at: key, at: now) }
        }
        reportChange(of: key, to: verdict)
        drain()
    }

    /// Ends the wait of requests that have a stored response instead, or that do not wait for connectivity, because no path
    /// meets their requirement.
    private func endWithoutWaiting(at key: GateKey, at now: BootInstant) {
        let caching = core.stages.caching
        guard key.isRestricted || caching != nil else { return }
        let gates = queues.gates(for: key)
        for case let handle? in handles {
            let isReplaced = !handle.run.isPaused && caching?.mayReplaceFailure(handle) == true
            let fails = key.isRestricted && !handle.current.policy.gate.waits
            guard isReplaced || fails, let scheduled = handle.run.scheduled, let id = scheduled.id,
                handle.run.isQueued, let gate = scheduled.gate, gates.contains(gate)
            else { continue }
            scheduler.cancel(id, at: now)
            leave(handle)
            guard !isReplaced else {
                caching?.replaceFailure(handle, .noPath)
                continue
            }
            core.fail(handle, core.gate.noPathError(for: handle, after: .zero))
        }
    }

    /// Pauses a request without a connection.
    func pause(_ handle: RequestHandle) {
        core.loop.preconditionInEventLoop()
        handle.countPause()
        let now = BootClock.now
        let id = handle.run.scheduled?.id ?? enqueue(handle, core.gate.verdict(for: handle), at: now)
        // It may have been paused on a connection, which it has lost since.
        scheduler.resume(id, at: now)
        scheduler.pause(id, hasConnection: false, at: now)
        drain()
    }

    /// Pauses a request that is being sent or received.
    func pauseRunning(_ handle: RequestHandle) {
        core.loop.preconditionInEventLoop()
        guard let id = handle.run.scheduled?.id else { return }
        scheduler.pause(id, at: BootClock.now)
        drain()
    }

    /// Resumes a request.
    func resume(_ handle: RequestHandle) {
        core.loop.preconditionInEventLoop()
        guard let id = handle.run.scheduled?.id else { return }
        let now = BootClock.now
        scheduler.resume(id, at: now)
        if handle.run.scheduled?.deadline != nil { handle.run.scheduled?.deadline = deadline(of: id, at: now) }
        drain()
        // It may be another condition than before the pause, or the first one.
        if handle.run.isQueued, let wait = core.gate.verdict(for: handle).wait { report(wait, to: handle) }
    }
}

extension RequestDispatcher {
    /// Decides whether a request is retried after a failed attempt.
    ///
    /// - Parameters:
    ///   - handle: The request.
    ///   - error: The error of the attempt.
    ///   - ending: The end of the request if interceptors are asked and it is not retried.
    /// - Returns: Whether the request continues, or interceptors are asked; if not, the caller ends it.
    func failed(_ handle: RequestHandle, _ error: HTTPError, _ ending: Outcome.Ending) -> Bool {
        core.loop.preconditionInEventLoop()
        let policy = handle.current.policy
        guard policy.mayRetry, !error.isFinal else { return false }
        let now = BootClock.now
        let id = handle.run.scheduled?.id ?? adopt(handle, at: now)
        if handle.run.isPaused { scheduler.pause(id, at: now) }
        let failure = failure(of: handle, error, at: now)
        let decision = scheduler.decision(on: id, failure, policy.retry, at: now, using: &generator)
        let pending = PendingDecision(handle: handle, id: id, error: error, failure: failure, ending: ending)
        guard let interceptors = policy.interceptors else { return conclude(pending, decision, at: now) }
        ask(interceptors, about: pending, decision)
        // The lookup of the path may have opened the gate for requests that wait.
        drain()
        return true
    }

    /// Asks the interceptors off the event loop; the deadline continues meanwhile.
    private func ask(_ interceptors: RequestInterceptors, about pending: PendingDecision, _ decision: RetryDecision) {
        let attempt = FailedAttempt(
            request: pending.handle,
            error: pending.error,
            attempts: scheduler.attempts(of: pending.id),
            decision: decision
        )
        let core = core
        let task = Task {
            let reply = await interceptors.retry(attempt) ?? decision
            core.loop.execute { core.decided(pending.handle) { core.dispatcher.decided(pending, reply) } }
        }
        pending.handle.enter(.deciding(task))
        core.limit(pending.handle)
    }

    /// Carries out the interceptors' decision on a failed attempt.
    private func decided(_ pending: PendingDecision, _ reply: RetryDecision) {
        let now = BootClock.now
        let decision = scheduler.checked(reply, on: pending.id, pending.failure, at: now)
        if !conclude(pending, decision, at: now) { core.end(pending.handle, pending.ending) }
    }

    /// Carries out a decision on a failed attempt.
    ///
    /// - Returns: Whether the request continues.
    private func conclude(_ pending: PendingDecision, _ decision: RetryDecision, at now: BootInstant) -> Bool {
        let handle = pending.handle
        let attempt = handle.run.scheduled?.attempt ?? 1
        let isRetried = scheduler.ended(
            pending.id,
            attempt: attempt,
            pending.failure,
            decision,
            at: now,
            using: &generator
        )
        let isOfInterceptor = decision == .giveUp(because: .interceptor)
        if handle.current.policy.retry.retries || isRetried || isOfInterceptor { tell(decision, handle, pending.error) }
        guard isRetried else {
            leave(handle)
            drain()
            return false
        }
        handle.retry(
            wasProcessed: !pending.failure.isHarmless,
            isRejected: handle.current.policy.retry.saysUnprocessed(pending.failure)
        )
        drain()
        return true
    }

    /// Decides whether a request is retried because of its response's status.
    ///
    /// - Returns: Whether the request continues, or interceptors are asked; if not, the response ends it.
    func answered(_ handle: RequestHandle, _ response: DataResponse) -> Bool {
        core.loop.preconditionInEventLoop()
        let status = response.status
        let policy = handle.current.policy
        let isIntercepted = policy.interceptors != nil && status >= 400
        guard isIntercepted || policy.retry.mayRetry(after: status) else { return false }
        var error = HTTPError(
            .unacceptableStatus,
            processing: .init(status: status),
            reason: "\(handle.current.endpoint.text) answered \(response.head.status)"
        )
        error.response = response.head
        error.request = handle.current.description
        return failed(handle, error, .success(response))
    }

    /// Reports the head of a response to the scheduler: the host is reachable, or overloaded.
    func receivedHead(_ handle: RequestHandle, _ head: HTTPResponse) {
        core.loop.preconditionInEventLoop()
        guard let scheduled = handle.run.scheduled, let id = scheduled.id else { return }
        let isOverload = head.status.code == 429 || head.status.code == 503
        scheduler.receivedHead(
            id,
            attempt: scheduled.attempt,
            isOverload: isOverload,
            retryAfter: isOverload && isOfServer(head, handle) ? AttemptFailure(head).retryAfter : nil,
            at: BootClock.now
        )
        drain()
    }

    /// Whether a response may be the server's own, rather than that of a captive portal, as far as the request's hook knows.
    private func isOfServer(_ head: HTTPResponse, _ handle: RequestHandle) -> Bool {
        handle.current.policy.interceptors?.hook?.isOfServer(head) ?? true
    }

    /// Classifies an error, after a new lookup of the path if that may be the cause.
    private func failure(of handle: RequestHandle, _ error: HTTPError, at now: BootInstant) -> AttemptFailure {
        if let head = error.response, !isOfServer(head, handle) {
            return .init(error.code.failureKind, error.processing)
        }
        guard handle.current.policy.gate.waits, error.mayBeCausedByPath else {
            var failure = AttemptFailure(error)
            // A status says nothing about earlier attempts.
            guard case .status = failure.kind, handle.run.history.mayHaveTakenEffect else { return failure }
            failure.processing = .maybeProcessed
            return failure
        }
        let key = GateKey(handle.current)
        let verdict = core.gate.keeper.refresh(key)
        learn(verdict, of: key, at: now)
        return AttemptFailure(error, isPathLost: !verdict.isOpen || error.code == .pathLost)
    }

    private func tell(_ decision: RetryDecision, _ handle: RequestHandle, _ error: HTTPError) {
        guard core.events.isObserved(handle) else { return }
        switch decision {
        case .retry(let delay, let reason):
            core.events.tell(.retrying(in: delay, because: reason, after: error), handle)
        case .waitForPath: core.events.tell(.pathLost(error), handle)
        case .giveUp(let reason): core.events.tell(.gaveUp(because: reason), handle)
        }
    }

    /// Returns the error of a request that the scheduler fails.
    private func error(of failure: RequestScheduler.Failure, _ handle: RequestHandle) -> HTTPError {
        switch failure {
        case .deadline:
            return .timedOut(.total, after: handle.current.limits.total, at: handle.current.endpoint.text)
        case .breaker:
            let reason = "\(handle.current.endpoint.text) failed too often recently: its circuit breaker is open"
            return .init(.circuitOpen, processing: .neverSent, reason: reason)
        case .noPath(let waited): return core.gate.noPathError(for: handle, after: waited)
        }
    }
}

/// A failed attempt whose retry is being decided.
private struct PendingDecision: Sendable {
    let handle: RequestHandle
    let id: RequestScheduler.RequestID
    let error: HTTPError
    let failure: AttemptFailure
    /// The end of the request if there is no other attempt.
    let ending: Outcome.Ending
}

extension RetryPolicy {
    /// Returns whether a response with this status may be retried.
    fileprivate func mayRetry(after status: Int) -> Bool {
        retryableStatuses.contains(status) || unprocessedStatuses.contains(status)
    }

    /// Returns whether an attempt failed by a status that says that it was not processed.
    fileprivate func saysUnprocessed(_ failure: AttemptFailure) -> Bool {
        guard case .status(let status) = failure.kind else { return false }
        return unprocessedStatuses.contains(status)
    }
}

extension AttemptFailure {
    /// Whether the failed attempt certainly had no effect.
    fileprivate var isHarmless: Bool { processing == .neverSent || processing == .refusedUnprocessed }
}
