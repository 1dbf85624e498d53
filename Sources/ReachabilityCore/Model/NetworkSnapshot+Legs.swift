/// What a route amounts to now: through the nexthop objects, and with the state of the legs' devices.
extension NetworkSnapshot {
    /// The ways of a route as the kernel sees them now.
    ///
    /// Of a route through a nexthop object, that object's, or its group's members with their weights; the message's
    /// own only while the object is not known. `RTNH_F_DEAD` and `RTNH_F_LINKDOWN` follow from the devices and their
    /// settings, since the kernel announces no change of them.
    public func legs(of route: Route) -> [RouteLeg] {
        let family = route.message.family
        var legs = expandedLegs(of: route.message)
        guard family == .ipv6 || route.message.scope != .host else { return legs }
        for position in legs.indices {
            let flags = currentFlags(of: legs[position], family)
            if flags != legs[position].flags { legs[position].flags = flags }
        }
        return legs
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

    private func expandedLegs(of message: RouteMessage) -> [RouteLeg] {
        guard let id = message.nexthopID, let nexthop = nexthops[id] else { return message.legs }
        guard !nexthop.group.isEmpty else { return nexthop.leg.map { [$0] } ?? [] }
        return nexthop.group.compactMap { member in
            guard var leg = nexthops[member.id]?.leg else { return nil }
            leg.weight = member.weight
            return leg
        }
    }

    private func currentFlags(of leg: RouteLeg, _ family: AddressFamily) -> LegFlags {
        var flags = leg.flags.intersection([.dead, .onLink])
        guard let link = link(leg.interface) else { return leg.interface == 0 ? flags : flags.union(.dead) }
        guard link.flags.contains(.up) else { return flags.union([.dead, .linkDown]) }
        let lacksCarrier = link.lacksCarrier(family) && !leg.flags.contains(.carried)
        guard lacksCarrier || flags.contains(.dead) else { return flags }
        flags.insert(.linkDown)
        if ignoresRoutesWithLinkDown(family, leg.interface) { flags.insert(.dead) }
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
    /// Brings `RTNH_F_DEAD` of all legs in line with the devices, after tables were read at different moments.
    ///
    /// A device that is down has dead legs. One that is up has none, unless it has no IPv4 address (`fib_sync_up`), or
    /// is not ready for IPv6 yet (`addrconf_link_ready`): then what the kernel told is as good as can be known, or what
    /// the model knew before where that does not tell.
    mutating func settleLegs(knowing old: Self) {
        for key in routes.keys.sorted() {
            for position in (routes[key] ?? []).indices { settleLegs(of: position, in: key, knowing: old) }
        }
    }

    private mutating func settleLegs(of position: Int, in key: RouteTableKey, knowing old: Self) {
        guard let route = routes[key]?[position], route.message.nexthopID == nil else { return }
        for (number, leg) in route.message.legs.enumerated() {
            guard let link = link(leg.interface) else { continue }
            let isReady = key.family == .ipv4 ? hasIPv4Address(leg.interface) : link.flags.contains(.running)
            if !link.flags.contains(.up), key.family == .ipv6 || route.message.scope != .host {
                routes[key]?[position].message.legs[number].flags.insert(.dead)
            } else if isReady {
                routes[key]?[position].message.legs[number].flags.remove(.dead)
            } else if hasAmbiguousDeath(leg, key.family), let before = old.routes[key]?.first(where: route.isKnown) {
                routes[key]?[position].message.legs[number].flags = before.message.legs[number].flags
            }
        }
    }
}
