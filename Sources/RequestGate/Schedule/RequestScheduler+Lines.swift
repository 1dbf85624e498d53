extension RequestScheduler {
    /// The host of a request.
    func host(of slot: Int) -> Int32 { gates[Int(entries[slot].gate)]?.host ?? -1 }

    /// Puts a request into the line of its gate.
    mutating func line(up slot: Int, at now: BootInstant) {
        let gate = Int(entries[slot].gate)
        let closed = gates[gate]?.closedTime(at: now) ?? 0
        entries[slot].phase = .lined
        entries[slot].waited = closed - entries[slot].waited
        gates[gate]?.lists.append(Int32(slot), &entries)
        setTimer(slot, at: now)
        queue(host(of: slot))
    }

    /// Takes a request out of its gate's line, if it stands in it.
    mutating func leaveLine(_ slot: Int, at now: BootInstant) {
        guard entries[slot].phase == .lined else { return }
        let gate = Int(entries[slot].gate)
        gates[gate]?.lists.remove(Int32(slot), &entries)
        entries[slot].waited = (gates[gate]?.closedTime(at: now) ?? 0) - entries[slot].waited
        entries[slot].phase = .held
    }

    /// For how long a request has waited for a path, in nanoseconds.
    func waited(_ slot: Int, at now: BootInstant) -> Int64 {
        let entry = entries[slot]
        guard entry.phase == .lined else { return entry.waited }
        return (gates[Int(entry.gate)]?.closedTime(at: now) ?? 0) - entry.waited
    }

    /// Sets the moment at which something is due for a request, by its phase.
    mutating func setTimer(_ slot: Int, at now: BootInstant) {
        let entry = entries[slot]
        var moment = entry.deadline
        switch entry.phase {
        case .vacant: break
        case .running where entry.isPaused: moment = .never
        case .running: if takesPlace(slot) { moment = min(moment, entry.due) }
        case .held: moment = .never
        case .slotted, .backingOff: moment = min(moment, entry.due)
        case .lined where entry.waitLimit != .max: moment = min(moment, patienceEnd(slot, at: now))
        case .lined: break
        }
        if moment == .never { timers.remove(Int32(slot)) } else { timers.set(Int32(slot), at: moment) }
    }

    /// When the patience of a request in line may be at its end.
    private func patienceEnd(_ slot: Int, at now: BootInstant) -> BootInstant {
        let left = max(0, entries[slot].waitLimit - waited(slot, at: now))
        let isCounting = gates[Int(entries[slot].gate)]?.isCounting == true
        // While its wait does not count, its end does not come nearer: to look again soon would be to look all the time.
        return now.advanced(by: .nanoseconds(isCounting ? left : max(left, Self.glance)))
    }

    private static let glance: Int64 = 100_000_000

    /// Puts a host into the queue of those that may have something to release.
    mutating func queue(_ host: HostID) {
        guard hosts[Int(host)]?.isQueued == false else { return }
        hosts[Int(host)]?.isQueued = true
        ready.append(host)
    }

    /// Whether somebody stands in an open gate's line of a host.
    func hasLine(_ host: HostID) -> Bool {
        hosts[Int(host)]?.gates.contains { gate in
            guard let gate = gates[Int(gate)] else { return false }
            return gate.isOpen && !gate.lists.isEmpty
        } ?? false
    }

    /// A request's delay is over, or wanted no more.
    mutating func leaveDelay(_ slot: Int) {
        guard entries[slot].phase == .backingOff else { return }
        hosts[Int(host(of: slot))]?.delayed -= 1
        entries[slot].phase = .held
    }

    /// Lets waiting at a host's gates count as waiting for a path, or not, as it is now.
    mutating func count(_ host: HostID, at now: BootInstant) {
        guard let known = hosts[Int(host)] else { return }
        for gate in known.gates {
            let isOpen = gates[Int(gate)]?.isOpen ?? true
            gates[Int(gate)]?.count(!isOpen || known.window.isProbing, at: now)
        }
    }
}
