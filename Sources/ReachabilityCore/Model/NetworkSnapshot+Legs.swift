/// What a route amounts to now: through the nexthop objects, and with the state of the next hops' devices.
extension NetworkSnapshot {
    /// The ways of a route as the kernel sees them now.
    ///
    /// Of a route through a nexthop object, that object's, or its group's members with their weights; the message's
    /// own only while the object is not known. `RTNH_F_DEAD` and `RTNH_F_LINKDOWN` follow from the devices and their
    /// settings, since the kernel announces no change of them.
    public func nextHops(of route: Route) -> [NextHop] {
        let family = route.message.family
        var nextHops = resolvedNextHops(of: route.message)
        guard family == .ipv6 || route.message.scope != .host else { return nextHops }
        for position in nextHops.indices {
            let flags = currentFlags(of: nextHops[position], family)
            if flags != nextHops[position].flags { nextHops[position].flags = flags }
        }
        return nextHops
    }

    /// A route's type: blackhole if its nexthop object has become one, else its own.
    public func type(of route: Route) -> RouteType {
        guard let id = route.message.nexthopID, let nexthop = nexthops[id] else { return route.message.type }
        if isBlackhole(nexthop) { return .blackhole }
        // Messages tell the object's type of then; a route proper through an object is a unicast one.
        return route.message.type == .blackhole ? .unicast : route.message.type
    }

    private func isBlackhole(_ nexthop: NexthopMessage) -> Bool {
        if nexthop.isBlackhole { return true }
        return nexthop.group.count == 1 && nexthops[nexthop.group[0].id]?.isBlackhole == true
    }

    private func resolvedNextHops(of message: RouteMessage) -> [NextHop] {
        guard let id = message.nexthopID, let nexthop = nexthops[id] else { return message.nextHops }
        guard !nexthop.group.isEmpty else { return nexthop.nextHop.map { [$0] } ?? [] }
        return nexthop.group.compactMap { member in
            guard var nextHop = nexthops[member.id]?.nextHop else { return nil }
            nextHop.weight = member.weight
            return nextHop
        }
    }

    private func currentFlags(of nextHop: NextHop, _ family: AddressFamily) -> NextHopFlags {
        var flags = nextHop.flags.intersection([.dead, .onLink])
        guard let link = link(nextHop.interface) else { return nextHop.interface == 0 ? flags : flags.union(.dead) }
        guard link.flags.contains(.up) else { return flags.union([.dead, .linkDown]) }
        guard link.lacksCarrier(family) || flags.contains(.dead) else { return flags }
        flags.insert(.linkDown)
        if ignoresRoutesWithLinkDown(family, nextHop.interface) { flags.insert(.dead) }
        return flags
    }

    /// Whether routes through an interface without carrier are passed over.
    ///
    /// IPv4 asks the interface and `all` (`IN_DEV_ORCONF`); IPv6 the interface only (`ip6_ignore_linkdown`).
    public func ignoresRoutesWithLinkDown(_ family: AddressFamily, _ index: InterfaceIndex) -> Bool {
        if settings[.init(family, index)]?.ignoresRoutesWithLinkDown == true { return true }
        guard family == .ipv4 else { return false }
        return settings[.init(family, NetconfMessage.allInterfaces)]?.ignoresRoutesWithLinkDown == true
    }

    /// The table of the VRF that an interface is, or belongs to.
    public func vrfTable(of index: InterfaceIndex) -> RouteTableID? {
        guard let link = link(index) else { return nil }
        let table = link.vrfTable ?? link.masterIndex.flatMap { self.link($0)?.vrfTable }
        return table.map(RouteTableID.init(rawValue:))
    }
}

extension Link {
    /// Whether a family takes a device that is up to be without carrier.
    ///
    /// IPv4 asks for either flag (`fib_netdev_event`), IPv6 for an operational state (`addrconf_link_ready`).
    func lacksCarrier(_ family: AddressFamily) -> Bool {
        family == .ipv4 ? flags.isDisjoint(with: .carrying) : !flags.contains(.running)
    }
}

extension NetworkSnapshot {
    /// Brings `RTNH_F_DEAD` of all next hops in line with the devices, after tables were read at different moments.
    ///
    /// A device that is down has dead next hops. One that is up has none, unless it has no IPv4 address
    /// (`fib_sync_up`), or is not ready for IPv6 yet (`addrconf_link_ready`): then what the kernel told is as good as
    /// can be known, or what the model knew before where that does not tell.
    mutating func settleNextHops(knowing old: Self) {
        for key in routes.keys.sorted() {
            for position in (routes[key] ?? []).indices { settleNextHops(of: position, in: key, knowing: old) }
        }
    }

    private mutating func settleNextHops(of position: Int, in key: RouteTableKey, knowing old: Self) {
        guard let route = routes[key]?[position], route.message.nexthopID == nil else { return }
        for (number, nextHop) in route.message.nextHops.enumerated() {
            guard let link = link(nextHop.interface) else { continue }
            let isReady = key.family == .ipv4 ? hasIPv4Address(nextHop.interface) : link.flags.contains(.running)
            if !link.flags.contains(.up), key.family == .ipv6 || route.message.scope != .host {
                routes[key]?[position].message.nextHops[number].flags.insert(.dead)
            } else if isReady {
                routes[key]?[position].message.nextHops[number].flags.remove(.dead)
            } else if hasAmbiguousDeath(nextHop, key.family), let before = old.routes[key]?.first(where: route.isKnown)
            {
                routes[key]?[position].message.nextHops[number].flags = before.message.nextHops[number].flags
            }
        }
    }
}
