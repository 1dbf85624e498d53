import NetworkLab
import RequestGate

/// The invariants.
extension ModelWorld {
    // MARK: Actions

    mutating func perform(_ action: RequestScheduler.Action) {
        switch action {
        case .start(let id, let attempt):
            guard let number = number(of: id) else { return }
            checkStart(number, attempt)
            leaveLine(number)
            requests[number].phase = .running
            requests[number].attempt = attempt
            tally.starts += 1
            serve(number)
            checkWindows(number)
        case .fail(let id, let failure):
            guard let number = number(of: id) else { return }
            check(!requests[number].isPaused, "a paused request fails")
            checkFailure(number, failure)
            check(!scheduler.isCurrent(id), "a failed request is still registered")
            end(number)
        }
    }

    private mutating func number(of id: RequestScheduler.RequestID) -> Int? {
        guard let number = numbers[id], !requests[number].isEnded else {
            check(false, "an action for a request that has ended")
            return nil
        }
        return number
    }

    private mutating func checkStart(_ number: Int, _ attempt: UInt32) {
        let request = requests[number]
        check(request.phase != .running, "a second attempt while one is in flight")
        if attempt <= request.attempt { found("attempt \(attempt) after \(request.attempt)") }
        check(!request.isPaused, "an attempt of a paused request")
        check(gates[request.gate].isOpen, "an attempt while its gate is closed")
        check(hosts[request.host].silentUntil <= now, "an attempt before the end of Retry-After")
        check(request.deadline > now, "an attempt at or after the deadline")
        if case .delayed(let until) = request.phase { check(until <= now, "an attempt before its delay is over") }
        check(request.counted < request.policy.maximumAttempts, "more attempts than the limit")
        check(!request.mayBeProcessed || request.traits.isIdempotent, "a possibly processed request is retried")
        check(!request.wasRead || request.traits.isReplayable, "a one-shot body is resent")
        if hosts[request.host].outage != nil, hosts[request.host].responses == 0,
            let failedAt = hosts[request.host].failedProbeAt
        {
            check(now - failedAt >= 50 * Self.millisecond, "no delay after a failed probe")
        }
        guard request.wasToldPathLost else { return }
        hosts[request.host].lostPathStarts.append(now)
        hosts[request.host].lostPathStarts.removeAll { now - $0 > Self.second }
        check(hosts[request.host].lostPathStarts.count < 30, "endless attempts on a lost path")
    }

    /// Checks that after an outage, one request is in flight, and seven more than responses have arrived since.
    private mutating func checkWindows(_ number: Int) {
        let host = requests[number].host
        if let since = hosts[host].outage {
            let count = live.count { requests[$0].host == host && isInWindow($0, since: since) }
            let responses = hosts[host].responses
            if count > (responses == 0 ? 1 : 7 + responses) {
                found("\(count) in flight after \(responses) responses")
            }
        }
        guard hosts.contains(where: { $0.outage != nil }) else { return }
        let count = live.count { number in
            hosts[requests[number].host].outage.map { isInWindow(number, since: $0) } ?? false
        }
        if count > 32 + responses { found("\(count) in flight in total after \(responses) responses") }
    }

    func isInWindow(_ number: Int, since: Int) -> Bool {
        let request = requests[number]
        guard request.phase == .running, request.id != nil, !request.isOutOfWindow else { return false }
        return request.serial > since && now - request.startedAt < 2 * Self.second
    }

    private mutating func checkFailure(_ number: Int, _ failure: RequestScheduler.Failure) {
        let request = requests[number]
        switch failure {
        case .deadline:
            tally.deadlines += 1
            check(request.deadline <= now, "a failure before the deadline")
        case .breaker:
            tally.breaks += 1
            check(hasBreaker && request.phase != .running, "an unexpected failure by the breaker")
        case .noPath(let waited):
            tally.noPath += 1
            let waited = waited.clampedNanoseconds
            let (least, most) = waits(number)
            check(request.phase != .running, "a running request failed for lack of a path")
            if request.waitTimeout ?? .max > waited { found("failed too early, after \(waited) ns") }
            if waited > most || waited < least - Self.second {
                found("waited \(least) to \(most) ns, not \(waited)")
            }
        }
    }

    /// Returns how long a request has waited: at least at its closed gate, which counts, and at most in all.
    func waits(_ number: Int) -> (least: Int64, most: Int64) {
        let request = requests[number]
        guard request.phase != .running, !request.isPaused, now >= request.lineSince else {
            return (request.waitedAtLeast, request.waitedAtMost)
        }
        let closed = gates[request.gate].closedTime(at: now) - request.lineClosed
        return (request.waitedAtLeast + closed, request.waitedAtMost + now - request.lineSince)
    }

    // MARK: Between the actions

    mutating func checkState() {
        if scheduler.count != live.count(where: { requests[$0].id != nil }) {
            found("\(scheduler.count) requests are registered")
        }
        if scheduler.leases < 0 || scheduler.leases > scheduler.count { found("\(scheduler.leases) leases") }
        for number in live where !requests[number].isPaused && requests[number].id != nil {
            if requests[number].deadline <= now { found("request \(number) outlives its deadline") }
            let deadline = requests[number].id.flatMap { scheduler.deadline(of: $0)?.nanoseconds }
            if deadline != requests[number].deadline { found("request \(number) has a wrong deadline") }
            guard requests[number].phase == .waiting, let waitTimeout = requests[number].waitTimeout else { continue }
            if waits(number).least >= waitTimeout + Self.second {
                found("request \(number) exceeds its wait timeout")
            }
        }
        // Delays and holds end; a request near its wait timeout is checked ten times a second.
        let seconds = (now - 1_000_000_000_000) / Self.second + 1
        if idleWakes > 200 + Int(seconds) * (20 + 12 * sizes.acts) { found("\(idleWakes) unnecessary timer events") }
    }

    mutating func checkEnd() {
        if !live.isEmpty {
            found("\(live.count) requests never end, such as \(live.first.map { "\(requests[$0])" } ?? "")")
        }
        if scheduler.leases != 0 { found("\(scheduler.leases) leases at the end") }
        check(scheduler.nextMoment == nil, "a timer without requests")
        for gate in gates { check(scheduler.requests(of: gate.id) == 0, "a gate still has requests at the end") }
        let late = (hosts.map(\.silentUntil).max() ?? 0, requests.map(\.startedAt).max() ?? 0)
        if late.1 > max(late.0, settledAt) + 90 * Self.second { found("the last attempt starts only at \(late.1)") }
    }
}
