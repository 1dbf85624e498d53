import NIOCore
import NetworkClientCore
import ReachabilityCore
import RequestGate

/// Carries out what the scheduler decides: holds requests while there is no path to their destination, lets them go, and
/// lets them go again.
///
/// Belongs to the session's event loop. A request that can go at once passes by it.
final class RequestDispatcher {
    unowned let core: SessionCore
    /// Judges the ways; made when the first request asks.
    var keeper: GateKeeper {
        if let madeKeeper { return madeKeeper }
        let keeper = makeKeeper()
        madeKeeper = keeper
        return keeper
    }
    private let makeKeeper: () -> GateKeeper
    private(set) var madeKeeper: GateKeeper?
    var scheduler: RequestScheduler
    var generator = PlacedGenerator()
    /// Who has which place in the scheduler.
    var handles: [RequestHandle?] = []
    var lines = DispatchLines()
    var timer: Scheduled<Void>?
    var timerDue = BootInstant.never
    var isDraining = false

    init(_ core: SessionCore, keeper makeKeeper: @escaping () -> GateKeeper) {
        self.core = core
        self.makeKeeper = makeKeeper
        scheduler = .init(breaker: core.configuration.circuitBreaker)
    }

    /// Lets a request that was just started go, or keeps it until it may.
    func admit(_ handle: RequestHandle) {
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

    func verdict(for handle: RequestHandle) -> GateKeeper.Verdict {
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

    func line(
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
    func adopt(_ handle: RequestHandle, at now: BootInstant) -> RequestScheduler.RequestID {
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
            patience: request.policy.patience(for: wait),
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
    func learn(_ verdict: GateKeeper.Verdict, of key: GateKey, at now: BootInstant) {
        for line in lines.lines(at: key) { scheduler.set(line, isOpen: verdict.isOpen, at: now) }
        keeper.acknowledge(key, verdict)
    }

    /// A request has ended: its place is free.
    func ended(_ handle: RequestHandle, isSuccess: Bool) {
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
        guard let scheduled = handle.run.scheduled else { return }
        if let id = scheduled.id {
            scheduler.finished(id, at: BootClock.now)
            leave(handle)
        }
        (scheduled.binding, scheduled.addresses) = (nil, nil)
    }

    /// Forgets a request that the scheduler has forgotten.
    func leave(_ handle: RequestHandle) {
        guard let scheduled = handle.run.scheduled, let id = scheduled.id, let line = scheduled.gate else { return }
        handles[Int(id.slot)] = nil
        scheduled.id = nil
        guard lines.leave(line, in: &scheduler, at: BootClock.now), handle.current.policy.isGated else { return }
        keeper.letGo(GateKey(handle.current.endpoint))
    }

    /// The session is over.
    func shutDown() {
        timer?.cancel()
        timer = nil
        madeKeeper?.shutDown()
    }
}
