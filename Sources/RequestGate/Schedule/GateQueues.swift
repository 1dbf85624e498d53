/// The gates of a scheduler, with the requests queued at each, and the time that these have waited for a path.
struct GateQueues: Sendable {
    private var gates = NumberedList<ScheduledGate>()

    /// The gate with a number; nil if there is none.
    subscript(gate: Int32) -> ScheduledGate? {
        get { gates[gate] }
        _modify { yield &gates[gate] }
    }

    /// Adds a gate.
    ///
    /// - Returns: Its number.
    mutating func add(_ gate: ScheduledGate) -> Int32 { gates.add(gate) }

    /// Removes a gate.
    ///
    /// Its number is reused.
    mutating func remove(_ gate: Int32) { gates.remove(gate) }

    /// Appends a request to its gate's queue.
    mutating func enqueue(_ slot: Int, in requests: inout WaitingRequests, at now: BootInstant) {
        let gate = requests[slot].gate
        requests[slot].phase = .queued
        requests[slot].waited = closedTime(of: gate, at: now) - requests[slot].waited
        gates[gate]?.lists.append(Int32(slot), &requests)
    }

    /// Removes a request from its gate's queue if it is queued.
    mutating func dequeue(_ slot: Int, in requests: inout WaitingRequests, at now: BootInstant) {
        guard requests[slot].phase == .queued else { return }
        let gate = requests[slot].gate
        gates[gate]?.lists.remove(Int32(slot), &requests)
        requests[slot].waited = closedTime(of: gate, at: now) - requests[slot].waited
        requests[slot].phase = .held
    }

    /// Returns whether a request is queued at one of some gates that are open.
    func hasRequests(atOpen numbers: [Int32]) -> Bool {
        numbers.contains { number in
            guard let gate = gates[number] else { return false }
            return gate.isOpen && !gate.lists.isEmpty
        }
    }

    /// Returns whether no request is queued at any of some gates.
    func areEmpty(_ numbers: [Int32]) -> Bool { numbers.allSatisfy { gates[$0]?.lists.isEmpty ?? true } }

    // MARK: Waiting times

    /// Returns the time that a request has waited for a path, in nanoseconds.
    func waited(_ entry: WaitingEntry, at now: BootInstant) -> Int64 {
        entry.phase == .queued ? closedTime(of: entry.gate, at: now) - entry.waited : entry.waited
    }

    /// Returns whether a queued request has waited for a path until its wait timeout, and still does.
    func hasTimedOut(_ entry: WaitingEntry, at now: BootInstant) -> Bool {
        waited(entry, at: now) >= entry.waitLimit && isCounting(entry)
    }

    /// Returns when the wait timeout of a queued request may expire.
    func waitTimeoutEnd(of entry: WaitingEntry, at now: BootInstant) -> BootInstant {
        guard entry.waitLimit != .max else { return .never }
        let left = max(0, entry.waitLimit - waited(entry, at: now))
        // While its wait does not count, its timeout does not come nearer, so a shorter timer would fire repeatedly.
        return now.advanced(by: .nanoseconds(isCounting(entry) ? left : max(left, Self.minimumTimerInterval)))
    }

    private static let minimumTimerInterval: Int64 = 100_000_000

    /// Returns whether the wait of a queued request may time out now.
    private func isCounting(_ entry: WaitingEntry) -> Bool {
        guard let gate = gates[entry.gate] else { return false }
        return entry.countsProbing ? gate.isCounting : !gate.isOpen
    }

    private func closedTime(of gate: Int32, at now: BootInstant) -> Int64 { gates[gate]?.closedTime(at: now) ?? 0 }
}
