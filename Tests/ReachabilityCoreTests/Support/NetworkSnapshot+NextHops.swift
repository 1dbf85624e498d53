@testable import ReachabilityCore

extension NetworkSnapshot {
    /// Returns the next hops of a route as the kernel sees them now.
    ///
    /// Of a route through a nexthop object, that object's, or its group's members with their weights; the message's
    /// own only while the object is not known. `RTNH_F_DEAD` and `RTNH_F_LINKDOWN` follow from the devices and their
    /// settings, since the kernel announces no change of them.
    func nextHops(of route: Route) -> [NextHop] {
        let family = route.message.family
        var nextHops = nextHops(of: route.message)
        guard family == .ipv6 || route.message.scope != .host else { return nextHops }
        for position in nextHops.indices {
            let flags = currentFlags(of: nextHops[position], family)
            if flags != nextHops[position].flags { nextHops[position].flags = flags }
        }
        return nextHops
    }

    private func currentFlags(of nextHop: NextHop, _ family: AddressFamily) -> NextHopFlags {
        var flags = nextHop.flags.intersection([.dead, .onLink])
        guard let link = link(nextHop.interface) else { return nextHop.interface == 0 ? flags : flags.union(.dead) }
        guard link.flags.contains(.up) else { return flags.union([.dead, .linkDown]) }
        let lacksCarrier = link.lacksCarrier(family) && !nextHop.flags.contains(.carried)
        guard lacksCarrier || flags.contains(.dead) else { return flags }
        flags.insert(.linkDown)
        if ignoresRoutesWithLinkDown(family, nextHop.interface) { flags.insert(.dead) }
        return flags
    }

    /// Returns the next hops of a route: those of its nexthop object, a group's with their weights.
    ///
    /// The message's own count only if it names no object, or one that is not known.
    private func nextHops(of message: RouteMessage) -> [NextHop] {
        guard let id = message.nexthopID, let nexthop = nexthops[id] else { return message.nextHops }
        guard !nexthop.group.isEmpty else { return nexthop.nextHop.map { [$0] } ?? [] }
        return nexthop.group.compactMap { member in
            guard var nextHop = nexthops[member.id]?.nextHop else { return nil }
            nextHop.weight = member.weight
            return nextHop
        }
    }
}
