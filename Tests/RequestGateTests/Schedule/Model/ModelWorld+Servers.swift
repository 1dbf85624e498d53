import NetworkClientCore
import NetworkLab
import RequestGate

/// The behaviour of servers and of the network.
extension ModelWorld {
    /// Plans the results of an attempt.
    mutating func serve(_ number: Int) {
        serial += 1
        requests[number].serial = serial
        requests[number].startedAt = now
        requests[number].isOutOfWindow = false
        let trip = Int64.random(in: 1...100, using: &random)
        let later = trip + Int64.random(in: 0...100, using: &random)
        let retryAfter: Duration? =
            chance(1, in: 2, &random) ? .milliseconds(Int64.random(in: 1...8000, using: &random)) : nil
        var server = hosts[requests[number].host].server
        while server == .moody { server = sizes.servers.randomElement(using: &random) ?? .healthy }
        switch server {
        case .healthy, .moody: planEvents(number, head: trip, (later, .finished))
        case .slow: planEvents(number, head: trip * 300, (trip * 300 + later, .finished))
        case .refusing: planEvents(number, (trip % 20, .failed(.init(.refused, .neverSent))))
        case .overloaded:
            planEvents(number, overload: trip, (later, .failed(.init(.status(503), .answered))))
        case .throttling:
            let failure = AttemptFailure(.status(429), .answered, retryAfter: retryAfter)
            planEvents(number, overload: trip, retryAfter: retryAfter, (later, .failed(failure)))
        case .silent:
            let processing: Processing = chance(1, in: 2, &random) ? .neverSent : .maybeProcessed
            planEvents(number, (trip * 100, .failed(.init(.timeout, processing))))
        case .resetting: planEvents(number, (trip, .failed(.init(.transient, .maybeProcessed))))
        case .truncating: planEvents(number, head: trip, (later, .failed(.init(.transient, .answered))))
        case .failing: planEvents(number, head: trip, (later, .failed(.init(.status(500), .answered))))
        case .unknowing: planEvents(number, head: trip, (later, .failed(.init(.status(404), .answered))))
        case .untrusted: planEvents(number, (trip, .failed(.init(.permanent, .neverSent))))
        case .lying: planEvents(number, (0, .failed(.init(.pathLost, .neverSent))))
        }
    }

    private mutating func planEvents(
        _ number: Int,
        head: Int64? = nil,
        overload: Int64? = nil,
        retryAfter: Duration? = nil,
        _ last: (Int64, AttemptEvent)
    ) {
        let attempt = requests[number].attempt
        if let at = head ?? overload {
            let head = AttemptEvent.head(isOverload: overload != nil, retryAfter: retryAfter)
            plan(.attempt(number, attempt, head), after: at * Self.millisecond)
        }
        plan(.attempt(number, attempt, last.1), after: last.0 * Self.millisecond)
    }

    /// Reports the loss of the path for most of the running requests of a gate that closed.
    mutating func losePaths(_ gate: Int) {
        for number in live where requests[number].gate == gate && requests[number].phase == .running {
            guard chance(2, in: 3, &random) else { continue }
            let processing = [Processing.neverSent, .maybeProcessed].randomElement(using: &random) ?? .neverSent
            let failure = AttemptFailure(.pathLost, requests[number].isOutOfWindow ? .answered : processing)
            let delay = Int64.random(in: 0...200, using: &random) * Self.millisecond
            plan(.attempt(number, requests[number].attempt, .failed(failure)), after: delay)
        }
    }

    /// Handles an event of an attempt.
    mutating func hear(_ number: Int, _ attempt: UInt32, _ event: AttemptEvent) {
        let request = requests[number]
        guard !request.isEnded, request.phase == .running, request.attempt == attempt else {
            if let id = request.id, chance(1, in: 3, &random) { sendStale(id, attempt, event) }
            return
        }
        if request.isPaused, chance(1, in: 2, &random) {
            return plan(.attempt(number, attempt, event), after: Self.second)
        }
        switch event {
        case .head(let isOverload, let retryAfter): head(number, isOverload, retryAfter)
        case .finished: finish(number)
        case .failed(let failure): fail(number, failure)
        }
    }

    private mutating func head(_ number: Int, _ isOverload: Bool, _ retryAfter: Duration?) {
        let request = requests[number]
        if isOverload { recordFailedProbe(number) }
        requests[number].isOutOfWindow = true
        guard let id = request.id else { return }
        let attempt = request.attempt
        scheduler.receivedHead(id, attempt: attempt, isOverload: isOverload, retryAfter: retryAfter, at: moment)
        silence(request.host, retryAfter)
        responses += 1
        guard !isOverload else { return }
        hosts[request.host].responses += 1
        hosts[request.host].lostPathStarts = []
    }

    private mutating func silence(_ host: Int, _ retryAfter: Duration?) {
        guard let retryAfter else { return }
        tally.silences += 1
        hosts[host].silentUntil = max(hosts[host].silentUntil, now + retryAfter.clampedNanoseconds)
    }

    private mutating func finish(_ number: Int) {
        let request = requests[number]
        hosts[request.host].refunded += max(1, request.cost)
        if let id = request.id {
            scheduler.finished(id, at: moment)
            check(!scheduler.isCurrent(id), "a finished request is still registered")
        } else {
            scheduler.succeeded(at: hosts[request.host].id, at: moment)
        }
        tally.finished += 1
        end(number)
    }

    private mutating func fail(_ number: Int, _ failure: AttemptFailure) {
        var failure = failure
        let request = requests[number]
        if failure.processing != .neverSent { requests[number].wasRead = true }
        if request.mayBeProcessed, failure.processing == .neverSent { failure.processing = .maybeProcessed }
        if failure.isOfUnknownEffect { requests[number].mayBeProcessed = true }
        silence(request.host, failure.retryAfter)
        if [.transient, .timeout, .refused].contains(failure.kind) { recordFailedProbe(number) }
        // A server that refuses a connection shows that the route works.
        if failure.kind == .refused { responses += 1 }
        let id = request.id ?? adopt(number)
        check(scheduler.attempts(of: id) == request.counted + 1, "a wrong number of attempts")
        let decision = scheduler.decision(on: id, failure, request.policy, at: moment, using: &jitter)
        let goesOn = scheduler.ended(
            id,
            attempt: request.attempt,
            failure,
            decision,
            at: moment,
            using: &jitter
        )
        follow(number, failure, decision, goesOn)
    }

    private mutating func adopt(_ number: Int) -> RequestScheduler.RequestID {
        tally.adopted += 1
        let id = scheduler.adopt(order(number), at: moment)
        enter(number, id)
        return id
    }

    private mutating func follow(
        _ number: Int,
        _ failure: AttemptFailure,
        _ decision: RetryDecision,
        _ goesOn: Bool
    ) {
        switch decision {
        case .giveUp:
            check(!goesOn, "a rejected request continues")
            tally.gaveUp += 1
            return end(number)
        case .waitForPath:
            tally.waits += 1
            requests[number].wasToldPathLost = gates[requests[number].gate].isOpen
            // The host may have to be probed again, and running requests then don't count as in flight.
            if requests[number].wasToldPathLost { hosts[requests[number].host].outage = nil }
            requests[number].phase = .waiting
            enterLine(number)
        case .retry(let delay, _):
            tally.retries += 1
            requests[number].counted += 1
            let wait = delay.clampedNanoseconds
            // An attempt that a window released and that was rejected costs nothing: it is queued again immediately.
            let isShed = wait == 0 && failure.isOverload
            requests[number].cost = isShed ? 0 : failure.kind == .timeout ? 10 : 5
            pay(number)
            requests[number].phase = .delayed(until: (requests[number].pausedAt ?? now) + wait)
            if !requests[number].isPaused { plan(.delayOver(number), after: wait) }
        }
        check(goesOn, "a request that should continue was removed")
    }
}

extension AttemptFailure {
    /// Whether the server was overloaded.
    fileprivate var isOverload: Bool { [.refused, .status(429), .status(503)].contains(kind) }

    /// Whether a server may have processed the request, and has not denied it.
    fileprivate var isOfUnknownEffect: Bool {
        if kind == .status(429) { return processing == .maybeProcessed }
        return processing == .maybeProcessed || processing == .answered
    }
}
