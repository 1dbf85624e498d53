/// The hosts and gates of a scheduler, with the release windows that limit the requests in flight.
///
/// Each host has a ``ReleaseWindow``, and the session has one for all hosts. A released request holds a lease of both
/// until its response head arrives.
struct HostBoard: Sendable {
    private var hosts = NumberedList<ScheduledHost>()
    /// The gates of the hosts.
    var gates = GateQueues()
    /// The instants at which the holds on hosts end.
    private var holds = TimerHeap()
    private var ready = ReadyQueue()
    /// The session's window.
    private var window = ReleaseWindow()
    /// The number of leases of all hosts.
    private(set) var inFlight = 0
    /// The number of hosts whose window is in effect.
    private var windowsInEffect = 0
    private let breaker: CircuitBreakerPolicy?

    init(breaker: CircuitBreakerPolicy?) { self.breaker = breaker }

    /// The host with a number; nil if there is none.
    subscript(host: Int32) -> ScheduledHost? {
        get { hosts[host] }
        _modify { yield &hosts[host] }
    }

    /// Returns the host of a request; -1 if its gate is unknown.
    func host(of entry: WaitingEntry) -> Int32 { gates[entry.gate]?.host ?? -1 }

    // MARK: Hosts and gates

    /// Adds a host without requests or recorded failures.
    mutating func addHost() -> Int32 {
        var host = ScheduledHost()
        host.breaker = breaker.map { CircuitBreaker($0) }
        return hosts.add(host)
    }

    /// Removes a host.
    ///
    /// Its number is reused.
    mutating func remove(_ host: Int32) {
        holds.remove(host)
        hosts.remove(host)
    }

    /// Adds a gate to a host.
    mutating func addGate(of host: Int32, isOpen: Bool, at now: BootInstant) -> Int32 {
        let gate = gates.add(ScheduledGate(host: host, isOpen: isOpen, at: now))
        hosts[host]?.gates.append(gate)
        count(host, at: now)
        return gate
    }

    /// Removes a gate without requests.
    ///
    /// Its number is reused.
    mutating func remove(gate: Int32) {
        guard let known = gates[gate], known.requests == 0 else { return }
        hosts[known.host]?.gates.removeAll { $0 == gate }
        gates.remove(gate)
    }

    /// Opens or closes a gate.
    mutating func set(_ gate: Int32, isOpen: Bool, at now: BootInstant) {
        guard let known = gates[gate], known.isOpen != isOpen else { return }
        gates[gate]?.isOpen = isOpen
        // Requests that back off return soon, and must then find a window that limits them.
        if isOpen, !known.lists.isEmpty || (hosts[known.host]?.delayed ?? 0) > 0 {
            outage(known.host)
            endProbeDelay(known.host)
        }
        count(known.host, at: now)
        if isOpen { queue(known.host) }
    }

    /// Updates whether waiting at a host's gates counts as waiting for a path.
    mutating func count(_ host: Int32, at now: BootInstant) {
        guard let known = hosts[host] else { return }
        for gate in known.gates {
            let isOpen = gates[gate]?.isOpen ?? true
            gates[gate]?.count(!isOpen || known.window.isProbing, at: now)
        }
    }

    // MARK: Queues

    /// Appends a request to its gate's queue.
    mutating func enqueue(_ slot: Int, in requests: inout WaitingRequests, at now: BootInstant) {
        gates.enqueue(slot, in: &requests, at: now)
        queue(host(of: requests[slot]))
    }

    /// Queues a host to be checked for requests that can be released.
    mutating func queue(_ host: Int32) {
        guard hosts[host]?.isQueued == false else { return }
        hosts[host]?.isQueued = true
        ready.append(host)
    }

    /// Removes and returns the next host to check; nil if there is none, or if the session's window is full.
    mutating func popReady() -> Int32? {
        guard inFlight < window.limit, let host = ready.popFirst() else { return nil }
        hosts[host]?.isQueued = false
        return host
    }

    // MARK: Windows

    /// Records an outage of the route to a host: one request probes it, and earlier requests hold no lease any more.
    mutating func outage(_ host: Int32) {
        guard var known = hosts[host] else { return }
        if !known.window.isInEffect { windowsInEffect += 1 }
        inFlight -= known.inFlight
        known.inFlight = 0
        known.leasesFrom = known.window.started() &+ 1
        known.window.outage()
        hosts[host] = known
        if !window.isInEffect { window.outage(first: Self.firstSessionLimit) }
    }

    /// The session's window after an outage, for all hosts: the probes of different hosts don't wait for each other.
    private static let firstSessionLimit = 32

    /// Ends the effect of the windows once no request waits, is in flight or backs off.
    mutating func settle(_ host: Int32, at now: BootInstant) {
        guard let known = hosts[host], known.window.isInEffect, known.inFlight == 0, known.delayed == 0,
            gates.areEmpty(known.gates)
        else { return }
        hosts[host]?.window.settle()
        hosts[host]?.jitter = .init()
        endProbeDelay(host)
        count(host, at: now)
        windowsInEffect -= 1
        if windowsInEffect == 0 { window.settle() }
    }

    /// Records a lost path although the gate is open: the host is probed again, since a request that waits for a path
    /// would otherwise be sent immediately.
    mutating func pathLost(at gate: Int32, at now: BootInstant, _ generator: inout some RandomNumberGenerator) {
        guard let known = gates[gate], known.isOpen, let host = hosts[known.host] else { return }
        if !host.window.isProbing { outage(known.host) }
        if host.probeHold == nil { delayProbe(known.host, at: now, &generator) }
        count(known.host, at: now)
    }

    /// Returns whether an attempt that a window released was rejected because of overload, and is queued again.
    ///
    /// The window has already reduced the load: a backoff, and its cost, would do so a second time.
    func isShed(_ entry: WaitingEntry, _ failure: AttemptFailure) -> Bool {
        guard entry.wasReleasedByWindow, failure.retryAfter ?? .zero <= .zero,
            let window = hosts[host(of: entry)]?.window,
            window.isInEffect, !window.isProbing
        else { return false }
        return switch failure.kind {
        case .refused, .status(429), .status(503): true
        case .status, .transient, .timeout, .pathLost, .permanent: false
        }
    }

    // MARK: Leases

    /// Returns whether a request counts as in flight for the windows.
    func takesPlace(_ entry: WaitingEntry) -> Bool {
        guard entry.hasLease, !entry.hasLapsed, let host = hosts[host(of: entry)] else { return false }
        return Int32(bitPattern: entry.hostTicket &- host.leasesFrom) >= 0
    }

    /// Gives a request a lease of the windows.
    ///
    /// - Returns: The delay before the request is sent; zero for a probe.
    mutating func lease(
        _ entry: inout WaitingEntry,
        at now: BootInstant,
        _ generator: inout some RandomNumberGenerator
    ) -> Duration {
        let host = host(of: entry)
        entry.hasLease = true
        entry.hasLapsed = false
        entry.wasReleasedByWindow = hosts[host]?.window.isInEffect == true
        entry.hostTicket = hosts[host]?.window.started() ?? 0
        entry.sessionTicket = window.started()
        hosts[host]?.inFlight += 1
        inFlight += 1
        guard let known = hosts[host] else { return .zero }
        if known.window.isProbing { hosts[host]?.probed = now }
        return known.jitter.delay(in: known.window, using: &generator)
    }

    /// Stops counting a request as in flight.
    ///
    /// Its result still applies to the windows.
    mutating func lapse(_ entry: inout WaitingEntry) {
        guard takesPlace(entry) else { return }
        let host = host(of: entry)
        entry.hasLapsed = true
        inFlight -= 1
        hosts[host]?.inFlight -= 1
        queue(host)
    }

    /// Ends a request's lease.
    ///
    /// Its result no longer applies to the windows.
    mutating func returnLease(_ entry: inout WaitingEntry) {
        guard entry.hasLease else { return }
        lapse(&entry)
        entry.hasLease = false
        queue(host(of: entry))
    }

    /// Returns the time for which a request that was just released counts as in flight without a response.
    ///
    /// A server may delay its response on purpose (long polling), or a firewall may drop the request: neither may block
    /// the requests queued behind it for that long.
    func leaseTime(of entry: WaitingEntry) -> Duration {
        hosts[host(of: entry)]?.window.isProbing == true ? .seconds(2) : .seconds(10)
    }

    // MARK: The results of attempts

    /// Records the head of a response, which shows that the host is reachable, and ends the request's lease.
    mutating func receivedHead(
        of entry: inout WaitingEntry,
        isOverload: Bool,
        retryAfter: Duration?,
        at now: BootInstant
    ) {
        let host = host(of: entry)
        hold(host, for: retryAfter, at: now)
        report(entry, isOverload: isOverload, at: now)
        // An overloaded host is reachable but has not recovered: without a delay, probes would repeat endlessly.
        if !isOverload { hosts[host]?.failedProbes = 0 }
        if isOverload, entry.hasLease { hosts[host]?.owesProbeDelay = true }
        returnLease(&entry)
        count(host, at: now)
        settle(host, at: now)
    }

    /// Records the consequences of a failed attempt for its host, and ends the request's lease.
    mutating func attemptFailed(
        of entry: inout WaitingEntry,
        _ failure: AttemptFailure,
        at now: BootInstant,
        _ generator: inout some RandomNumberGenerator
    ) {
        let host = host(of: entry)
        hold(host, for: failure.retryAfter, at: now)
        switch failure.kind {
        case .permanent, .pathLost: break
        case .status(let status) where status < 500 && status != 429: hosts[host]?.breaker?.succeeded(at: now)
        case .status, .transient, .timeout, .refused: hosts[host]?.breaker?.failed(at: now)
        }
        let wasLeased = entry.hasLease
        if wasLeased, failure.kind == .refused { report(entry, isOverload: true, at: now) }
        returnLease(&entry)
        count(host, at: now)
        if wasLeased, failure.kind != .pathLost, failure.kind != .permanent {
            delayProbe(host, at: now, &generator)
        }
    }

    /// Reports the result of an attempt with a lease to the windows.
    private mutating func report(_ entry: WaitingEntry, isOverload: Bool, at now: BootInstant) {
        guard entry.hasLease else { return }
        let host = host(of: entry)
        let wasProbing = hosts[host]?.window.isProbing == true
        if isOverload {
            hosts[host]?.window.overloaded(entry.hostTicket)
        } else {
            hosts[host]?.window.succeeded(entry.hostTicket)
        }
        // Any response of the host shows that the route works.
        window.succeeded(entry.sessionTicket)
        if wasProbing, let known = hosts[host], !known.window.isProbing {
            hosts[host]?.jitter = .init(roundTrip: known.probed.duration(to: now))
        }
    }

    // MARK: Timers

    /// Returns the instant of a request's timer by its phase; ``BootInstant/never`` for none.
    func timerInstant(of entry: WaitingEntry, at now: BootInstant) -> BootInstant {
        switch entry.phase {
        case .held: .never
        case .running where entry.isPaused: .never
        case .running where takesPlace(entry): min(entry.deadline, entry.due)
        case .released, .backingOff: min(entry.deadline, entry.due)
        case .queued: min(entry.deadline, gates.waitTimeoutEnd(of: entry, at: now))
        case .vacant, .running: entry.deadline
        }
    }

    /// The earliest instant at which a hold ends; nil if there is none.
    var nextMoment: BootInstant? { holds.first?.at }

    /// Ends a hold that has expired.
    ///
    /// Returns whether there was one.
    mutating func endHold(at now: BootInstant) -> Bool {
        guard let host = holds.popFirst(dueAt: now) else { return false }
        hosts[host]?.hold = nil
        hosts[host]?.probeHold = nil
        queue(host)
        return true
    }

    /// Holds the requests to a host for the delay that its server requested, if it did.
    private mutating func hold(_ host: Int32, for delay: Duration?, at now: BootInstant) {
        guard let delay, delay > .zero, let known = hosts[host] else { return }
        let end = now.advanced(by: delay)
        guard known.hold.map({ end > $0 }) ?? true else { return }
        hosts[host]?.hold = end
        updateHold(host)
    }

    /// Delays the next probe after a failed one, for longer each time.
    mutating func delayProbe(_ host: Int32, at now: BootInstant, _ generator: inout some RandomNumberGenerator) {
        hosts[host]?.owesProbeDelay = false
        guard let known = hosts[host], known.window.isProbing else { return }
        hosts[host]?.failedProbes = min(known.failedProbes + 1, 6)
        let half: Int64 = 50_000_000 << Int64(known.failedProbes)
        hosts[host]?.probeHold = now.advanced(by: .nanoseconds(half + .random(in: 0...half, using: &generator)))
        updateHold(host)
    }

    /// Ends the delay of probes.
    ///
    /// A hold that the server requested remains.
    private mutating func endProbeDelay(_ host: Int32) {
        hosts[host]?.owesProbeDelay = false
        hosts[host]?.failedProbes = 0
        hosts[host]?.probeHold = nil
        updateHold(host)
    }

    private mutating func updateHold(_ host: Int32) {
        let earliestStart = hosts[host]?.earliestStart ?? .never
        if earliestStart == .never { holds.remove(host) } else { holds.set(host, at: earliestStart) }
    }
}
