import NetworkClientCore
import NetworkLab
import RequestGate

/// The history that the checks need, and stale events that must have no effect.
extension ModelWorld {
    mutating func end(_ number: Int) {
        requests[number].isEnded = true
        live.removeAll { $0 == number }
        if let id = requests[number].id {
            check(!scheduler.isCurrent(id), "an ended request is still registered")
        }
    }

    mutating func enterLine(_ number: Int) {
        guard requests[number].phase == .waiting, !requests[number].isPaused else { return }
        requests[number].lineSince = now
        requests[number].lineClosed = gates[requests[number].gate].closedTime(at: now)
    }

    mutating func leaveLine(_ number: Int) {
        guard requests[number].phase == .waiting, !requests[number].isPaused else { return }
        (requests[number].waitedAtLeast, requests[number].waitedAtMost) = waits(number)
    }

    mutating func endDelay(_ number: Int) {
        guard case .delayed(let until) = requests[number].phase, until <= now, !requests[number].isPaused,
            !requests[number].isEnded
        else { return }
        requests[number].phase = .waiting
        enterLine(number)
    }

    mutating func pay(_ number: Int) {
        let host = requests[number].host
        hosts[host].spent += requests[number].cost
        check(hosts[host].spent <= 500 + hosts[host].refunded, "retries beyond the budget")
    }

    /// Records that a gate opens.
    ///
    /// If a request certainly waits there, the host has to be probed.
    mutating func recordOutage(_ gate: Int) {
        let host = gates[gate].host
        let isLong = now - gates[gate].closedAt > 250 * Self.millisecond
        let waits = live.contains { number in
            let request = requests[number]
            guard request.host == host, !request.isPaused else { return false }
            if case .delayed(let until) = request.phase { return until > now }
            guard request.gate == gate, request.phase == .waiting else { return false }
            return isLong || request.lineSince > gates[gate].closedAt
        }
        // A request that was about to start may not have been affected by a short closure.
        hosts[host].outage = nil
        guard waits else { return }
        tally.outages += 1
        hosts[host].outage = serial
        hosts[host].responses = 0
        hosts[host].failedProbeAt = nil
        hosts[host].lostPathStarts = []
    }

    /// Records hosts without requests that the window released, since their window may have ended.
    mutating func recordIdleHosts() {
        for host in hosts.indices {
            guard let since = hosts[host].outage else { continue }
            let isNeeded = live.contains { number in
                guard requests[number].host == host else { return false }
                if requests[number].phase == .running { return isInWindow(number, since: since) }
                return !requests[number].isPaused && requests[number].id != nil
            }
            if !isNeeded { hosts[host].outage = nil }
        }
    }

    /// Records an attempt that showed that its host has not recovered.
    mutating func recordFailedProbe(_ number: Int) {
        let request = requests[number]
        guard request.id != nil, !request.isOutOfWindow, let since = hosts[request.host].outage,
            request.serial > since
        else { return }
        hosts[request.host].failedProbeAt = now
    }

    // MARK: Stale events

    /// Passes an outdated event to the scheduler, which must not change its state.
    mutating func sendStale(_ id: RequestScheduler.RequestID, _ attempt: UInt32, _ event: AttemptEvent) {
        tally.stale += 1
        let before = (scheduler.count, scheduler.leases, scheduler.nextMoment)
        switch event {
        case .head: scheduler.receivedHead(id, attempt: attempt, isOverload: false, at: moment)
        case .finished where !scheduler.isCurrent(id): scheduler.finished(id, at: moment)
        case .finished: scheduler.receivedHead(id, attempt: attempt, isOverload: true, at: moment)
        case .failed(let failure):
            let decision = RetryDecision.retry(in: .zero, because: .neverSent)
            let goesOn = scheduler.ended(id, attempt: attempt, failure, decision, at: moment, using: &jitter)
            check(!goesOn, "a stale event continued a request")
        }
        let after = (scheduler.count, scheduler.leases, scheduler.nextMoment)
        if before != after { found("a stale event changed \(before) into \(after)") }
    }

    /// Passes events that are invalid: of an attempt that never existed, or that ended long ago.
    mutating func confuse(_ number: Int) {
        guard let id = requests[number].id else { return }
        let wrong = requests[number].phase == .running ? requests[number].attempt &+ 1 : requests[number].attempt
        sendStale(id, wrong, .failed(.init(.refused, .neverSent, retryAfter: .seconds(5))))
        sendStale(id, wrong, .head(isOverload: false, retryAfter: nil))
        guard let old = requests.first(where: { $0.isEnded })?.id else { return }
        sendStale(old, 1, .finished)
        scheduler.pause(old, at: moment)
        scheduler.resume(old, at: moment)
        scheduler.cancel(old, at: moment)
        check(!scheduler.isCurrent(old), "an ended request is registered again")
    }
}
