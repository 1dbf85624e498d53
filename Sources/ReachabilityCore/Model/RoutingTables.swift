/// The routing tables of both families: those with default-like routes, and the memory of what has expired.
package struct RoutingTables: Sendable, Hashable {
    private var tables: [RouteTableKey: RouteTable] = [:]
    /// The routes whose lifetime has ended, and that no route through the same interface has followed.
    ///
    /// Nothing uses them; they explain why there is no route.
    package private(set) var expired: [RouteTableKey: [RouteMessage]] = [:]

    /// The tables that have routes.
    package var keys: Dictionary<RouteTableKey, RouteTable>.Keys { tables.keys }

    /// The routes of each table.
    package var values: Dictionary<RouteTableKey, RouteTable>.Values { tables.values }

    /// The routes of a table; nil if it has none.
    package internal(set) subscript(key: RouteTableKey) -> RouteTable? {
        get { tables[key] }
        _modify { yield &tables[key] }
    }

    /// The routes of a table; a default if it has none.
    package internal(set) subscript(key: RouteTableKey, default empty: @autoclosure () -> RouteTable) -> RouteTable {
        get { tables[key] ?? empty() }
        _modify { yield &tables[key, default: empty()] }
    }

    // MARK: Messages

    /// Inserts or replaces a route as the kernel did when it sent a message.
    mutating func insert(_ route: Route, _ flags: NetlinkFlags, _ effect: inout SnapshotEffect) {
        tables[.init(route.message.family, route.message.table), default: .init()].insert(route, flags, &effect)
    }

    /// Removes the route, or the next hops of a route, that a message describes.
    mutating func remove(_ message: RouteMessage, _ effect: inout SnapshotEffect) {
        guard let position = tables.index(forKey: .init(message.family, message.table)) else { return }
        tables.values[position].remove(message, &effect)
        if tables.values[position].isEmpty { tables.remove(at: position) }
    }

    // MARK: What the kernel removes without a message, or before it

    /// How a route's device was lost to it.
    enum DeviceLoss {
        /// The device was set down (`NETDEV_DOWN`).
        case down
        /// The device lost its last IPv4 address, which ends IPv4 on it (`fib_disable_ip`).
        case withoutIPv4
        /// The device is gone (`NETDEV_UNREGISTER`).
        case unregistered
    }

    /// Does what `fib_sync_down_dev`, `fib_flush` and `fib6_ifdown` do when a device is lost.
    ///
    /// A route goes when all its next hops are dead; in IPv4 with the first whose device is unregistered. Routes
    /// through nexthop objects go with those.
    mutating func removeRoutes(leaving index: InterfaceIndex, _ loss: DeviceLoss, _ effect: inout SnapshotEffect) {
        if loss == .unregistered, !expired.isEmpty { forgetExpired(through: index) }
        let concerns: (Route) -> Bool = { $0.message.leaves(through: index) }
        revise(where: concerns, &effect) { route in
            route.message.family == .ipv4 ? route.loseIPv4(index, loss) : route.loseIPv6(index, loss)
        }
    }

    /// Does what `fib_sync_down_addr` does when an IPv4 address is gone: the routes of a table that prefer it go.
    mutating func removeRoutes(preferring source: IPAddress, from table: RouteTableID, _ effect: inout SnapshotEffect) {
        let concerns: (Route) -> Bool = { $0.message.preferredSource == source && $0.message.table == table }
        revise(where: concerns, &effect) { _ in .removed }
    }

    /// Does what `fib6_remove_prefsrc` does when an IPv6 address is gone: routes that prefer it no longer do.
    mutating func removePreference(for source: IPAddress, _ effect: inout SnapshotEffect) {
        let concerns: (Route) -> Bool = { $0.message.preferredSource == source }
        revise(where: concerns, &effect) { route in
            route.message.preferredSource = nil
            return .changed
        }
    }

    /// Removes the routes through nexthop objects that are gone.
    mutating func removeRoutes(through ids: [UInt32], _ effect: inout SnapshotEffect) {
        let concerns: (Route) -> Bool = { $0.message.nexthopID.map(ids.contains) ?? false }
        revise(where: concerns, &effect) { _ in .removed }
    }

    /// Takes `RTNH_F_DEAD` off the next hops through a device that is usable again (`fib_sync_up`, `rt6_sync_up`).
    mutating func reviveNextHops(_ family: AddressFamily, through index: InterfaceIndex) {
        var effect = SnapshotEffect()
        let concerns: (Route) -> Bool = { $0.message.family == family && $0.message.hasDeadNextHop(through: index) }
        revise(where: concerns, &effect) { route in
            for position in route.message.nextHops.indices where route.message.nextHops[position].interface == index {
                route.message.nextHops[position].flags.remove(.dead)
            }
            return .unchanged
        }
    }

    /// Lets next hops through a device follow its operational state, as the kernel does when that changes (`rt6_sync_up`,
    /// `rt6_sync_down_dev`).
    mutating func forgetCarriedNextHops(through index: InterfaceIndex) {
        var effect = SnapshotEffect()
        let isCarried: (NextHop) -> Bool = { $0.interface == index && $0.flags.contains(.carried) }
        let concerns: (Route) -> Bool = { $0.message.nextHops.contains(where: isCarried) }
        revise(where: concerns, &effect) { route in
            for position in route.message.nextHops.indices where isCarried(route.message.nextHops[position]) {
                route.message.nextHops[position].flags.remove(.carried)
            }
            return .unchanged
        }
    }

    /// Marks the IPv4 tables stale in which next hops through a device are held dead, when its carrier is back.
    ///
    /// Where routes without carrier are ignored, the kernel shows next hops as dead for that, or because the device
    /// lost its last address, and only the latter lasts.
    func markDeadNextHopsStale(through index: InterfaceIndex, _ effect: inout SnapshotEffect) {
        for (key, table) in tables where key.family == .ipv4 {
            guard table.elements.contains(where: { $0.message.hasDeadNextHop(through: index) }) else { continue }
            effect.markStale(.routes(.ipv4, table: key.table))
        }
    }

    /// Marks the IPv6 tables stale in which routes prefer a source.
    func markStale(preferring source: IPAddress, _ effect: inout SnapshotEffect) {
        for (key, table) in tables where table.elements.contains(where: { $0.message.preferredSource == source }) {
            effect.markStale(.routes(.ipv6, table: key.table))
        }
    }

    /// Whether a route prefers a source.
    func prefers(_ source: IPAddress) -> Bool {
        tables.values.contains { $0.elements.contains { $0.message.preferredSource == source } }
    }

    /// Changes or removes every route that something concerns, and records what was predicted.
    ///
    /// Tables without such a route are only read, so that they need not be copied.
    private mutating func revise(
        where concerns: (Route) -> Bool,
        _ effect: inout SnapshotEffect,
        _ fate: (inout Route) -> RouteTable.Fate
    ) {
        var keys: [RouteTableKey] = []
        for (key, table) in tables where table.elements.contains(where: concerns) { keys.append(key) }
        // In an order of their own, so that the same events have the same effect everywhere.
        if keys.count > 1 { keys.sort() }
        for key in keys {
            tables[key]?.revise(key, where: concerns, &effect, fate)
            if tables[key]?.isEmpty == true { tables[key] = nil }
        }
    }

    // MARK: Expiry

    /// Remembers a route whose lifetime has ended, and forgets those that it follows.
    mutating func noteLifetime(of message: RouteMessage) {
        guard message.family == .ipv6, message.lifetime == .zero || !expired.isEmpty else { return }
        let key = RouteTableKey(message.family, message.table)
        let interfaces = Set(message.nextHops.map(\.interface))
        expired[key]?.removeAll { route in route.nextHops.contains { interfaces.contains($0.interface) } }
        if message.lifetime == .zero { expired[key, default: []].append(message) }
        if expired[key]?.isEmpty == true { expired[key] = nil }
    }

    /// Forgets the expired routes through an interface that is gone.
    mutating func forgetExpired(through index: InterfaceIndex) {
        for key in expired.keys {
            expired[key]?.removeAll { route in route.nextHops.contains { $0.interface == index } }
            if expired[key]?.isEmpty == true { expired[key] = nil }
        }
    }

    // MARK: Dumps

    /// Replaces the tables that a dump covers by those of another model; their memory of what has expired stays.
    mutating func adopt(_ family: AddressFamily, _ table: RouteTableID?, from other: Self) {
        let isCovered: (RouteTableKey) -> Bool = { $0.family == family && (table == nil || $0.table == table) }
        tables = tables.filter { !isCovered($0.key) }
        for (key, value) in other.tables where isCovered(key) { tables[key] = value }
    }

    /// Takes the memory of what has expired from another model.
    mutating func adoptExpired(from other: Self) { expired = other.expired }

    /// Puts back the routes that another model has and the tables that a dump covers lack.
    mutating func restore(_ family: AddressFamily, _ table: RouteTableID?, from other: Self) {
        for (key, known) in other.tables where key.family == family && (table == nil || key.table == table) {
            let read = tables[key] ?? []
            guard read.lacksRoute(of: known) else { continue }
            // The known order is the right one; what was read renews it and adds to it.
            var whole = known
            whole.renew(from: read)
            tables[key] = whole
        }
    }

    /// Adds the reasons of the difference from an earlier model.
    func noteDifferences(from old: Self, _ effect: inout SnapshotEffect) {
        for key in Set(tables.keys).union(old.tables.keys).sorted() {
            (tables[key] ?? []).noteDifference(from: old.tables[key] ?? [], &effect)
        }
    }
}

extension RoutingTables: Sequence, ExpressibleByDictionaryLiteral {
    /// Makes tables.
    package init(dictionaryLiteral elements: (RouteTableKey, RouteTable)...) {
        tables = .init(uniqueKeysWithValues: elements)
    }

    /// Returns an iterator over the tables that have routes.
    package func makeIterator() -> Dictionary<RouteTableKey, RouteTable>.Iterator { tables.makeIterator() }
}

extension Route {
    /// `fib_sync_down_dev`: a route of host scope survives its device's being down, but not its end.
    fileprivate mutating func loseIPv4(_ index: InterfaceIndex, _ loss: RoutingTables.DeviceLoss) -> RouteTable.Fate {
        if loss == .unregistered { return .removed }
        if loss == .down, message.scope == .host { return .unchanged }
        return markDead(index)
    }

    /// `fib6_ifdown`: an unregistered device takes its next hops with it, and no more.
    fileprivate mutating func loseIPv6(_ index: InterfaceIndex, _ loss: RoutingTables.DeviceLoss) -> RouteTable.Fate {
        guard loss != .withoutIPv4 else { return .unchanged }
        guard loss == .unregistered else { return markDead(index) }
        message.nextHops.removeAll { $0.interface == index }
        return message.nextHops.isEmpty ? .removed : .changed
    }

    /// Marks the next hops through a device as dead; a route of which all next hops are dead goes.
    ///
    /// A next hop that is dead already does not count: a route that lost its good next hops later stays, dead as it is.
    private mutating func markDead(_ index: InterfaceIndex) -> RouteTable.Fate {
        var isChanged = false
        for position in message.nextHops.indices where message.nextHops[position].interface == index {
            guard !message.nextHops[position].flags.contains(.dead) else { continue }
            message.nextHops[position].flags.insert(.dead)
            isChanged = true
        }
        guard isChanged else { return .unchanged }
        return message.nextHops.allSatisfy { $0.flags.contains(.dead) } ? .removed : .changed
    }
}

extension RouteMessage {
    /// Whether a next hop of the route's own, not of a nexthop object, uses a device.
    fileprivate func leaves(through index: InterfaceIndex) -> Bool {
        nexthopID == nil && nextHops.contains { $0.interface == index }
    }

    fileprivate func hasDeadNextHop(through index: InterfaceIndex) -> Bool {
        nextHops.contains { $0.interface == index && $0.flags.contains(.dead) }
    }
}
