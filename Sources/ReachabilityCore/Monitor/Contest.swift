/// Which gateways compete, so that their neighbours' states may decide between routes.
///
/// An IPv6 host passes over a default whose gateway does not answer (`NUD_FAILED`), and IPv4 over such a one among
/// equals (`fib_select_default`). Otherwise neighbours decide nothing, and their changes, many on a busy link, are not
/// listened to.
enum Contest {
    /// The interfaces of competing gateways.
    static func interfaces(in snapshot: NetworkSnapshot) -> Set<InterfaceIndex> {
        var contested: Set<InterfaceIndex> = []
        for routes in snapshot.routes.values where routes.count > 1 || (routes.first?.message.nextHops.count ?? 0) > 1 {
            note(routes, snapshot, &contested)
        }
        return contested
    }

    private static func note(_ routes: [Route], _ snapshot: NetworkSnapshot, _ contested: inout Set<InterfaceIndex>) {
        for (position, route) in routes.enumerated() {
            let nextHops = gateways(of: route, snapshot)
            guard let first = nextHops.first else { continue }
            let rivals = routes.indices.contains { other in
                other != position && competes(route.message, routes[other].message)
                    && gateways(of: routes[other], snapshot).contains { $0.gateway != first.gateway }
            }
            if rivals || nextHops.count > 1 { contested.formUnion(nextHops.map(\.interface)) }
        }
    }

    private static func competes(_ one: RouteMessage, _ other: RouteMessage) -> Bool {
        guard one.destination == other.destination, one.source == other.source else { return false }
        return one.family == .ipv6 || (one.metric == other.metric && one.tos == other.tos)
    }

    /// The next hops of a route that lead to a gateway, its nexthop object's included.
    private static func gateways(of route: Route, _ snapshot: NetworkSnapshot) -> [NextHop] {
        guard route.message.type == .unicast else { return [] }
        guard let id = route.message.nexthopID else { return route.message.nextHops.filter { $0.gateway != nil } }
        guard let nexthop = snapshot.nexthops[id] else { return [] }
        let members = nexthop.group.compactMap { snapshot.nexthops[$0.id]?.nextHop }
        return (members + [nexthop.nextHop].compactMap(\.self)).filter { $0.gateway != nil }
    }
}
