extension [Route] {
    /// Puts a route where `fib_table_insert` (`net/ipv4/fib_trie.c`) puts it, which the flags of its message tell.
    ///
    /// Replacing takes the place of the first of the group. `NLM_F_CREATE` with `NLM_F_EXCL` says that the group was
    /// empty, with `NLM_F_APPEND` that the route came last, alone that it came first. An answer to a dump comes in
    /// order.
    mutating func insertIPv4(_ route: Route, _ flags: NetlinkFlags, _ effect: inout SnapshotEffect) {
        let group = group(of: route.message)
        let known = self[group].firstIndex { $0.message.isSameIPv4(route.message) }
        if flags.contains(.replace), !flags.contains(.multi), !group.isEmpty {
            return replaceIPv4(route, group, known, &effect)
        }
        let isAlone = flags.isSuperset(of: [.create, .exclusive]) && !flags.contains(.multi)
        if let known {
            update(known, to: route, &effect)
            if isAlone { keep(only: known, of: group, &effect) }
            return
        }
        if isAlone { flush(group, &effect) }
        let isFirst = flags.contains(.create) && flags.isDisjoint(with: [.append, .multi])
        insert(route, at: isFirst || isAlone ? group.lowerBound : group.upperBound)
        effect.add(.routeAdded)
    }

    /// Takes out the route that a message describes; of several, the first.
    mutating func removeIPv4(_ message: RouteMessage, _ effect: inout SnapshotEffect) {
        let known = self[group(of: message)].firstIndex { $0.message.isSameIPv4(message) }
        guard let known else { return }
        remove(at: known)
        effect.add(.routeRemoved)
    }

    /// A route of which an identical one is known elsewhere in the group moves: the kernel keeps no two of it.
    private mutating func replaceIPv4(
        _ route: Route,
        _ group: Range<Int>,
        _ known: Int?,
        _ effect: inout SnapshotEffect
    ) {
        let first = group.lowerBound
        guard let known else {
            self[first] = route
            return effect.add(.routeReplaced)
        }
        // After a nexthop object was replaced, each route through it is announced as a replacement of itself.
        guard known != first, route.message.nexthopID == nil else { return update(known, to: route, &effect) }
        self[first] = route
        remove(at: known)
        effect.add(.routeReplaced)
    }

    /// Renews a known route in its place: a dump read again, a refreshed lifetime, an altered attribute.
    mutating func update(_ position: Int, to route: Route, _ effect: inout SnapshotEffect) {
        if !self[position].means(route) { effect.add(.routeReplaced) }
        self[position] = route
    }

    /// Removes the rest of a group of which the kernel says that it has one member.
    mutating func keep(only position: Int, of group: Range<Int>, _ effect: inout SnapshotEffect) {
        flush(position + 1..<group.upperBound, &effect)
        flush(group.lowerBound..<position, &effect)
    }

    /// Removes routes that, as a message shows, the kernel has removed without one.
    mutating func flush(_ positions: Range<Int>, _ effect: inout SnapshotEffect) {
        guard !positions.isEmpty else { return }
        removeSubrange(positions)
        effect.add(.routeFlushed)
    }
}
