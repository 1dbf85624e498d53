extension RequestScheduler {
    /// What is due by now, one thing at a time.
    mutating func nextDue(at now: BootInstant) -> Action? {
        while true {
            if let host = holds.popFirst(dueAt: now) {
                hosts[Int(host)]?.hold = nil
                hosts[Int(host)]?.rest = nil
                queue(host)
                continue
            }
            guard let slot = timers.popFirst(dueAt: now) else { return nil }
            if let action = due(Int(slot), at: now) { return action }
        }
    }

    private mutating func due(_ slot: Int, at now: BootInstant) -> Action? {
        let entry = entries[slot]
        guard entry.deadline > now else { return fail(slot, .deadline, at: now) }
        switch entry.phase {
        case .vacant, .held: break
        case .running:
            lapse(slot)
            setTimer(slot, at: now)
        case .backingOff:
            leaveDelay(slot)
            line(up: slot, at: now)
        case .slotted: return leave(slot, at: now)
        case .lined:
            let waited = waited(slot, at: now)
            if waited >= entry.waitLimit, gates[Int(entry.gate)]?.isCounting == true {
                return fail(slot, .noPath(waited: .nanoseconds(waited)), at: now)
            }
            setTimer(slot, at: now)
        }
        return nil
    }

    /// A request's random moment has come: it leaves, unless its path was away meanwhile, or its host is to be left alone.
    private mutating func leave(_ slot: Int, at now: BootInstant) -> Action? {
        let isHeld = hosts[Int(host(of: slot))]?.silence.map { $0 > now } ?? false
        if takesPlace(slot), !isHeld, gates[Int(entries[slot].gate)]?.isOpen == true { return start(slot, at: now) }
        returnLease(slot)
        line(up: slot, at: now)
        return nil
    }

    /// Lets a request fail: it is forgotten.
    mutating func fail(_ slot: Int, _ failure: Failure, at now: BootInstant) -> Action {
        let id = id(of: slot)
        vacate(slot, at: now)
        return .fail(id, failure)
    }

    /// Lets nothing of a host leave before a moment.
    mutating func hold(_ host: HostID, until moment: BootInstant) {
        guard let known = hosts[Int(host)], known.hold.map({ moment > $0 }) ?? true else { return }
        hosts[Int(host)]?.hold = moment
        setSilence(host)
    }

    /// A host that did not show that it is back is left alone for a while, longer each time.
    mutating func rest(_ host: HostID, at now: BootInstant, _ generator: inout some RandomNumberGenerator) {
        hosts[Int(host)]?.owesRest = false
        guard let known = hosts[Int(host)], known.window.isProbing else { return }
        hosts[Int(host)]?.failedProbes = min(known.failedProbes + 1, 6)
        let half: Int64 = 50_000_000 << Int64(known.failedProbes)
        hosts[Int(host)]?.rest = now.advanced(by: .nanoseconds(half + .random(in: 0...half, using: &generator)))
        setSilence(host)
    }

    /// A host may be tried at once, but for what its server asked for.
    mutating func endRest(_ host: HostID) {
        hosts[Int(host)]?.owesRest = false
        hosts[Int(host)]?.failedProbes = 0
        hosts[Int(host)]?.rest = nil
        setSilence(host)
    }

    private mutating func setSilence(_ host: HostID) {
        let silence = hosts[Int(host)]?.silence ?? .never
        if silence == .never { holds.remove(host) } else { holds.set(host, at: silence) }
    }
}
