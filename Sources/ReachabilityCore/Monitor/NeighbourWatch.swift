/// Which gateways compete, so that the states of their neighbour entries may decide between routes.
///
/// An IPv6 host skips a default route whose gateway does not reply (`NUD_FAILED`), and IPv4 skips one among equals
/// (`fib_select_default`). Otherwise neighbours decide nothing, and their changes, many on a busy link, are not received.
struct NeighbourWatch: Sendable, Hashable {
    /// Whether routes changed, so that other gateways may compete.
    private var isStale = false
    private var interfaces: Set<InterfaceIndex> = []

    /// Records that routes changed, so that other gateways may compete.
    mutating func invalidate() { isStale = true }

    /// The neighbours that are read when everything is read again.
    var subjects: [DumpSubject] { Self.subjects(interfaces) }

    /// Finds the competing gateways again if routes changed.
    ///
    /// - Parameter snapshot: The model.
    /// - Returns: The neighbours to read, and whether to join (true) or leave (false) the group of neighbour changes; nil
    ///   if the same gateways compete.
    mutating func update(_ snapshot: NetworkSnapshot) -> (dumps: [DumpSubject], joins: Bool?)? {
        guard isStale else { return nil }
        isStale = false
        let before = interfaces
        interfaces = Self.contestedInterfaces(in: snapshot)
        guard interfaces != before else { return nil }
        let joins = interfaces.isEmpty == before.isEmpty ? nil : !interfaces.isEmpty
        return (Self.subjects(interfaces.subtracting(before)), joins)
    }

    private static func subjects(_ interfaces: Set<InterfaceIndex>) -> [DumpSubject] {
        interfaces.sorted().flatMap { interface in
            AddressFamily.allCases.map { .neighbours($0, interface: interface) }
        }
    }

    private static func contestedInterfaces(in snapshot: NetworkSnapshot) -> Set<InterfaceIndex> {
        var contested: Set<InterfaceIndex> = []
        for routes in snapshot.routes.values where routes.count > 1 || (routes.first?.message.nextHops.count ?? 0) > 1 {
            addContested(routes, snapshot, to: &contested)
        }
        return contested
    }

    private static func addContested(
        _ routes: RouteTable,
        _ snapshot: NetworkSnapshot,
        to contested: inout Set<InterfaceIndex>
    ) {
        for (position, route) in routes.enumerated() {
            let nextHops = gateways(of: route, snapshot)
            guard let first = nextHops.first else { continue }
            let hasRival = routes.indices.contains { other in
                other != position && competes(route.message, routes[other].message)
                    && gateways(of: routes[other], snapshot).contains { $0.gateway != first.gateway }
            }
            if hasRival || nextHops.count > 1 { contested.formUnion(nextHops.map(\.interface)) }
        }
    }

    private static func competes(_ one: RouteMessage, _ other: RouteMessage) -> Bool {
        guard one.destination == other.destination, one.source == other.source else { return false }
        return one.family == .ipv6 || (one.metric == other.metric && one.tos == other.tos)
    }

    /// Returns the next hops of a route that lead to a gateway, including those of its nexthop object.
    private static func gateways(of route: Route, _ snapshot: NetworkSnapshot) -> [NextHop] {
        guard route.message.type == .unicast else { return [] }
        guard let id = route.message.nexthopID else { return route.message.nextHops.filter { $0.gateway != nil } }
        guard let nexthop = snapshot.nexthops[id] else { return [] }
        let members = nexthop.group.compactMap { snapshot.nexthops[$0.id]?.nextHop }
        return (members + [nexthop.nextHop].compactMap(\.self)).filter { $0.gateway != nil }
    }
}
