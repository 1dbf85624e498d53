import HTTPTypes
import LinuxSystem
import NIOCore
import NetworkClientCore
import ReachabilityCore
import RequestGate

/// Carries out what the scheduler decides: holds requests while there is no path to their destination, lets them go,
/// and lets them go again.
///
/// Confined to the session's event loop, which each entry checks. A request that can go at once passes by it.
final class RequestDispatcher {
    private unowned let core: SessionCore
    /// Judges the ways; made when the first request asks.
    var keeper: GateKeeper {
        if let madeKeeper { return madeKeeper }
        let keeper = makeKeeper()
        madeKeeper = keeper
        return keeper
    }
    private let makeKeeper: () -> GateKeeper
    private(set) var madeKeeper: GateKeeper?
    private var scheduler: RequestScheduler
    private var generator = PlacedGenerator()
    /// Who has which place in the scheduler.
    private var handles: [RequestHandle?] = []
    private var lines = HostQueues()
    private var timer: Scheduled<Void>?
    private var timerDue = BootInstant.never
    private var isDraining = false

    init(_ core: SessionCore, keeper makeKeeper: @escaping () -> GateKeeper) {
        self.core = core
        self.makeKeeper = makeKeeper
        scheduler = .init(breaker: core.configuration.circuitBreaker)
    }

    /// Lets a request that was just started go, or keeps it until it may.
    func admit(_ handle: RequestHandle) {
        core.loop.preconditionInEventLoop()
        let policy = handle.current.policy
        if policy.requirement == .any, !policy.gate.waits || keeper.isQuick, !isKnown(handle) {
            return core.enqueue(handle)
        }
        let verdict = verdict(for: handle)
        if case .open(let binding, let addresses) = verdict, !isKnown(handle) {
            handle.run.give(binding, addresses)
            return core.enqueue(handle)
        }
        submit(handle, verdict)
    }

    /// Whether something is held against a request's host, or others wait for it: it must not overtake them.
    private func isKnown(_ handle: RequestHandle) -> Bool {
        core.configuration.circuitBreaker != nil || lines.isKnown(handle.current.endpoint)
    }

    private func verdict(for handle: RequestHandle) -> GateKeeper.Verdict {
        guard handle.current.policy.isGated else { return .open(binding: .unbound, addresses: nil) }
        return keeper.verdict(for: GateKey(handle.current.endpoint))
    }

    private func submit(_ handle: RequestHandle, _ verdict: GateKeeper.Verdict) {
        _ = line(up: handle, verdict, at: BootClock.now)
        if let wait = verdict.wait, core.isObserved(handle) {
            core.tell(.waitingForConnectivity(because: handle.current.endpoint.words(for: wait)), handle)
        }
        drain()
    }

    private func line(
        up handle: RequestHandle,
        _ verdict: GateKeeper.Verdict,
        at now: BootInstant
    ) -> RequestScheduler.RequestID {
        let line = line(of: handle, verdict, at: now)
        let id = scheduler.submit(order(for: handle, line, verdict.wait, at: now), at: now)
        enter(handle, id, line)
        return id
    }

    /// Makes a request the scheduler's that went without it, and has failed.
    private func adopt(_ handle: RequestHandle, at now: BootInstant) -> RequestScheduler.RequestID {
        let line = line(of: handle, verdict(for: handle), at: now)
        let id = scheduler.adopt(order(for: handle, line, nil, at: now), at: now)
        enter(handle, id, line)
        return id
    }

    private func enter(_ handle: RequestHandle, _ id: RequestScheduler.RequestID, _ line: RequestScheduler.GateID) {
        let place = Int(id.slot)
        while handles.count <= place { handles.append(nil) }
        handles[place] = handle
        let scheduled = handle.run.scheduledRun
        scheduled.id = id
        scheduled.gate = line
        scheduled.attempt = 1
    }

    private func order(
        for handle: RequestHandle,
        _ line: RequestScheduler.GateID,
        _ wait: GateWait?,
        at now: BootInstant
    ) -> RequestScheduler.Order {
        let request = handle.current
        return .init(
            gate: line,
            deadline: handle.deadline.map { now.advanced(by: $0.after(.now())) } ?? .never,
            waitTimeout: request.policy.waitTimeout(for: wait),
            priority: request.policy.priority,
            traits: .init(isIdempotent: request.isRepeatable, isReplayable: true)
        )
    }

    private func line(
        of handle: RequestHandle,
        _ verdict: GateKeeper.Verdict,
        at now: BootInstant
    ) -> RequestScheduler.GateID {
        let (line, isNew) = lines.line(of: handle.current, in: &scheduler, isOpen: verdict.isOpen, at: now)
        guard handle.current.policy.isGated else { return line }
        if isNew { keeper.hold(GateKey(handle.current.endpoint)) }
        learn(verdict, of: GateKey(handle.current.endpoint), at: now)
        return line
    }

    /// Lets the scheduler know a verdict, and the keeper that it does: or news that comes and goes between two of its
    /// rounds would leave a gate closed for ever.
    private func learn(_ verdict: GateKeeper.Verdict, of key: GateKey, at now: BootInstant) {
        for line in lines.lines(at: key) { scheduler.set(line, isOpen: verdict.isOpen, at: now) }
        keeper.acknowledge(key, verdict)
    }

    /// A request has ended: its place is free.
    func ended(_ handle: RequestHandle, isSuccess: Bool) {
        core.loop.preconditionInEventLoop()
        let now = BootClock.now
        if let id = handle.run.scheduled?.id {
            if isSuccess { scheduler.finished(id, at: now) } else { scheduler.cancel(id, at: now) }
            leave(handle)
            drain()
        } else if isSuccess, let host = lines.host(of: handle.current.endpoint) {
            scheduler.succeeded(at: host, at: now)
            lines.forget(host, in: &scheduler, at: now)
        }
    }

    /// A request goes on elsewhere, since its server has answered that it should.
    func hopped(_ handle: RequestHandle) {
        core.loop.preconditionInEventLoop()
        guard let scheduled = handle.run.scheduled else { return }
        if let id = scheduled.id {
            scheduler.finished(id, at: BootClock.now)
            leave(handle)
        }
        (scheduled.binding, scheduled.addresses) = (nil, nil)
    }

    /// Forgets a request that the scheduler has forgotten.
    private func leave(_ handle: RequestHandle) {
        guard let scheduled = handle.run.scheduled, let id = scheduled.id, let line = scheduled.gate else { return }
        handles[Int(id.slot)] = nil
        scheduled.id = nil
        guard lines.leave(line, in: &scheduler, at: BootClock.now), handle.current.policy.isGated else { return }
        keeper.letGo(GateKey(handle.current.endpoint))
    }

    /// The session is over.
    func shutDown() {
        core.loop.preconditionInEventLoop()
        timer?.cancel()
        timer = nil
        madeKeeper?.shutDown()
    }
}

/// What the scheduler, the gate's keeper and the user say.
extension RequestDispatcher {
    /// Does what the scheduler has to say now, and sets the timer for what it has to say later.
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
        // It may have ended, and its receiver not be closed yet.
        guard handle.run.isQueued else { return }
        let verdict = verdict(for: handle)
        guard case .open(let binding, let addresses) = verdict else {
            return standBack(handle, id, attempt, verdict, at: now)
        }
        handle.run.give(binding, addresses)
        let scheduled = handle.run.scheduledRun
        scheduled.attempt = attempt
        scheduled.deadline = deadline(of: id, at: now)
        core.enqueue(handle)
    }

    private func deadline(of id: RequestScheduler.RequestID, at now: BootInstant) -> NIODeadline? {
        scheduler.deadline(of: id).flatMap { deadline in
            deadline == .never ? nil : .now() + .init(now.duration(to: deadline))
        }
    }

    /// The way went before the news of it came: a request must not leave by another one, and waits.
    private func standBack(
        _ handle: RequestHandle,
        _ id: RequestScheduler.RequestID,
        _ attempt: UInt32,
        _ verdict: GateKeeper.Verdict,
        at now: BootInstant
    ) {
        learn(verdict, of: GateKey(handle.current.endpoint), at: now)
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

    /// A gate was judged again.
    func gateChanged(_ key: GateKey, _ verdict: GateKeeper.Verdict) {
        core.loop.preconditionInEventLoop()
        let now = BootClock.now
        for line in lines.lines(at: key) { scheduler.set(line, isOpen: verdict.isOpen, at: now) }
        if let wait = verdict.wait {
            core.pools.giveUpConnecting(key, wait)
            if !wait.isUndecided { failImpatient(at: key, at: now) }
        }
        drain()
    }

    /// It is known now that there is no way that meets a requirement: who was not to wait for one fails.
    private func failImpatient(at key: GateKey, at now: BootInstant) {
        guard key.requirement != .any else { return }
        let lines = lines.lines(at: key)
        for case let handle? in handles where !handle.current.policy.gate.waits {
            guard let scheduled = handle.run.scheduled, let id = scheduled.id, handle.run.isQueued,
                let line = scheduled.gate, lines.contains(line)
            else { continue }
            scheduler.cancel(id, at: now)
            leave(handle)
            core.fail(handle, error(of: .noPath(waited: .zero), handle))
        }
    }

    /// The user pauses a request that is not on a connection.
    func pause(_ handle: RequestHandle) {
        core.loop.preconditionInEventLoop()
        handle.run.extras?.countPause()
        let now = BootClock.now
        let id = handle.run.scheduled?.id ?? line(up: handle, verdict(for: handle), at: now)
        // It may have been under way when its user paused it, and is no more.
        scheduler.resume(id, at: now)
        scheduler.pause(id, hasConnection: false, at: now)
        drain()
    }

    /// The user pauses a request that is on a connection.
    func pauseUnderWay(_ handle: RequestHandle) {
        core.loop.preconditionInEventLoop()
        guard let id = handle.run.scheduled?.id else { return }
        scheduler.pause(id, at: BootClock.now)
        drain()
    }

    /// The user resumes a request.
    func resume(_ handle: RequestHandle) {
        core.loop.preconditionInEventLoop()
        guard let id = handle.run.scheduled?.id else { return }
        let now = BootClock.now
        scheduler.resume(id, at: now)
        if handle.run.scheduled?.deadline != nil { handle.run.scheduled?.deadline = deadline(of: id, at: now) }
        drain()
    }
}

extension RequestDispatcher {
    /// An attempt failed.
    ///
    /// - Parameters:
    ///   - handle: The request.
    ///   - error: The error.
    ///   - ending: How the request ends if interceptors are asked, and it is not retried.
    /// - Returns: Whether the request goes on, or interceptors are asked; if not, it has failed.
    func failed(_ handle: RequestHandle, _ error: HTTPError, _ ending: Outcome.Ending) -> Bool {
        core.loop.preconditionInEventLoop()
        let policy = handle.current.policy
        guard policy.mayRetry, !error.isFinal else { return false }
        let now = BootClock.now
        let id = handle.run.scheduled?.id ?? adopt(handle, at: now)
        if handle.run.isPaused { scheduler.pause(id, at: now) }
        let failure = failure(of: handle, error, at: now)
        let decision = scheduler.decision(on: id, failure, policy.retry, at: now, using: &generator)
        let turn = FailedTurn(handle: handle, id: id, error: error, failure: failure, ending: ending)
        guard let interceptors = policy.interceptors else { return conclude(turn, decision, at: now) }
        ask(interceptors, about: turn, decision)
        return true
    }

    /// Asks the interceptors, away from the event loop; the deadline goes on meanwhile.
    private func ask(_ interceptors: RequestInterceptors, about turn: FailedTurn, _ decision: RetryDecision) {
        let attempt = FailedAttempt(
            request: turn.handle,
            error: turn.error,
            attempts: scheduler.attempts(of: turn.id),
            decision: decision
        )
        let core = core
        let task = Task {
            let reply = await interceptors.retry(attempt) ?? decision
            core.loop.execute { core.decided(turn.handle) { core.dispatcher.decided(turn, reply) } }
        }
        turn.handle.enter(.deciding(task))
        core.limit(turn.handle)
    }

    /// Interceptors have decided on a failed attempt.
    private func decided(_ turn: FailedTurn, _ reply: RetryDecision) {
        let now = BootClock.now
        let decision = scheduler.checked(reply, on: turn.id, turn.failure, at: now)
        if !conclude(turn, decision, at: now) { core.end(turn.handle, turn.ending) }
    }

    /// Does what was decided on a failed attempt.
    ///
    /// - Returns: Whether the request goes on.
    private func conclude(_ turn: FailedTurn, _ decision: RetryDecision, at now: BootInstant) -> Bool {
        let handle = turn.handle
        let attempt = handle.run.scheduled?.attempt ?? 1
        let goesOn = scheduler.ended(turn.id, attempt: attempt, turn.failure, decision, at: now, using: &generator)
        let isOfInterceptor = decision == .giveUp(because: .interceptor)
        if handle.current.policy.retry.retries || goesOn || isOfInterceptor { tell(decision, handle, turn.error) }
        guard goesOn else {
            leave(handle)
            drain()
            return false
        }
        handle.retry(wasProcessed: !turn.failure.isHarmless)
        drain()
        return true
    }

    /// A response is whole whose status may be a failure.
    ///
    /// - Returns: Whether the request goes on, or interceptors are asked; if not, the response is its end.
    func answered(_ handle: RequestHandle, _ response: DataResponse) -> Bool {
        core.loop.preconditionInEventLoop()
        let status = response.head.status.code
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

    /// The head of an answer came: its host is there.
    func sawHead(_ handle: RequestHandle, _ head: HTTPResponse) {
        core.loop.preconditionInEventLoop()
        guard let scheduled = handle.run.scheduled, let id = scheduled.id else { return }
        let isOverload = head.status.code == 429 || head.status.code == 503
        scheduler.receivedHead(
            id,
            attempt: scheduled.attempt,
            isOverload: isOverload,
            retryAfter: isOverload ? AttemptFailure(head).retryAfter : nil,
            at: BootClock.now
        )
        drain()
    }

    /// What an error is, held against what the kernel says of the way now.
    private func failure(of handle: RequestHandle, _ error: HTTPError, at now: BootInstant) -> AttemptFailure {
        guard handle.current.policy.gate.waits, error.mayBeOfThePath else { return AttemptFailure(error) }
        let key = GateKey(handle.current.endpoint)
        let verdict = keeper.refresh(key)
        learn(verdict, of: key, at: now)
        return AttemptFailure(error, isPathLost: !verdict.isOpen || error.code == .pathLost)
    }

    private func tell(_ decision: RetryDecision, _ handle: RequestHandle, _ error: HTTPError) {
        guard core.isObserved(handle) else { return }
        switch decision {
        case .retry(let delay, let reason): core.tell(.retrying(in: delay, because: reason, after: error), handle)
        case .waitForPath: core.tell(.pathLost(error), handle)
        case .giveUp(let reason): core.tell(.gaveUp(because: reason), handle)
        }
    }

    /// What a request fails with by the scheduler's own word.
    private func error(of failure: RequestScheduler.Failure, _ handle: RequestHandle) -> HTTPError {
        let request = handle.current.copy
        switch failure {
        case .deadline: return .timedOut(.total, after: request.limits.total, at: request.endpoint.text)
        case .breaker:
            let reason = "\(request.endpoint.text) has failed too often of late, and is given a rest: try again later"
            return .init(.circuitOpen, processing: .neverSent, reason: reason)
        case .noPath(let waited):
            let wait = keeper.verdict(for: GateKey(request.endpoint)).wait?.description ?? "the server did not answer"
            let isPatient = request.policy.gate.waits
            let reason =
                isPatient
                ? "no way to \(request.endpoint.way) within \(waited.rounded): it waited for \(wait)"
                : "no way to \(request.endpoint.way) that the request may take: it needs \(wait)"
            return .init(isPatient ? .connectivityTimedOut : .pathNotAllowed, processing: .neverSent, reason: reason)
        }
    }
}

/// An attempt that failed, on which it is being decided.
private struct FailedTurn: Sendable {
    let handle: RequestHandle
    let id: RequestScheduler.RequestID
    let error: HTTPError
    let failure: AttemptFailure
    /// How the request ends if there is no other attempt.
    let ending: Outcome.Ending
}

extension RetryPolicy {
    /// Whether an answer with this status can be followed by another attempt.
    fileprivate func mayRetry(after status: Int) -> Bool {
        retryableStatuses.contains(status) || unprocessedStatuses.contains(status)
    }
}

extension AttemptFailure {
    /// Whether what failed has certainly had no effect.
    fileprivate var isHarmless: Bool { processing == .neverSent || processing == .refusedUnprocessed }
}

extension HTTPError {
    /// Whether it is the user's word, or the scheduler's own.
    fileprivate var isFinal: Bool {
        switch code {
        case .cancelled, .requestTimedOut, .connectivityTimedOut, .pathNotAllowed, .circuitOpen, .bodyUnavailable,
            .bodyNotReplayable, .fileFailed:
            true
        default: false
        }
    }

    /// Whether the way may be the cause, so that the kernel is to be asked.
    fileprivate var mayBeOfThePath: Bool {
        switch code {
        case .networkUnreachable, .hostUnreachable, .addressNotAvailable, .interfaceNotFound, .prohibited, .blackholed,
            .connectFailed, .connectTimedOut, .tlsTimedOut, .resolveTimedOut, .nameTemporarilyUnresolvable,
            .nameLookupFailed, .nameNotFound, .connectionLost, .bodyTruncated, .firstByteTimedOut, .readTimedOut,
            .writeTimedOut, .pathLost:
            true
        default: false
        }
    }
}

extension Duration {
    /// To tenths of a second, or to milliseconds where there is less than one, for messages.
    fileprivate var rounded: Duration {
        let milliseconds = clampedNanoseconds / 1_000_000
        return .milliseconds(milliseconds < 100 ? milliseconds : milliseconds / 100 * 100)
    }
}

/// The system's randomness, with a place in memory.
///
/// `SystemRandomNumberGenerator` is empty, so that by reference it may be handed on at any address; what the thread
/// sanitizer notes of that is written wherever it points.
struct PlacedGenerator: RandomNumberGenerator {
    private var system = SystemRandomNumberGenerator()
    private var count: UInt64 = 0

    mutating func next() -> UInt64 {
        count &+= 1
        return system.next()
    }
}

/// The clock that goes on while the machine is suspended.
enum BootClock {
    /// `CLOCK_BOOTTIME`; clock_gettime(2).
    static var now: BootInstant { .init(nanoseconds: SystemClock.nanosecondsSinceBoot) }
}
