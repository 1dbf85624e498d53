extension RequestScheduler {
    /// The head of an answer came: its host is there.
    ///
    /// - Parameters:
    ///   - id: The request.
    ///   - attempt: The attempt's number.
    ///   - isOverload: Whether the server says that it is asked too much (429, 503).
    ///   - now: The moment.
    public mutating func answered(_ id: RequestID, attempt: UInt32, isOverload: Bool, at now: BootInstant) {
        guard let slot = slot(of: id), isUnderWay(slot, attempt) else { return }
        let host = host(of: slot)
        if entries[slot].hasLease, let known = hosts[Int(host)], known.window.isProbing {
            hosts[Int(host)]?.jitter = .init(roundTrip: known.probed.duration(to: now))
        }
        tell(slot, isOverload: isOverload)
        returnLease(slot)
        hosts[Int(host)]?.failedProbes = 0
        count(host, at: now)
        settle(host, at: now)
    }

    /// An attempt ended well; the request is forgotten.
    public mutating func finished(_ id: RequestID, at now: BootInstant) {
        guard let slot = slot(of: id) else { return }
        succeeded(at: host(of: slot), cost: max(1, Int32(entries[slot].cost)), at: now)
        vacate(slot, at: now)
    }

    /// A request that never waited was answered well: what its host's budget has lacked comes back.
    public mutating func succeeded(at host: HostID, at now: BootInstant) { succeeded(at: host, cost: 1, at: now) }

    private mutating func succeeded(at host: HostID, cost: Int32, at now: BootInstant) {
        hosts[Int(host)]?.breaker?.succeeded(at: now)
        hosts[Int(host)]?.bucket.succeeded(cost: cost)
    }

    /// What is to follow on a failed attempt by the policy, the budget and the deadline; nothing changes yet.
    public mutating func decision(
        on id: RequestID,
        _ failure: AttemptFailure,
        _ policy: RetryPolicy,
        at now: BootInstant,
        using generator: inout some RandomNumberGenerator
    ) -> RetryDecision {
        guard let slot = slot(of: id) else { return .giveUp(because: .permanent) }
        let entry = entries[slot]
        let decision = policy.decide(failure, entry.traits, attempts: Int(entry.attempts), using: &generator)
        guard case .retry(let delay, _) = decision else { return decision }
        if now.advanced(by: delay) > entry.deadline { return .giveUp(because: .deadline) }
        guard let host = hosts[Int(host(of: slot))] else { return decision }
        var bucket = host.bucket
        return bucket.take(isTimeout: failure.kind == .timeout) ? decision : .giveUp(because: .budget)
    }

    /// An attempt failed, and this follows.
    ///
    /// - Returns: Whether the request goes on; if not, it is forgotten, and has failed.
    public mutating func ended(
        _ id: RequestID,
        attempt: UInt32,
        _ failure: AttemptFailure,
        _ decision: RetryDecision,
        at now: BootInstant,
        using generator: inout some RandomNumberGenerator
    ) -> Bool {
        guard let slot = slot(of: id), isUnderWay(slot, attempt) else { return false }
        learn(slot, failure, at: now, &generator)
        switch decision {
        case .giveUp:
            vacate(slot, at: now)
            return false
        case .waitForPath:
            if entries[slot].attempts > 0 { entries[slot].attempts -= 1 }
            goOn(slot, after: .zero, at: now)
        case .retry(let delay, _):
            _ = hosts[Int(host(of: slot))]?.bucket.take(isTimeout: failure.kind == .timeout)
            entries[slot].cost = UInt8(clamping: TokenBucket.cost(isTimeout: failure.kind == .timeout))
            goOn(slot, after: delay, at: now)
        }
        return true
    }

    private func isUnderWay(_ slot: Int, _ attempt: UInt32) -> Bool {
        entries[slot].phase == .running && entries[slot].starts == attempt
    }

    private mutating func goOn(_ slot: Int, after delay: Duration, at now: BootInstant) {
        entries[slot].phase = .held
        if entries[slot].isPaused {
            hold(slot, at: now)
            entries[slot].delayLeft = delay.clampedNanoseconds
        } else if delay > .zero {
            backOff(slot, for: delay, at: now)
        } else {
            line(up: slot, at: now)
        }
    }

    mutating func backOff(_ slot: Int, for delay: Duration, at now: BootInstant) {
        entries[slot].phase = .backingOff
        hosts[Int(host(of: slot))]?.delayed += 1
        entries[slot].due = now.advanced(by: delay)
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
        if let wait = failure.retryAfter, wait > .zero { hold(host, until: now.advanced(by: wait)) }
        switch failure.kind {
        case .permanent, .pathLost: break
        case .status(let status) where status < 500 && status != 429: break
        case .status, .transient, .timeout, .refused: hosts[Int(host)]?.breaker?.failed(at: now)
        }
        let wasLeased = entries[slot].hasLease
        if wasLeased, failure.kind == .refused { tell(slot, isOverload: true) }
        returnLease(slot)
        if wasLeased, failure.kind != .pathLost, failure.kind != .permanent { rest(host, at: now, &generator) }
    }

    /// A host that did not show that it is back is left alone for a while, longer each time.
    private mutating func rest(
        _ host: HostID,
        at now: BootInstant,
        _ generator: inout some RandomNumberGenerator
    ) {
        guard let known = hosts[Int(host)], known.window.isProbing else { return }
        hosts[Int(host)]?.failedProbes = min(known.failedProbes + 1, 6)
        let half: Int64 = 50_000_000 << Int64(known.failedProbes)
        hold(host, until: now.advanced(by: .nanoseconds(half + .random(in: 0...half, using: &generator))))
    }

    /// Tells the windows how an attempt that counts for them went.
    private mutating func tell(_ slot: Int, isOverload: Bool) {
        guard entries[slot].hasLease else { return }
        let host = Int(host(of: slot))
        if isOverload {
            hosts[host]?.window.overloaded(entries[slot].hostTicket)
        } else {
            hosts[host]?.window.succeeded(entries[slot].hostTicket)
        }
        // Whatever one host says, the way is there.
        window.succeeded(entries[slot].sessionTicket)
    }
}
