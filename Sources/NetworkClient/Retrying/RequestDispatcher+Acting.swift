import NIOCore
import NetworkClientCore
import ReachabilityCore
import RequestGate

/// What the scheduler, the gate's keeper and the user say.
extension RequestDispatcher {
    /// Does what the scheduler has to say now, and sets the timer for what it has to say later.
    func drain() {
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

    /// A gate was judged anew.
    func gateChanged(_ key: GateKey, _ verdict: GateKeeper.Verdict) {
        let now = BootClock.now
        for line in lines.lines(at: key) { scheduler.set(line, isOpen: verdict.isOpen, at: now) }
        if let wait = verdict.wait {
            core.giveUpConnecting(key, wait)
            if !wait.isUndecided { failImpatient(at: key, at: now) }
        }
        drain()
    }

    /// It is known now that there is no way that meets a requirement: who was not to wait for one fails.
    private func failImpatient(at key: GateKey, at now: BootInstant) {
        guard key.requirement != .any else { return }
        let lines = lines.lines(at: key)
        for case let handle? in handles where !handle.current.policy.gate.waits {
            guard let scheduled = handle.run.scheduled, let id = scheduled.id, case .nowhere = handle.run.place,
                let line = scheduled.gate, lines.contains(line)
            else { continue }
            scheduler.cancel(id, at: now)
            leave(handle)
            core.fail(handle, error(of: .noPath(waited: .zero), handle))
        }
    }

    /// The user pauses a request that is not on a connection.
    func pause(_ handle: RequestHandle) {
        handle.run.extras?.countPause()
        let now = BootClock.now
        let id = handle.run.scheduled?.id ?? line(up: handle, verdict(for: handle), at: now)
        // It may have been under way when its user paused it, and is no more.
        scheduler.resume(id, at: now)
        scheduler.pause(id, hasLeft: false, at: now)
        drain()
    }

    /// The user pauses a request that is on a connection.
    func pauseUnderWay(_ handle: RequestHandle) {
        guard let id = handle.run.scheduled?.id else { return }
        scheduler.pause(id, at: BootClock.now)
        drain()
    }

    /// The user resumes a request.
    func resume(_ handle: RequestHandle) {
        guard let id = handle.run.scheduled?.id else { return }
        let now = BootClock.now
        scheduler.resume(id, at: now)
        if handle.run.scheduled?.deadline != nil { handle.run.scheduled?.deadline = deadline(of: id, at: now) }
        drain()
    }
}
