extension RequestScheduler {
    /// A gate was opened or closed: there is a path to its host that meets its requirement, or there is none.
    public mutating func set(_ gate: GateID, isOpen: Bool, at now: BootInstant) {
        guard let known = gates[Int(gate)], known.isOpen != isOpen else { return }
        gates[Int(gate)]?.isOpen = isOpen
        // What waits for its next attempt comes back soon: it is to find the window that holds it in check.
        if isOpen, !known.lists.isEmpty || (hosts[Int(known.host)]?.delayed ?? 0) > 0 {
            outage(known.host)
            endRest(known.host)
        }
        count(known.host, at: now)
        if isOpen { queue(known.host) }
    }

    /// The user pauses a request: what is not under way does not leave, and none of its clocks goes on.
    ///
    /// What is under way stays so: it is for the owner to stop reading.
    ///
    /// - Parameters:
    ///   - id: The request.
    ///   - hasLeft: Whether a request that was let go has a connection; one that still waits for it is taken back, and that
    ///     was no attempt.
    ///   - now: The moment.
    public mutating func pause(_ id: RequestID, hasLeft: Bool = true, at now: BootInstant) {
        guard let slot = slot(of: id), !entries[slot].isPaused else { return }
        entries[slot].isPaused = true
        guard entries[slot].phase == .running else { return hold(slot, at: now) }
        guard hasLeft else {
            if entries[slot].attempts > 0 { entries[slot].attempts -= 1 }
            return hold(slot, at: now)
        }
        lapse(slot)
        entries[slot].due = now
        timers.remove(Int32(slot))
    }

    /// Keeps a paused request until it is resumed.
    mutating func hold(_ slot: Int, at now: BootInstant) {
        let isDelayed = entries[slot].phase == .backingOff
        leaveLine(slot, at: now)
        leaveDelay(slot)
        returnLease(slot)
        entries[slot].delayLeft = isDelayed ? max(0, entries[slot].due.nanoseconds - now.nanoseconds) : 0
        entries[slot].phase = .held
        entries[slot].due = now
        timers.remove(Int32(slot))
        settle(host(of: slot), at: now)
    }

    /// The user resumes a request.
    public mutating func resume(_ id: RequestID, at now: BootInstant) {
        guard let slot = slot(of: id), entries[slot].isPaused else { return }
        entries[slot].deadline = deadline(slot, at: now)
        entries[slot].isPaused = false
        guard entries[slot].phase == .held else { return setTimer(slot, at: now) }
        let delay = entries[slot].delayLeft
        if delay > 0 { backOff(slot, for: .nanoseconds(delay), at: now) } else { line(up: slot, at: now) }
    }

    /// When a request must have ended if it were resumed now.
    func deadline(_ slot: Int, at now: BootInstant) -> BootInstant {
        let entry = entries[slot]
        return entry.isPaused ? entry.deadline.advanced(by: entry.due.duration(to: now)) : entry.deadline
    }

    /// When a request must have ended, as its pauses have moved it; nil if it is not known any more.
    public func deadline(of id: RequestID) -> BootInstant? { slot(of: id).map { entries[$0].deadline } }

    /// A request is wanted no more; it is forgotten.
    public mutating func cancel(_ id: RequestID, at now: BootInstant) {
        guard let slot = slot(of: id) else { return }
        vacate(slot, at: now)
    }
}
