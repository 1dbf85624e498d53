extension RouteMessage {
    /// Whether this route stands before another in its table; routes of which neither does form one group.
    ///
    /// Longest prefix first, each prefix's routes together; of those, longest source prefix first; then as the kernel
    /// walks: IPv4 by descending TOS and ascending metric (`fib_find_alias`), IPv6 by ascending metric
    /// (`fib6_add_rt2node`).
    func precedes(_ other: Self) -> Bool {
        if destination.length != other.destination.length { return destination.length > other.destination.length }
        if destination.address.bits != other.destination.address.bits {
            return destination.address.bits < other.destination.address.bits
        }
        if source.length != other.source.length { return source.length > other.source.length }
        if source.address.bits != other.source.address.bits { return source.address.bits < other.source.address.bits }
        if tos != other.tos { return tos > other.tos }
        return metric < other.metric
    }
}

extension [Route] {
    /// The routes with the same prefixes, TOS and metric as a message's: in a sorted table, a range.
    func group(of message: RouteMessage) -> Range<Int> {
        let start = firstPosition { !$0.message.precedes(message) }
        var end = start
        while end < count, !message.precedes(self[end].message) { end += 1 }
        return start..<end
    }

    /// The first position at which a predicate holds that, once it holds, holds to the end.
    private func firstPosition(where holds: (Route) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if holds(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
