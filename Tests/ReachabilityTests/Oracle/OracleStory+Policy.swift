import NetworkLab
import ReachabilityCore

/// Neighbours, nexthop objects and settings.
extension OracleStory {
    /// Sets the state of a gateway's neighbour entry, or removes it.
    mutating func changeNeighbours() throws {
        let nextHop = drawNextHop(dice.pick(AddressFamily.allCases))
        let name = OracleWorld.cables.first { world.index(of: $0) == nextHop.interface }
        guard let gateway = nextHop.gateway, let name else { return }
        if dice.once(in: 4) {
            return attempt("neigh del \(gateway) dev \(name)") { [world] in
                try world.rtnl.deleteNeighbour("\(gateway)", on: name)
            }
        }
        let state: NeighbourState = dice.pick([.failed, .failed, .stale, .stale, .reachable, .permanent, .noARP])
        attempt("neigh replace \(gateway) dev \(name) nud \(state.rawValue)") { [world] in
            try world.rtnl.setNeighbour("\(gateway)", on: name, state: state)
        }
    }

    /// Makes, replaces or removes a nexthop object or a group.
    mutating func changeNexthops() throws {
        let ids = snapshot.nexthops.keys.sorted()
        if dice.once(in: 4), let id = ids.isEmpty ? nil : dice.pick(ids) {
            return attempt("nexthop del id \(id)") { [world] in try world.rtnl.deleteNexthop(id) }
        }
        let nexthop = dice.once(in: 3) ? drawGroup(ids) : drawNexthop()
        if nexthop.id == Self.ipv6Group, rules(.ipv6).contains(where: \.dependsOnHash) { return }
        attempt("nexthop replace \(nexthop.line)") { [world] in try world.rtnl.replaceNexthop(nexthop) }
    }

    /// A group of IPv6 objects; while it exists, no rule depends on the flow's hash.
    static let ipv6Group: UInt32 = 11

    /// Objects 1 to 3 are of IPv4, 4 to 6 of IPv6, so that the members of a group agree.
    private mutating func drawNexthop() -> NexthopMessage {
        var nexthop = NexthopMessage(id: dice.roll(1...6))
        let family: AddressFamily = nexthop.id < 4 ? .ipv4 : .ipv6
        if dice.once(in: 6) {
            nexthop.isBlackhole = true
            nexthop.family = family
        } else {
            var nextHop = drawNextHop(family)
            if family == .ipv4, nextHop.gateway?.family == .ipv6 { nextHop.gateway = IPAddress("10.0.7.8") }
            nexthop.nextHop = nextHop
        }
        return nexthop
    }

    private mutating func drawGroup(_ ids: [UInt32]) -> NexthopMessage {
        let isIPv4 = dice.once(in: 2)
        var nexthop = NexthopMessage(id: isIPv4 ? 10 : Self.ipv6Group)
        let members = ids.filter { $0 < 10 && ($0 < 4) == isIPv4 }
        nexthop.group = members.filter { _ in !dice.once(in: 3) }.map { .init(id: $0, weight: dice.roll(1...3)) }
        return nexthop
    }

    /// Changes a setting that affects routes or sources.
    mutating func changeSettings() throws {
        let device = dice.pick(OracleWorld.cables)
        let name = dice.pick([
            "net.ipv4.conf.all.ignore_routes_with_linkdown", "net.ipv4.conf.\(device).ignore_routes_with_linkdown",
            "net.ipv6.conf.\(device).ignore_routes_with_linkdown", "net.ipv6.conf.all.forwarding",
            "net.ipv6.conf.\(device).use_oif_addrs_only", "net.ipv6.conf.\(device).use_optimistic",
        ])
        let value = dice.roll(0...1)
        attempt("sysctl \(name)=\(value)") { [world] in
            try world.lab.setSysctl(name, to: value)
            if name.contains("linkdown") { try world.rebalance() }
        }
    }
}

extension RuleMessage {
    /// Whether a rule depends on the next hop that the flow's hash chooses: on its device's group, or its source.
    var dependsOnHash: Bool {
        family == .ipv6 && (suppressInterfaceGroup != nil || (source.length > 0 && flags.contains(.findSource)))
    }
}
