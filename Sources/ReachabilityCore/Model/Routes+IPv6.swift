extension [Route] {
    /// Puts a route where `fib6_add_rt2node` (`net/ipv6/ip6_fib.c`) puts it, which the flags of its message tell.
    ///
    /// New routes stand behind the others of their metric. Those through gateways are joined into one multipath route,
    /// and the message then tells all of its next hops, the new ones first. `NLM_F_EXCL` says that the group was empty.
    mutating func insertIPv6(_ route: Route, _ flags: NetlinkFlags, _ effect: inout SnapshotEffect) {
        let group = group(of: route.message)
        guard !flags.contains(.multi) else { return insertIPv6(answer: route, group, &effect) }
        if flags.contains(.replace), !group.isEmpty { return replaceIPv6(route, group, &effect) }
        let isAlone = flags.isSuperset(of: [.create, .exclusive])
        if let known = self[group].firstIndex(where: { $0.isSameOrSibling(of: route) }) {
            join(route, into: known, &effect)
            if isAlone { keep(only: known, of: group, &effect) } else { absorb(into: known, of: group) }
            return
        }
        if isAlone { flush(group, &effect) }
        insert(route, at: isAlone ? group.lowerBound : group.upperBound)
        effect.add(.routeAdded)
    }

    /// Answers to a dump come in order, a multipath route in one.
    ///
    /// Replacing can leave two routes that differ in their attributes alone, so only equal ones are taken for one that
    /// was listed twice.
    private mutating func insertIPv6(answer route: Route, _ group: Range<Int>, _ effect: inout SnapshotEffect) {
        if let known = self[group].firstIndex(where: { $0.message.isSameIPv6(route.message) && $0.means(route) }) {
            return update(known, to: route, &effect)
        }
        insert(route, at: group.upperBound)
        effect.add(.routeAdded)
    }

    /// Takes out what a message describes: a route, or some next hops of one.
    mutating func removeIPv6(_ message: RouteMessage, _ effect: inout SnapshotEffect) {
        let group = group(of: message)
        if let exact = self[group].firstIndex(where: { $0.message.isSameIPv6(message) && $0.message.agrees(message) })
            ?? self[group].firstIndex(where: { $0.message.isSameIPv6(message) })
        {
            remove(at: exact)
            return effect.add(.routeRemoved)
        }
        guard message.nexthopID == nil, !message.nextHops.isEmpty else { return }
        let known = self[group].firstIndex { route in message.nextHops.contains { route.message.hasNextHop($0) } }
        guard let known else { return }
        // Each next hop has attributes of its own, and messages tell those of the first: the next one's are not known.
        if message.hasNextHop(self[known].message.nextHops[0]) { effect.doubt(.routes(.ipv6, table: message.table)) }
        self[known].message.nextHops.removeAll { nextHop in message.nextHops.contains { $0.isSameWay(nextHop) } }
        if self[known].message.nextHops.isEmpty { remove(at: known) }
        effect.add(.routeRemoved)
    }

    /// Replaces the first of the group that can join a multipath route as the new one can, or else the first of all.
    ///
    /// A multipath route is replaced whole.
    private mutating func replaceIPv6(_ route: Route, _ group: Range<Int>, _ effect: inout SnapshotEffect) {
        let target: Int
        if route.message.nexthopID != nil,
            let known = self[group].firstIndex(where: { $0.message.isSameIPv6(route.message) && $0.means(route) })
        {
            // After a nexthop object was replaced, each route through it is announced as a replacement of itself.
            target = known
        } else {
            let isJoinable = route.canJoinMultipath
            target = self[group].firstIndex { $0.canJoinMultipath == isJoinable } ?? group.lowerBound
        }
        update(target, to: route, &effect)
    }

    /// Renews a known route, its next hops in the order in which the kernel lists them: the known ones first.
    private mutating func join(_ route: Route, into known: Int, _ effect: inout SnapshotEffect) {
        let old = self[known].message.nextHops
        guard old.count > 1 || route.message.nextHops.count > 1 else { return update(known, to: route, &effect) }
        var joined = route
        let kept = old.compactMap { nextHop in route.message.nextHops.first { $0.isSameWay(nextHop) } }
        let added = route.message.nextHops.filter { nextHop in !old.contains { $0.isSameWay(nextHop) } }
        // The kernel tells the attributes of the next hop that it lists first.
        if let first = kept.first, !first.isSameWay(route.message.nextHops[0]) { joined = self[known] }
        joined.message.nextHops = kept + added
        if !added.isEmpty { effect.add(.routeAdded) }
        if kept.count < old.count { effect.add(.routeFlushed) }
        update(known, to: joined, addingTo: &effect)
    }

    private mutating func update(_ position: Int, to route: Route, addingTo effect: inout SnapshotEffect) {
        if effect.changed { self[position] = route } else { update(position, to: route, &effect) }
    }

    /// Removes other routes whose next hops a multipath route has taken in.
    private mutating func absorb(into known: Int, of group: Range<Int>) {
        let whole = self[known].message
        guard whole.nextHops.count > 1 else { return }
        for position in group.reversed() where position != known {
            let other = self[position].message
            guard other.nexthopID == nil, !other.nextHops.isEmpty else { continue }
            if other.nextHops.allSatisfy({ whole.hasNextHop($0) }) { remove(at: position) }
        }
    }
}

extension Route {
    /// Whether a message about another route of the group is about this one too: it is the same, or joined with it.
    fileprivate func isSameOrSibling(of other: Self) -> Bool {
        if message.isSameIPv6(other.message) { return true }
        guard message.nexthopID == nil, other.message.nexthopID == nil else { return false }
        if message.nextHops.contains(where: { other.message.hasNextHop($0) }) { return true }
        return canJoinMultipath && other.canJoinMultipath
    }
}

extension RouteMessage {
    /// Whether one of the next hops is the same way as another next hop.
    fileprivate func hasNextHop(_ nextHop: NextHop) -> Bool { nextHops.contains { $0.isSameWay(nextHop) } }

    /// Whether the attributes that IPv6 does not compare are the same.
    fileprivate func agrees(_ other: Self) -> Bool { type == other.type && origin == other.origin }
}
