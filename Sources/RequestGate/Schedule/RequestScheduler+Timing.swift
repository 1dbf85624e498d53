extension RequestScheduler {
    /// What is due by now, one thing at a time.
    mutating func nextDue(at now: BootInstant) -> Action? {
        while true {
            if let (slot, failure) = failures.popLast() {
                let id = id(of: Int(slot))
                vacate(Int(slot), at: now)
                return .fail(id, failure)
            }
            if let (host, moment) = holds.first, moment <= now {
                holds.remove(host)
                hosts[Int(host)]?.hold = nil
                queue(host)
                continue
            }
            guard let (slot, moment) = timers.first, moment <= now else { return nil }
            timers.remove(slot)
            if let action = due(Int(slot), at: now) { return action }
        }
    }

    private mutating func due(_ slot: Int, at now: BootInstant) -> Action? {
        let entry = entries[slot]
        guard entry.deadline > now else {
            fail(slot, .deadline)
            return nil
        }
        switch entry.phase {
        case .vacant, .held, .running: break
        case .backingOff:
            leaveDelay(slot)
            line(up: slot, at: now)
        case .slotted: return leave(slot, at: now)
        case .lined:
            let waited = waited(slot, at: now)
            if waited >= entry.waitLimit {
                fail(slot, .noPath(waited: .nanoseconds(waited)))
            } else {
                setTimer(slot, at: now)
            }
        }
        return nil
    }

    /// A request's random moment has come: it leaves, unless its path has gone meanwhile.
    private mutating func leave(_ slot: Int, at now: BootInstant) -> Action? {
        if gates[Int(entries[slot].gate)]?.isOpen == true { return start(slot, at: now) }
        returnLease(slot)
        line(up: slot, at: now)
        return nil
    }

    /// Lets a request fail with the next action.
    mutating func fail(_ slot: Int, _ failure: Failure) { failures.append((Int32(slot), failure)) }

    /// Lets nothing of a host leave before a moment.
    mutating func hold(_ host: HostID, until moment: BootInstant) {
        guard let known = hosts[Int(host)], moment > known.hold ?? .init(nanoseconds: .min) else { return }
        hosts[Int(host)]?.hold = moment
        holds.set(host, at: moment)
    }
}
