extension RequestScheduler {
    /// The way to a host was away: one goes to prove it, and what left before takes no place any more.
    mutating func outage(_ host: HostID) {
        guard var known = hosts[Int(host)] else { return }
        if !known.window.isInEffect { windowsInEffect += 1 }
        inFlight -= known.inFlight
        known.inFlight = 0
        known.leasesFrom = known.window.started() &+ 1
        known.window.outage()
        hosts[Int(host)] = known
        if !window.isInEffect { window.outage(first: Self.firstSessionLimit) }
    }

    /// With how many in flight a session begins after an outage, of all hosts: their first proofs do not wait for each other.
    private static let firstSessionLimit = 32

    /// Lets the windows go out of effect once nobody waits any more for what they let out.
    mutating func settle(_ host: HostID, at now: BootInstant) {
        guard let known = hosts[Int(host)], known.window.isInEffect, known.inFlight == 0, known.delayed == 0,
            known.gates.allSatisfy({ gates[Int($0)]?.lists.isEmpty ?? true })
        else { return }
        hosts[Int(host)]?.window.settle()
        hosts[Int(host)]?.jitter = .init()
        endRest(host)
        count(host, at: now)
        windowsInEffect -= 1
        if windowsInEffect == 0 { window.settle() }
    }

    /// Whether a request takes a place in the windows.
    func takesPlace(_ slot: Int) -> Bool {
        let entry = entries[slot]
        guard entry.hasLease, !entry.hasLapsed, let host = hosts[Int(host(of: slot))] else { return false }
        return Int32(bitPattern: entry.hostTicket &- host.leasesFrom) >= 0
    }

    /// Gives a request a place in the windows.
    mutating func lease(_ slot: Int) {
        let host = Int(host(of: slot))
        entries[slot].hasLease = true
        entries[slot].hasLapsed = false
        entries[slot].wasLetOut = hosts[host]?.window.isInEffect == true
        entries[slot].hostTicket = hosts[host]?.window.started() ?? 0
        entries[slot].sessionTicket = window.started()
        hosts[host]?.inFlight += 1
        inFlight += 1
    }

    /// Takes a request's place in the windows away; its word counts still, whenever it comes.
    mutating func lapse(_ slot: Int) {
        guard takesPlace(slot) else { return }
        let host = host(of: slot)
        entries[slot].hasLapsed = true
        inFlight -= 1
        hosts[Int(host)]?.inFlight -= 1
        queue(host)
    }

    /// Gives back what a request holds of the windows; what it told them counts no more.
    mutating func returnLease(_ slot: Int) {
        guard entries[slot].hasLease else { return }
        lapse(slot)
        entries[slot].hasLease = false
        queue(host(of: slot))
    }

    /// For how long a request that was just released takes its place, if it is not answered.
    ///
    /// A server may let a request wait on purpose (long polling), or a firewall swallow it: neither may keep those that
    /// wait behind it for as long as that lasts.
    func lapsing(of host: HostID) -> Duration {
        hosts[Int(host)]?.window.isProbing == true ? .seconds(2) : .seconds(10)
    }

    /// Tells the windows how an attempt that counts for them went.
    mutating func tell(_ slot: Int, isOverload: Bool, at now: BootInstant) {
        guard entries[slot].hasLease else { return }
        let host = Int(host(of: slot))
        let wasProbing = hosts[host]?.window.isProbing == true
        if isOverload {
            hosts[host]?.window.overloaded(entries[slot].hostTicket)
        } else {
            hosts[host]?.window.succeeded(entries[slot].hostTicket)
        }
        // Whatever one host says, the way is there.
        window.succeeded(entries[slot].sessionTicket)
        if wasProbing, let known = hosts[host], !known.window.isProbing {
            hosts[host]?.jitter = .init(roundTrip: known.probed.duration(to: now))
        }
    }
}
