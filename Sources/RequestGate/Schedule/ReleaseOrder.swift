/// The order in which the requests of a host are released.
///
/// The request with the highest priority, raised by its waiting time, is first; then one that was released before; then
/// the oldest. While the host is being probed, requests that can be repeated come before others, and among equal
/// priorities the one with the fewest attempts is first.
enum ReleaseOrder {
    /// Returns the slot of the next request of a host; nil if none is queued at an open gate.
    static func first(
        at host: ScheduledHost,
        _ board: HostBoard,
        _ requests: WaitingRequests,
        at now: BootInstant
    ) -> Int32? {
        var best: (slot: Int32, rank: Rank)?
        for gate in host.gates {
            guard let gate = board.gates[gate], gate.isOpen else { continue }
            for list in 0..<WaitingLists.count {
                let first = gate.lists.first(list)
                guard first >= 0 else { continue }
                let slot = host.window.isProbing ? probe(from: first, requests) : first
                let rank = Rank(requests[Int(slot)], isProbing: host.window.isProbing, at: now)
                if let known = best, known.rank >= rank { continue }
                best = (slot, rank)
            }
        }
        return best?.slot
    }

    /// Returns the first of a queue's leading requests that can probe the host; otherwise the first request.
    private static func probe(from first: Int32, _ requests: WaitingRequests) -> Int32 {
        var slot = first
        for _ in 0..<64 where slot >= 0 {
            if requests[Int(slot)].canProbe { return slot }
            slot = requests[Int(slot)].next
        }
        return first
    }

    private struct Rank: Comparable {
        let proves: Bool
        let urgency: Int64
        let spent: UInt16
        let wasReleasedBefore: Bool
        let came: BootInstant

        init(_ entry: WaitingEntry, isProbing: Bool, at now: BootInstant) {
            proves = isProbing && entry.canProbe
            let age = max(0, now.nanoseconds - entry.since.nanoseconds) / 30_000_000_000
            urgency = Int64(entry.priority.rawValue) + age
            // One request should not spend all its attempts on a host that is still down.
            spent = isProbing ? entry.attempts : 0
            wasReleasedBefore = entry.wasReleasedBefore
            came = entry.since
        }

        static func < (left: Self, right: Self) -> Bool {
            if left.proves != right.proves { return right.proves }
            if left.urgency != right.urgency { return left.urgency < right.urgency }
            if left.spent != right.spent { return left.spent > right.spent }
            if left.wasReleasedBefore != right.wasReleasedBefore { return right.wasReleasedBefore }
            return left.came > right.came
        }
    }
}
