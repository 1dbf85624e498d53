extension RequestScheduler {
    /// The head of an answer came: its host is there.
    ///
    /// - Parameters:
    ///   - id: The request.
    ///   - attempt: The attempt's number.
    ///   - isOverload: Whether the server says that it is asked too much (429, 503).
    ///   - retryAfter: How long the server wants to be left alone, so that nothing leaves while the rest of its answer comes.
    ///   - now: The moment.
    public mutating func answered(
        _ id: RequestID,
        attempt: UInt32,
        isOverload: Bool,
        retryAfter: Duration? = nil,
        at now: BootInstant
    ) {
        guard let slot = slot(of: id), isUnderWay(slot, attempt) else { return }
        let host = host(of: slot)
        if let retryAfter, retryAfter > .zero { hold(host, until: now.advanced(by: retryAfter)) }
        tell(slot, isOverload: isOverload, at: now)
        // Who says that it is asked too much is there, and not back: to ask on at once would be to ask without end.
        if !isOverload { hosts[Int(host)]?.failedProbes = 0 }
        if isOverload, entries[slot].hasLease { hosts[Int(host)]?.owesRest = true }
        returnLease(slot)
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
        var decision = policy.decide(failure, entry.traits, attempts: Int(entry.attempts), using: &generator)
        if isShed(slot, failure), case .retry(_, let reason) = decision {
            decision = .retry(in: .zero, because: reason)
        }
        return checked(decision, on: id, failure, at: now)
    }

    /// A decision, unless the deadline, the breaker or the budget forbid it.
    public func checked(
        _ decision: RetryDecision,
        on id: RequestID,
        _ failure: AttemptFailure,
        at now: BootInstant
    ) -> RetryDecision {
        guard case .retry(let delay, _) = decision, let slot = slot(of: id),
            let host = hosts[Int(host(of: slot))]
        else { return decision }
        let earliest = now.advanced(by: delay)
        if max(earliest, host.hold ?? earliest) >= deadline(slot, at: now) { return .giveUp(because: .deadline) }
        if host.breaker?.opens(at: earliest) != nil { return .giveUp(because: .breaker) }
        if isShed(slot, failure) { return decision }
        var bucket = host.bucket
        return bucket.take(isTimeout: failure.kind == .timeout) ? decision : .giveUp(because: .budget)
    }

    /// An attempt failed, and this follows.
    ///
    /// - Returns: Whether the request goes on; if not, it is forgotten, and has failed. News of another attempt than the
    ///   present one change nothing, and do not go on either.
    public mutating func ended(
        _ id: RequestID,
        attempt: UInt32,
        _ failure: AttemptFailure,
        _ decision: RetryDecision,
        at now: BootInstant,
        using generator: inout some RandomNumberGenerator
    ) -> Bool {
        guard let slot = slot(of: id), isUnderWay(slot, attempt) else { return false }
        let isShed = isShed(slot, failure)
        learn(slot, failure, at: now, &generator)
        switch decision {
        case .giveUp:
            vacate(slot, at: now)
            return false
        case .waitForPath:
            if entries[slot].attempts > 0 { entries[slot].attempts -= 1 }
            doubt(slot, at: now, &generator)
            goOn(slot, after: .zero, at: now)
        case .retry(let delay, _):
            let isTimeout = failure.kind == .timeout
            let isPaid = !isShed && hosts[Int(host(of: slot))]?.bucket.take(isTimeout: isTimeout) == true
            entries[slot].cost = isPaid ? UInt8(clamping: TokenBucket.cost(isTimeout: isTimeout)) : 0
            goOn(slot, after: delay, at: now)
        }
        return true
    }

    /// A path is said to be lost whose gate is open: its host is proven anew, or who waits for a path would go at once.
    private mutating func doubt(_ slot: Int, at now: BootInstant, _ generator: inout some RandomNumberGenerator) {
        let host = host(of: slot)
        guard gates[Int(entries[slot].gate)]?.isOpen == true, let known = hosts[Int(host)] else { return }
        if !known.window.isProbing { outage(host) }
        if known.rest == nil { rest(host, at: now, &generator) }
        count(host, at: now)
    }

    /// How many attempts of a request count against its limit so far; 0 if it is not known any more.
    public func attempts(of id: RequestID) -> Int { slot(of: id).map { Int(entries[$0].attempts) } ?? 0 }

    /// Whether an attempt that a window let out was refused since there were too many, and goes back into its line.
    ///
    /// The window has taken the load away: backing off, and paying for it, would do the same a second time.
    private func isShed(_ slot: Int, _ failure: AttemptFailure) -> Bool {
        guard entries[slot].wasLetOut, failure.retryAfter ?? .zero <= .zero,
            let window = hosts[Int(host(of: slot))]?.window, window.isInEffect, !window.isProbing
        else { return false }
        return switch failure.kind {
        case .refused, .status(429), .status(503): true
        case .status, .transient, .timeout, .pathLost, .permanent: false
        }
    }

    private func isUnderWay(_ slot: Int, _ attempt: UInt32) -> Bool {
        entries[slot].phase == .running && entries[slot].starts == attempt
    }

    private mutating func goOn(_ slot: Int, after delay: Duration, at now: BootInstant) {
        entries[slot].deadline = deadline(slot, at: now)
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
        case .status(let status) where status < 500 && status != 429: hosts[Int(host)]?.breaker?.succeeded(at: now)
        case .status, .transient, .timeout, .refused: hosts[Int(host)]?.breaker?.failed(at: now)
        }
        let wasLeased = entries[slot].hasLease
        if wasLeased, failure.kind == .refused { tell(slot, isOverload: true, at: now) }
        returnLease(slot)
        count(host, at: now)
        if wasLeased, failure.kind != .pathLost, failure.kind != .permanent { rest(host, at: now, &generator) }
    }
}
