extension RequestScheduler {
    /// One thing to do now; to be asked again after each, until there is none.
    ///
    /// - Parameters:
    ///   - now: The moment.
    ///   - generator: Where jitter comes from.
    /// - Returns: What to do, or nil.
    public mutating func next(at now: BootInstant, using generator: inout some RandomNumberGenerator) -> Action? {
        while true {
            if let action = nextDue(at: now) { return action }
            guard inFlight < window.limit, let host = ready.popFirst() else { return nil }
            hosts[Int(host)]?.isQueued = false
            if let action = grant(host, at: now, &generator) { return action }
        }
    }

    /// Gives one request of a host its turn, if that may be.
    private mutating func grant(
        _ host: HostID,
        at now: BootInstant,
        _ generator: inout some RandomNumberGenerator
    ) -> Action? {
        if hosts[Int(host)]?.owesRest == true { rest(host, at: now, &generator) }
        guard let known = hosts[Int(host)], hasLine(host), known.inFlight < known.window.limit else { return nil }
        if let silence = known.silence, silence > now { return nil }
        guard let slot = choose(known, at: now) else { return nil }
        if hosts[Int(host)]?.breaker?.allows(at: now) == false {
            queue(host)
            return fail(Int(slot), .breaker, at: now)
        }
        // Its host goes to the end of the queue, so that each host has its turn.
        queue(host)
        return release(Int(slot), at: now, &generator)
    }

    private mutating func release(
        _ slot: Int,
        at now: BootInstant,
        _ generator: inout some RandomNumberGenerator
    ) -> Action? {
        leaveLine(slot, at: now)
        let host = Int(host(of: slot))
        entries[slot].hadTurn = true
        lease(slot)
        let delay = delay(of: host, at: now, &generator)
        guard delay > .zero else { return start(slot, at: now) }
        entries[slot].phase = .slotted
        entries[slot].due = now.advanced(by: delay)
        setTimer(slot, at: now)
        return nil
    }

    /// How long a slot stays empty before it is taken; never that of the first who goes.
    private mutating func delay(
        of host: Int,
        at now: BootInstant,
        _ generator: inout some RandomNumberGenerator
    ) -> Duration {
        guard let known = hosts[host] else { return .zero }
        if known.window.isProbing { hosts[host]?.probed = now }
        return known.jitter.delay(in: known.window, using: &generator)
    }

    /// Sends a request on its way that has its turn.
    mutating func start(_ slot: Int, at now: BootInstant) -> Action {
        entries[slot].phase = .running
        entries[slot].due = now.advanced(by: lapsing(of: host(of: slot)))
        entries[slot].starts &+= 1
        if entries[slot].attempts < .max { entries[slot].attempts += 1 }
        setTimer(slot, at: now)
        return .start(id(of: slot), attempt: entries[slot].starts)
    }

    /// Who is next at a host.
    ///
    /// The most urgent, aged by its waiting; of those, whoever had a turn before, then whoever came first. While the host
    /// has to be proven, whoever can be repeated, and of the equally urgent whoever was tried least.
    private func choose(_ host: ScheduledHost, at now: BootInstant) -> Int32? {
        var best: (slot: Int32, rank: Rank)?
        for gate in host.gates {
            guard let gate = gates[Int(gate)], gate.isOpen else { continue }
            for list in 0..<WaitingLists.count {
                let first = gate.lists.first(list)
                guard first >= 0 else { continue }
                let slot = host.window.isProbing ? probe(from: first) : first
                let rank = rank(Int(slot), isProbing: host.window.isProbing, at: now)
                if let known = best, known.rank >= rank { continue }
                best = (slot, rank)
            }
        }
        return best?.slot
    }

    /// The first of a list that can prove the host, if there is one near its head; else the head.
    private func probe(from first: Int32) -> Int32 {
        var slot = first
        for _ in 0..<64 where slot >= 0 {
            if entries[Int(slot)].canProbe { return slot }
            slot = entries[Int(slot)].next
        }
        return first
    }

    private func rank(_ slot: Int, isProbing: Bool, at now: BootInstant) -> Rank {
        let entry = entries[slot]
        let age = max(0, now.nanoseconds - entry.since.nanoseconds) / 30_000_000_000
        return .init(
            proves: isProbing && entry.canProbe,
            urgency: Int64(entry.priority.rawValue) + age,
            // The same one should not spend all its attempts on a host that is not back yet.
            spent: isProbing ? entry.attempts : 0,
            hadTurn: entry.hadTurn,
            came: entry.since
        )
    }

    private struct Rank: Comparable {
        let proves: Bool
        let urgency: Int64
        let spent: UInt16
        let hadTurn: Bool
        let came: BootInstant

        static func < (left: Self, right: Self) -> Bool {
            if left.proves != right.proves { return right.proves }
            if left.urgency != right.urgency { return left.urgency < right.urgency }
            if left.spent != right.spent { return left.spent > right.spent }
            if left.hadTurn != right.hadTurn { return right.hadTurn }
            return left.came > right.came
        }
    }
}
