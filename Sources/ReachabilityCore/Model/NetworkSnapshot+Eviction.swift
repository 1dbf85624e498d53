/// How a route's device was lost to it.
enum DeviceLoss {
    /// The device was set down (`NETDEV_DOWN`).
    case down
    /// The device lost its last IPv4 address, which ends IPv4 on it (`fib_disable_ip`).
    case withoutIPv4
    /// The device is gone (`NETDEV_UNREGISTER`).
    case unregistered
}

/// What the kernel removes without a message, or before it: predicted here.
extension NetworkSnapshot {
    /// Does what `fib_sync_down_dev`, `fib_flush` and `fib6_ifdown` do when a device is lost.
    ///
    /// A route goes when all its legs are dead; in IPv4 with the first whose device is unregistered. Routes through
    /// nexthop objects go with those.
    mutating func removeRoutes(leaving index: InterfaceIndex, _ loss: DeviceLoss, _ effect: inout SnapshotEffect) {
        if loss == .unregistered, !expiredRoutes.isEmpty { forgetExpiredRoutes(through: index) }
        let concerns: (Route) -> Bool = { $0.message.leaves(through: index) }
        reviseRoutes(where: concerns, &effect) { route in
            route.message.family == .ipv4 ? route.loseIPv4(index, loss) : route.loseIPv6(index, loss)
        }
    }

    /// Does what `fib_sync_down_addr` does when an IPv4 address is gone: routes that prefer it as source go.
    ///
    /// Only those of the main table, or of the table of the VRF to which the interface belongs.
    mutating func removeRoutes(
        preferring source: IPAddress,
        goneFrom index: InterfaceIndex,
        _ effect: inout SnapshotEffect
    ) {
        let table = vrfTable(of: index) ?? .main
        let concerns: (Route) -> Bool = { $0.message.preferredSource == source && $0.message.table == table }
        reviseRoutes(where: concerns, &effect) { _ in .removed }
    }

    /// Does what `fib6_remove_prefsrc` does when an IPv6 address is gone: routes that prefer it no longer do.
    mutating func removePreference(for source: IPAddress, _ effect: inout SnapshotEffect) {
        let concerns: (Route) -> Bool = { $0.message.preferredSource == source }
        reviseRoutes(where: concerns, &effect) { route in
            route.message.preferredSource = nil
            return .altered
        }
    }

    /// Removes the routes through nexthop objects that are gone.
    mutating func removeRoutes(through ids: [UInt32], _ effect: inout SnapshotEffect) {
        let concerns: (Route) -> Bool = { $0.message.nexthopID.map(ids.contains) ?? false }
        reviseRoutes(where: concerns, &effect) { _ in .removed }
    }

    /// Takes `RTNH_F_DEAD` off the legs through a device that is usable again (`fib_sync_up`, `rt6_sync_up`).
    mutating func reviveLegs(_ family: AddressFamily, through index: InterfaceIndex) {
        var effect = SnapshotEffect()
        let concerns: (Route) -> Bool = { $0.message.family == family && $0.message.hasDeadLeg(through: index) }
        reviseRoutes(where: concerns, &effect) { route in
            for position in route.message.legs.indices where route.message.legs[position].interface == index {
                route.message.legs[position].flags.remove(.dead)
            }
            return .untouched
        }
    }

    /// Lets legs through a device follow its operational state, as the kernel does when that changes (`rt6_sync_up`,
    /// `rt6_sync_down_dev`).
    mutating func forgetCarriedLegs(through index: InterfaceIndex) {
        var effect = SnapshotEffect()
        let isCarried: (RouteLeg) -> Bool = { $0.interface == index && $0.flags.contains(.carried) }
        let concerns: (Route) -> Bool = { $0.message.legs.contains(where: isCarried) }
        reviseRoutes(where: concerns, &effect) { route in
            for position in route.message.legs.indices where isCarried(route.message.legs[position]) {
                route.message.legs[position].flags.remove(.carried)
            }
            return .untouched
        }
    }

    /// Asks for IPv4 tables to be read again in which legs through a device are held dead, when its carrier is back.
    ///
    /// Where routes without carrier are ignored, the kernel shows legs as dead for that, or because the device lost its
    /// last address, and only the latter lasts.
    func doubtDeadLegs(through index: InterfaceIndex, _ effect: inout SnapshotEffect) {
        for (key, table) in routes where key.family == .ipv4 {
            guard table.contains(where: { $0.message.hasDeadLeg(through: index) }) else { continue }
            effect.doubt(.routes(.ipv4, table: key.table))
        }
    }

    /// Asks of every route that something concerns what becomes of it, and notes what was predicted.
    ///
    /// Tables without such a route are only read, so that they need not be copied.
    private mutating func reviseRoutes(
        where concerns: (Route) -> Bool,
        _ effect: inout SnapshotEffect,
        _ fate: (inout Route) -> RouteFate
    ) {
        var keys: [RouteTableKey] = []
        for (key, table) in routes where table.contains(where: concerns) { keys.append(key) }
        // In an order of their own, so that the same events have the same effect everywhere.
        if keys.count > 1 { keys.sort() }
        for key in keys {
            routes[key]?.revise(key, where: concerns, &effect, fate)
            if routes[key]?.isEmpty == true { routes[key] = nil }
        }
    }
}

/// What becomes of a route when something that it depends on is lost.
enum RouteFate {
    case untouched
    case altered
    case removed
}

extension [Route] {
    fileprivate mutating func revise(
        _ key: RouteTableKey,
        where concerns: (Route) -> Bool,
        _ effect: inout SnapshotEffect,
        _ fate: (inout Route) -> RouteFate
    ) {
        var position = 0
        while position < count {
            switch concerns(self[position]) ? fate(&self[position]) : .untouched {
            case .untouched: position += 1
            case .altered:
                position += 1
                effect.add(.routeReplaced)
                effect.predict(key)
            case .removed:
                remove(at: position)
                // IPv6 announces these, unless told not to (`skip_notify_on_dev_down`); IPv4 never does.
                effect.add(key.family == .ipv4 ? .routeFlushed : .routeRemoved)
                effect.predict(key)
            }
        }
    }
}

extension Route {
    /// `fib_sync_down_dev`: a route of host scope survives its device's being down, but not its end.
    fileprivate mutating func loseIPv4(_ index: InterfaceIndex, _ loss: DeviceLoss) -> RouteFate {
        if loss == .unregistered { return .removed }
        if loss == .down, message.scope == .host { return .untouched }
        return markDead(index)
    }

    /// `fib6_ifdown`: an unregistered device takes its legs with it, and no more.
    fileprivate mutating func loseIPv6(_ index: InterfaceIndex, _ loss: DeviceLoss) -> RouteFate {
        guard loss != .withoutIPv4 else { return .untouched }
        guard loss == .unregistered else { return markDead(index) }
        message.legs.removeAll { $0.interface == index }
        return message.legs.isEmpty ? .removed : .altered
    }

    /// A leg that is dead already is none of the event's: a route that lost its good legs later stays, dead as it is.
    private mutating func markDead(_ index: InterfaceIndex) -> RouteFate {
        var isAltered = false
        for position in message.legs.indices where message.legs[position].interface == index {
            guard !message.legs[position].flags.contains(.dead) else { continue }
            message.legs[position].flags.insert(.dead)
            isAltered = true
        }
        guard isAltered else { return .untouched }
        return message.legs.allSatisfy { $0.flags.contains(.dead) } ? .removed : .altered
    }
}

extension RouteMessage {
    /// Whether a leg of the route's own, not of a nexthop object, uses a device.
    fileprivate func leaves(through index: InterfaceIndex) -> Bool {
        nexthopID == nil && legs.contains { $0.interface == index }
    }

    fileprivate func hasDeadLeg(through index: InterfaceIndex) -> Bool {
        legs.contains { $0.interface == index && $0.flags.contains(.dead) }
    }
}
