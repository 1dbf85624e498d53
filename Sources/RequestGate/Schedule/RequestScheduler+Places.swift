extension RequestScheduler {
    /// Adds a host, without a request and in no trouble.
    public mutating func addHost() -> HostID {
        var host = ScheduledHost()
        host.breaker = breaker.map { CircuitBreaker($0) }
        return Self.place(host, in: &hosts, &vacantHosts)
    }

    /// Whether a host can be forgotten: no request of it is known, and nothing is held against it.
    public func isForgettable(_ host: HostID) -> Bool { hosts[Int(host)]?.isForgettable ?? true }

    /// Forgets a host that can be forgotten; its number is used again.
    public mutating func forget(_ host: HostID) {
        guard hosts[Int(host)]?.isForgettable == true else { return }
        remove(host)
    }

    /// Forgets a host although its budget lacks something; not one with requests, nor one that is to be left alone.
    ///
    /// - Returns: Whether it is forgotten; its number is used again then.
    public mutating func forgive(_ host: HostID, at now: BootInstant) -> Bool {
        guard hosts[Int(host)]?.isForgivable(at: now) == true else { return false }
        remove(host)
        return true
    }

    private mutating func remove(_ host: HostID) {
        holds.remove(host)
        hosts[Int(host)] = nil
        vacantHosts.append(host)
    }

    /// Adds a gate of a host.
    public mutating func addGate(of host: HostID, isOpen: Bool, at now: BootInstant) -> GateID {
        let gate = Self.place(ScheduledGate(host: host, isOpen: isOpen, at: now), in: &gates, &vacantGates)
        hosts[Int(host)]?.gates.append(gate)
        count(host, at: now)
        return gate
    }

    /// How many requests a gate has, wherever they are.
    public func requests(of gate: GateID) -> Int { gates[Int(gate)]?.requests ?? 0 }

    /// Forgets a gate without requests; its number is used again.
    public mutating func forget(gate: GateID) {
        guard let known = gates[Int(gate)], known.requests == 0 else { return }
        hosts[Int(known.host)]?.gates.removeAll { $0 == gate }
        gates[Int(gate)] = nil
        vacantGates.append(gate)
    }

    /// A request that was not under way is to go: it waits in the line of its gate.
    public mutating func submit(_ order: Order, at now: BootInstant) -> RequestID {
        let slot = place(order, at: now)
        line(up: slot, at: now)
        return id(of: slot)
    }

    /// A request that went its way without the scheduler is under way: it failed, and is to be decided on.
    ///
    /// - Returns: Its number; that of its attempt is 1.
    public mutating func adopt(_ order: Order, at now: BootInstant) -> RequestID {
        let slot = place(order, at: now)
        entries[slot].phase = .running
        entries[slot].hadTurn = true
        entries[slot].starts = 1
        entries[slot].attempts = 1
        setTimer(slot, at: now)
        return id(of: slot)
    }

    private mutating func place(_ order: Order, at now: BootInstant) -> Int {
        let slot = Int(vacant.popLast() ?? Int32(entries.count))
        if slot == entries.count { entries.appendSparingly(.init(generation: firstGeneration)) }
        var entry = WaitingEntry()
        entry.generation = entries[slot].generation &+ 1
        entry.phase = .held
        entry.deadline = order.deadline
        entry.since = now
        entry.waitLimit = order.patience.map { max(0, $0.clampedNanoseconds) } ?? .max
        entry.gate = order.gate
        entry.priority = order.priority
        entry.isIdempotent = order.traits.isIdempotent
        entry.isReplayable = order.traits.isReplayable
        entries[slot] = entry
        gates[Int(order.gate)]?.requests += 1
        return slot
    }

    /// Gives a request's place back.
    mutating func vacate(_ slot: Int, at now: BootInstant) {
        leaveLine(slot, at: now)
        leaveDelay(slot)
        returnLease(slot)
        timers.remove(Int32(slot))
        let gate = Int(entries[slot].gate)
        gates[gate]?.requests -= 1
        entries[slot].phase = .vacant
        vacant.appendSparingly(Int32(slot))
        if let host = gates[gate]?.host { settle(host, at: now) }
        if vacant.count == entries.count, entries.count > Self.kept { giveMemoryBack() }
    }

    /// How many places are kept though nobody stands there.
    private static let kept = 1024

    /// Nobody is left of many: their places go, and generations go on from the highest, so that no number comes again.
    private mutating func giveMemoryBack() {
        firstGeneration = entries.lazy.map(\.generation).max() ?? firstGeneration
        entries = []
        vacant = []
        timers = .init()
    }

    /// A free place of a list, or one more.
    private static func place<Element>(
        _ element: Element,
        in list: inout [Element?],
        _ vacant: inout [Int32]
    ) -> Int32 {
        if let free = vacant.popLast() {
            list[Int(free)] = element
            return free
        }
        list.append(element)
        return Int32(list.count - 1)
    }
}
