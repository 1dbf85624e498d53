/// The hosts and gates of a scheduler: which host may release a request, and how many.
///
/// Each host has a ``ReleaseWindow``, and the session has one over all of them; a request that was released holds a lease
/// of both until it is answered.
struct HostBoard: Sendable {
    private var hosts = NumberedList<ScheduledHost>()
    private var gates = NumberedList<ScheduledGate>()
    /// When the hosts may be asked again that are left alone.
    private var holds = TimerHeap()
    private var ready = ReadyQueue()
    /// The session's window.
    private var window = ReleaseWindow()
    /// How many leases there are, of all hosts.
    private(set) var inFlight = 0
    /// How many hosts have a window in effect.
    private var windowsInEffect = 0
    private let breaker: CircuitBreaker.Policy?

    init(breaker: CircuitBreaker.Policy?) { self.breaker = breaker }

    /// A host, if it is known.
    subscript(host: Int32) -> ScheduledHost? {
        get { hosts[host] }
        _modify { yield &hosts[host] }
    }

    /// A gate, if it is known.
    func gate(_ gate: Int32) -> ScheduledGate? { gates[gate] }

    /// The host of a request; -1 if its gate is not known.
    func host(of entry: WaitingEntry) -> Int32 { gates[entry.gate]?.host ?? -1 }

    // MARK: Hosts and gates

    /// Adds a host, without a request and in no trouble.
    mutating func addHost() -> Int32 {
        var host = ScheduledHost()
        host.breaker = breaker.map { CircuitBreaker($0) }
        return hosts.add(host)
    }

    /// Removes a host; its number is used again.
    mutating func remove(_ host: Int32) {
        holds.remove(host)
        hosts.remove(host)
    }

    /// Adds a gate of a host.
    mutating func addGate(of host: Int32, isOpen: Bool, at now: BootInstant) -> Int32 {
        let gate = gates.add(ScheduledGate(host: host, isOpen: isOpen, at: now))
        hosts[host]?.gates.append(gate)
        count(host, at: now)
        return gate
    }

    /// Removes a gate without requests; its number is used again.
    mutating func remove(gate: Int32) {
        guard let known = gates[gate], known.requests == 0 else { return }
        hosts[known.host]?.gates.removeAll { $0 == gate }
        gates.remove(gate)
    }

    /// Opens or closes a gate.
    mutating func set(_ gate: Int32, isOpen: Bool, at now: BootInstant) {
        guard let known = gates[gate], known.isOpen != isOpen else { return }
        gates[gate]?.isOpen = isOpen
        // What waits for its next attempt comes back soon: it is to find the window that holds it in check.
        if isOpen, !known.lists.isEmpty || (hosts[known.host]?.delayed ?? 0) > 0 {
            outage(known.host)
            endRest(known.host)
        }
        count(known.host, at: now)
        if isOpen { queue(known.host) }
    }

    /// Lets waiting at a host's gates count as waiting for a path, or not, as it is now.
    mutating func count(_ host: Int32, at now: BootInstant) {
        guard let known = hosts[host] else { return }
        for gate in known.gates {
            let isOpen = gates[gate]?.isOpen ?? true
            gates[gate]?.count(!isOpen || known.window.isProbing, at: now)
        }
    }

    // MARK: Lines

    /// A request has come to a gate, wherever it is then, or left it.
    mutating func countRequest(of gate: Int32, by change: Int) { gates[gate]?.requests += change }

    /// Puts a request at the end of its gate's line.
    mutating func enqueue(_ slot: Int, in requests: inout WaitingRequests) {
        let gate = requests[slot].gate
        gates[gate]?.lists.append(Int32(slot), &requests)
        queue(host(of: requests[slot]))
    }

    /// Takes a request out of its gate's line.
    mutating func dequeue(_ slot: Int, in requests: inout WaitingRequests) {
        gates[requests[slot].gate]?.lists.remove(Int32(slot), &requests)
    }

    /// Whether somebody stands in an open gate's line of a host.
    func hasLine(_ host: Int32) -> Bool {
        hosts[host]?.gates.contains { gate in
            guard let gate = gates[gate] else { return false }
            return gate.isOpen && !gate.lists.isEmpty
        } ?? false
    }

    /// Puts a host into the queue of those that may have something to release.
    mutating func queue(_ host: Int32) {
        guard hosts[host]?.isQueued == false else { return }
        hosts[host]?.isQueued = true
        ready.append(host)
    }

    /// Takes the next host whose turn it is; nil if there is none, or the session's window is full.
    mutating func popReady() -> Int32? {
        guard inFlight < window.limit, let host = ready.popFirst() else { return nil }
        hosts[host]?.isQueued = false
        return host
    }

    // MARK: Windows

    /// The route to a host was away: one request goes to prove it, and what left before takes no place any more.
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

    /// With how many in flight a session begins after an outage, of all hosts: their first proofs do not wait for each other.
    private static let firstSessionLimit = 32

    /// Lets the windows go out of effect once nobody waits any more for what they let out.
    mutating func settle(_ host: Int32, at now: BootInstant) {
        guard let known = hosts[host], known.window.isInEffect, known.inFlight == 0, known.delayed == 0,
            known.gates.allSatisfy({ gates[$0]?.lists.isEmpty ?? true })
        else { return }
        hosts[host]?.window.settle()
        hosts[host]?.jitter = .init()
        endRest(host)
        count(host, at: now)
        windowsInEffect -= 1
        if windowsInEffect == 0 { window.settle() }
    }

    /// A path is said to be lost whose gate is open: its host is proven again, or who waits for a path would go at once.
    mutating func doubt(_ gate: Int32, at now: BootInstant, _ generator: inout some RandomNumberGenerator) {
        guard let known = gates[gate], known.isOpen, let host = hosts[known.host] else { return }
        if !host.window.isProbing { outage(known.host) }
        if host.rest == nil { rest(known.host, at: now, &generator) }
        count(known.host, at: now)
    }

    /// Whether an attempt that a window let out was refused since there were too many, and goes back into its line.
    ///
    /// The window has taken the load away: backing off, and paying for it, would do the same a second time.
    func isShed(_ entry: WaitingEntry, _ failure: AttemptFailure) -> Bool {
        guard entry.wasLetOut, failure.retryAfter ?? .zero <= .zero, let window = hosts[host(of: entry)]?.window,
            window.isInEffect, !window.isProbing
        else { return false }
        return switch failure.kind {
        case .refused, .status(429), .status(503): true
        case .status, .transient, .timeout, .pathLost, .permanent: false
        }
    }

    // MARK: Leases

    /// Whether a request takes a place in the windows.
    func takesPlace(_ entry: WaitingEntry) -> Bool {
        guard entry.hasLease, !entry.hasLapsed, let host = hosts[host(of: entry)] else { return false }
        return Int32(bitPattern: entry.hostTicket &- host.leasesFrom) >= 0
    }

    /// Gives a request a place in the windows.
    ///
    /// - Returns: How long its slot stays empty before it is taken; never that of the first who goes.
    mutating func lease(
        _ entry: inout WaitingEntry,
        at now: BootInstant,
        _ generator: inout some RandomNumberGenerator
    ) -> Duration {
        let host = host(of: entry)
        entry.hasLease = true
        entry.hasLapsed = false
        entry.wasLetOut = hosts[host]?.window.isInEffect == true
        entry.hostTicket = hosts[host]?.window.started() ?? 0
        entry.sessionTicket = window.started()
        hosts[host]?.inFlight += 1
        inFlight += 1
        guard let known = hosts[host] else { return .zero }
        if known.window.isProbing { hosts[host]?.probed = now }
        return known.jitter.delay(in: known.window, using: &generator)
    }

    /// Takes a request's place in the windows away; what becomes of it counts still, whenever it is known.
    mutating func lapse(_ entry: inout WaitingEntry) {
        guard takesPlace(entry) else { return }
        let host = host(of: entry)
        entry.hasLapsed = true
        inFlight -= 1
        hosts[host]?.inFlight -= 1
        queue(host)
    }

    /// Gives back what a request holds of the windows; what it told them counts no more.
    mutating func returnLease(_ entry: inout WaitingEntry) {
        guard entry.hasLease else { return }
        lapse(&entry)
        entry.hasLease = false
        queue(host(of: entry))
    }

    /// For how long a request that was just released takes its place, if it is not answered.
    ///
    /// A server may let a request wait on purpose (long polling), or a firewall swallow it: neither may keep those that
    /// wait behind it for as long as that lasts.
    func leaseTime(of entry: WaitingEntry) -> Duration {
        hosts[host(of: entry)]?.window.isProbing == true ? .seconds(2) : .seconds(10)
    }

    /// Tells the windows how an attempt that counts for them went.
    mutating func tell(_ entry: WaitingEntry, isOverload: Bool, at now: BootInstant) {
        guard entry.hasLease else { return }
        let host = host(of: entry)
        let wasProbing = hosts[host]?.window.isProbing == true
        if isOverload {
            hosts[host]?.window.overloaded(entry.hostTicket)
        } else {
            hosts[host]?.window.succeeded(entry.hostTicket)
        }
        // Whatever one host says, the route is there.
        window.succeeded(entry.sessionTicket)
        if wasProbing, let known = hosts[host], !known.window.isProbing {
            hosts[host]?.jitter = .init(roundTrip: known.probed.duration(to: now))
        }
    }

    // MARK: Hosts that are left alone

    /// When a host may be asked again next; nil for none.
    var nextMoment: BootInstant? { holds.first?.at }

    /// Lets a host be asked again whose time has come; whether there was one.
    mutating func endHold(at now: BootInstant) -> Bool {
        guard let host = holds.popFirst(dueAt: now) else { return false }
        hosts[host]?.hold = nil
        hosts[host]?.rest = nil
        queue(host)
        return true
    }

    /// Lets nothing of a host leave before a moment.
    mutating func hold(_ host: Int32, until moment: BootInstant) {
        guard let known = hosts[host], known.hold.map({ moment > $0 }) ?? true else { return }
        hosts[host]?.hold = moment
        setSilence(host)
    }

    /// A host that did not show that it is back is left alone for a while, longer each time.
    mutating func rest(_ host: Int32, at now: BootInstant, _ generator: inout some RandomNumberGenerator) {
        hosts[host]?.owesRest = false
        guard let known = hosts[host], known.window.isProbing else { return }
        hosts[host]?.failedProbes = min(known.failedProbes + 1, 6)
        let half: Int64 = 50_000_000 << Int64(known.failedProbes)
        hosts[host]?.rest = now.advanced(by: .nanoseconds(half + .random(in: 0...half, using: &generator)))
        setSilence(host)
    }

    /// A host may be tried at once, but for what its server asked for.
    private mutating func endRest(_ host: Int32) {
        hosts[host]?.owesRest = false
        hosts[host]?.failedProbes = 0
        hosts[host]?.rest = nil
        setSilence(host)
    }

    private mutating func setSilence(_ host: Int32) {
        let silence = hosts[host]?.silence ?? .never
        if silence == .never { holds.remove(host) } else { holds.set(host, at: silence) }
    }
}

/// Elements by number; numbers are dense from 0, and used again.
struct NumberedList<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var vacant: [Int32] = []

    /// An element; nil for a number that is none, or free.
    subscript(number: Int32) -> Element? {
        get { elements.indices.contains(Int(number)) ? elements[Int(number)] : nil }
        _modify {
            precondition(elements.indices.contains(Int(number)))
            yield &elements[Int(number)]
        }
    }

    /// Adds an element.
    ///
    /// - Returns: Its number: a free one, or one more.
    mutating func add(_ element: Element) -> Int32 {
        if let free = vacant.popLast() {
            elements[Int(free)] = element
            return free
        }
        elements.append(element)
        return Int32(elements.count - 1)
    }

    /// Removes an element; its number is free then.
    mutating func remove(_ number: Int32) {
        elements[Int(number)] = nil
        vacant.append(number)
    }
}
