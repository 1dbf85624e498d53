/// The default-like routes of one table, in the order in which the kernel walks them.
///
/// Longest prefix first; then (IPv6) longest source prefix; then for IPv4 by descending TOS, ascending metric and order of
/// insertion, for IPv6 by ascending metric and order of insertion. ``insert(_:_:_:)`` and ``remove(_:_:)`` keep this order
/// as the kernel's functions do; what replaces elements in other ways has to keep it itself.
package struct RouteTable: Sendable, Hashable {
    /// The routes, in order.
    private(set) var elements: [Route]

    /// Makes an empty table.
    package init() { elements = [] }

    // MARK: Groups

    /// Returns the positions of the routes with the prefixes, TOS and metric of a message.
    private func group(of message: RouteMessage) -> Range<Int> {
        let start = firstPosition { !$0.message.precedes(message) }
        var end = start
        while end < elements.count, !message.precedes(elements[end].message) { end += 1 }
        return start..<end
    }

    /// Returns the first position at which a predicate holds that, once it holds, holds to the end.
    private func firstPosition(where holds: (Route) -> Bool) -> Int {
        var low = 0
        var high = elements.count
        while low < high {
            let middle = (low + high) / 2
            if holds(elements[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }

    // MARK: Messages

    /// Inserts or replaces a route as the kernel did when it sent a message.
    ///
    /// - Parameters:
    ///   - route: The route.
    ///   - flags: The flags of the message's header, which say where the route is.
    ///   - effect: Takes what changed.
    mutating func insert(_ route: Route, _ flags: NetlinkFlags, _ effect: inout SnapshotEffect) {
        if route.message.family == .ipv4 {
            insertIPv4(route, flags, &effect)
        } else {
            insertIPv6(route, flags, &effect)
        }
    }

    /// Removes the route, or the next hops of a route, that a message describes.
    mutating func remove(_ message: RouteMessage, _ effect: inout SnapshotEffect) {
        if message.family == .ipv4 { removeIPv4(message, &effect) } else { removeIPv6(message, &effect) }
    }

    /// Renews a known route in its place: a dump read again, a refreshed lifetime, a changed attribute.
    private mutating func update(_ position: Int, to route: Route, _ effect: inout SnapshotEffect) {
        if !elements[position].means(route) { effect.add(.routeReplaced) }
        elements[position] = route
    }

    /// Removes the rest of a group that, as the kernel says, has one member.
    private mutating func keep(only position: Int, of group: Range<Int>, _ effect: inout SnapshotEffect) {
        flush(position + 1..<group.upperBound, &effect)
        flush(group.lowerBound..<position, &effect)
    }

    /// Removes routes that, as a message shows, the kernel has removed without one.
    private mutating func flush(_ positions: Range<Int>, _ effect: inout SnapshotEffect) {
        guard !positions.isEmpty else { return }
        elements.removeSubrange(positions)
        effect.add(.routeFlushed)
    }

    // MARK: IPv4

    /// Inserts a route where `fib_table_insert` (`net/ipv4/fib_trie.c`) puts it, as the flags of its message say.
    ///
    /// Replacing takes the place of the first of the group. `NLM_F_CREATE` with `NLM_F_EXCL` says that the group was
    /// empty, with `NLM_F_APPEND` that the route came last, alone that it came first. Replies to a dump are in order.
    private mutating func insertIPv4(_ route: Route, _ flags: NetlinkFlags, _ effect: inout SnapshotEffect) {
        let group = group(of: route.message)
        let known = elements[group].firstIndex { $0.message.isSameIPv4(route.message) }
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
        elements.insert(route, at: isFirst || isAlone ? group.lowerBound : group.upperBound)
        effect.add(.routeAdded)
    }

    /// Replaces the first of a group.
    ///
    /// If an identical route is known elsewhere in the group, it moves: the kernel keeps no two of it.
    private mutating func replaceIPv4(
        _ route: Route,
        _ group: Range<Int>,
        _ known: Int?,
        _ effect: inout SnapshotEffect
    ) {
        let first = group.lowerBound
        guard let known else {
            elements[first] = route
            return effect.add(.routeReplaced)
        }
        // After a nexthop object was replaced, each route through it is announced as a replacement of itself.
        guard known != first, route.message.nexthopID == nil else { return update(known, to: route, &effect) }
        elements[first] = route
        elements.remove(at: known)
        effect.add(.routeReplaced)
    }

    /// Removes the route that a message describes; of several, the first.
    private mutating func removeIPv4(_ message: RouteMessage, _ effect: inout SnapshotEffect) {
        let known = elements[group(of: message)].firstIndex { $0.message.isSameIPv4(message) }
        guard let known else { return }
        elements.remove(at: known)
        effect.add(.routeRemoved)
    }

    // MARK: IPv6

    /// Inserts a route where `fib6_add_rt2node` (`net/ipv6/ip6_fib.c`) puts it, as the flags of its message say.
    ///
    /// New routes stand behind the others of their metric. Those through gateways are joined into one multipath route,
    /// and the message then contains all of its next hops, the new ones first. `NLM_F_EXCL` says that the group was empty.
    private mutating func insertIPv6(_ route: Route, _ flags: NetlinkFlags, _ effect: inout SnapshotEffect) {
        let group = group(of: route.message)
        guard !flags.contains(.multi) else { return insertIPv6(reply: route, group, &effect) }
        if flags.contains(.replace), !group.isEmpty { return replaceIPv6(route, group, &effect) }
        let isAlone = flags.isSuperset(of: [.create, .exclusive])
        if let known = elements[group].firstIndex(where: { $0.isSameOrSibling(of: route) }) {
            join(route, into: known, &effect)
            if isAlone { keep(only: known, of: group, &effect) } else { absorb(into: known, of: group) }
            return
        }
        if isAlone { flush(group, &effect) }
        elements.insert(route, at: isAlone ? group.lowerBound : group.upperBound)
        effect.add(.routeAdded)
    }

    /// Inserts a reply to a dump: replies arrive in order, and a multipath route in one of them.
    ///
    /// Replacing can leave two routes that differ in their attributes alone, so only equal ones are taken for one that
    /// was listed twice.
    private mutating func insertIPv6(reply route: Route, _ group: Range<Int>, _ effect: inout SnapshotEffect) {
        if let known = elements[group].firstIndex(where: { $0.message.isSameIPv6(route.message) && $0.means(route) }) {
            return update(known, to: route, &effect)
        }
        elements.insert(route, at: group.upperBound)
        effect.add(.routeAdded)
    }

    /// Removes what a message describes: a route, or some next hops of one.
    private mutating func removeIPv6(_ message: RouteMessage, _ effect: inout SnapshotEffect) {
        let group = group(of: message)
        let exact =
            elements[group].firstIndex { $0.message.isSameIPv6(message) && $0.message.hasSameType(message) }
            ?? elements[group].firstIndex { $0.message.isSameIPv6(message) }
        if let exact {
            elements.remove(at: exact)
            return effect.add(.routeRemoved)
        }
        guard message.nexthopID == nil, !message.nextHops.isEmpty else { return }
        let known = elements[group].firstIndex { route in message.nextHops.contains { route.message.hasNextHop($0) } }
        guard let known else { return }
        // Each next hop has attributes of its own, and messages contain those of the first: the next one's are not known.
        if message.hasNextHop(elements[known].message.nextHops[0]) {
            effect.markStale(.routes(.ipv6, table: message.table))
        }
        elements[known].message.nextHops.removeAll { message.hasNextHop($0) }
        if elements[known].message.nextHops.isEmpty { elements.remove(at: known) }
        effect.add(.routeRemoved)
    }

    /// Replaces the first of the group that can join a multipath route as the new one can, or else the first of all.
    ///
    /// A multipath route is replaced as a whole.
    private mutating func replaceIPv6(_ route: Route, _ group: Range<Int>, _ effect: inout SnapshotEffect) {
        let target: Int
        if route.message.nexthopID != nil,
            let known = elements[group].firstIndex(where: { $0.message.isSameIPv6(route.message) && $0.means(route) })
        {
            // After a nexthop object was replaced, each route through it is announced as a replacement of itself.
            target = known
        } else {
            let isJoinable = route.canJoinMultipath
            target = elements[group].firstIndex { $0.canJoinMultipath == isJoinable } ?? group.lowerBound
        }
        update(target, to: route, &effect)
    }

    /// Renews a known route, its next hops in the order in which the kernel lists them: the known ones first.
    private mutating func join(_ route: Route, into known: Int, _ effect: inout SnapshotEffect) {
        let old = elements[known].message.nextHops
        guard old.count > 1 || route.message.nextHops.count > 1 else { return update(known, to: route, &effect) }
        var joined = route
        let kept = old.compactMap { nextHop in route.message.nextHops.first { $0.hasSamePath(nextHop) } }
        let added = route.message.nextHops.filter { nextHop in !old.contains { $0.hasSamePath(nextHop) } }
        // The kernel sends the attributes of the next hop that it lists first.
        if let first = kept.first, !first.hasSamePath(route.message.nextHops[0]) { joined = elements[known] }
        joined.message.nextHops = kept + added
        if !added.isEmpty { effect.add(.routeAdded) }
        if kept.count < old.count { effect.add(.routeFlushed) }
        if effect.changed { elements[known] = joined } else { update(known, to: joined, &effect) }
    }

    /// Removes other routes whose next hops a multipath route has absorbed.
    private mutating func absorb(into known: Int, of group: Range<Int>) {
        let whole = elements[known].message
        guard whole.nextHops.count > 1 else { return }
        for position in group.reversed() where position != known {
            let other = elements[position].message
            guard other.nexthopID == nil, !other.nextHops.isEmpty else { continue }
            if other.nextHops.allSatisfy({ whole.hasNextHop($0) }) { elements.remove(at: position) }
        }
    }

    // MARK: Predictions and dumps

    /// The fate of a route when something that it depends on is lost.
    enum Fate {
        case unchanged
        case changed
        case removed
    }

    /// Changes or removes the routes that something concerns, and records that this was predicted.
    ///
    /// - Parameters:
    ///   - key: The table's key.
    ///   - concerns: Whether a route is concerned.
    ///   - effect: Takes what changed.
    ///   - fate: Changes a route and returns what becomes of it.
    mutating func revise(
        _ key: RouteTableKey,
        where concerns: (Route) -> Bool,
        _ effect: inout SnapshotEffect,
        _ fate: (inout Route) -> Fate
    ) {
        var position = 0
        while position < elements.count {
            switch concerns(elements[position]) ? fate(&elements[position]) : .unchanged {
            case .unchanged: position += 1
            case .changed:
                position += 1
                effect.add(.routeReplaced)
                effect.predict(key)
            case .removed:
                elements.remove(at: position)
                // IPv6 announces these, unless told not to (`skip_notify_on_dev_down`); IPv4 never does.
                effect.add(key.family == .ipv4 ? .routeFlushed : .routeRemoved)
                effect.predict(key)
            }
        }
    }

    /// Whether another table has a route that this one lacks.
    func lacksRoute(of other: Self) -> Bool {
        other.elements.contains { route in !elements.contains { $0.isKnown(as: route) } }
    }

    /// Renews the known routes in their places, and inserts new ones behind their groups.
    ///
    /// The order of this table is kept.
    mutating func renew(from dump: Self) {
        for route in dump.elements {
            if let known = elements.firstIndex(where: { $0.isKnown(as: route) }) {
                elements[known] = route
            } else {
                elements.insert(route, at: group(of: route.message).upperBound)
            }
        }
    }

    /// Adds the reasons of the difference from an earlier state of the table.
    func noteDifference(from old: Self, _ effect: inout SnapshotEffect) {
        for route in elements {
            guard let before = old.elements.first(where: { $0.isKnown(as: route) }) else {
                effect.add(.routeAdded)
                continue
            }
            if !before.means(route) { effect.add(.routeReplaced) }
        }
        if lacksRoute(of: old) { effect.add(.routeRemoved) }
        let kept = elements.filter { route in old.elements.contains { $0.isKnown(as: route) } }
        let before = old.elements.filter { route in elements.contains { $0.isKnown(as: route) } }
        if !zip(kept, before).allSatisfy({ $0.isKnown(as: $1) }) { effect.add(.routeReplaced) }
    }
}

extension RouteTable: RandomAccessCollection, MutableCollection, RangeReplaceableCollection, ExpressibleByArrayLiteral {
    /// Makes a table of routes that are in order.
    package init(arrayLiteral elements: Route...) { self.elements = elements }

    /// The position of the first route.
    package var startIndex: Int { elements.startIndex }

    /// The position after the last route.
    package var endIndex: Int { elements.endIndex }

    /// The route at a position.
    package subscript(position: Int) -> Route {
        get { elements[position] }
        set { elements[position] = newValue }
    }

    /// Replaces routes by others that have the same place in the order.
    package mutating func replaceSubrange(_ range: Range<Int>, with new: some Collection<Route>) {
        elements.replaceSubrange(range, with: new)
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
    /// Whether one of the next hops has the same path as another next hop.
    fileprivate func hasNextHop(_ nextHop: NextHop) -> Bool { nextHops.contains { $0.hasSamePath(nextHop) } }

    /// Whether the attributes that IPv6 does not compare are the same.
    fileprivate func hasSameType(_ other: Self) -> Bool { type == other.type && origin == other.origin }
}
