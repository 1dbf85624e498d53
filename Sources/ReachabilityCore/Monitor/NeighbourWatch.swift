/// Which gateways compete, so that the states of their neighbour entries may decide between routes.
///
/// An IPv6 host skips a route whose gateway does not reply (`NUD_FAILED`), and IPv4 skips one among equals
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
    /// - Returns: What changes; nil if the same gateways compete.
    mutating func update(_ snapshot: NetworkSnapshot) -> Update? {
        guard isStale else { return nil }
        isStale = false
        let before = interfaces
        interfaces = Self.contestedInterfaces(in: snapshot)
        guard interfaces != before else { return nil }
        return .init(
            dumps: Self.subjects(interfaces.subtracting(before)),
            joins: interfaces.isEmpty == before.isEmpty ? nil : !interfaces.isEmpty,
            forgotten: before.subtracting(interfaces)
        )
    }

    /// What changes because other gateways compete.
    struct Update {
        /// The neighbours to read.
        var dumps: [DumpSubject]
        /// Whether to join (true) or leave (false) the group of neighbour changes; nil to do neither.
        var joins: Bool?
        /// The interfaces whose neighbours no longer matter: what is known of them gets out of date.
        var forgotten: Set<InterfaceIndex>
    }

    private static func subjects(_ interfaces: Set<InterfaceIndex>) -> [DumpSubject] {
        interfaces.sorted().flatMap { interface in
            AddressFamily.allCases.map { .neighbours($0, interface: interface) }
        }
    }

    private static func contestedInterfaces(in snapshot: NetworkSnapshot) -> Set<InterfaceIndex> {
        var contested: Set<InterfaceIndex> = []
        for routes in snapshot.routes.values where routes.contains(where: { $0.message.mayHaveRival(among: routes) }) {
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
            let nextHops = nextHops(of: route, snapshot)
            let gateways = nextHops.filter { $0.gateway != nil }
            guard let first = gateways.first else { continue }
            let hasRival = routes.indices.contains { other in
                other != position && isRival(routes[other], of: route.message, first, snapshot)
            }
            if hasRival || nextHops.count > 1 { contested.formUnion(gateways.map(\.interface)) }
        }
    }

    /// Whether packets may take another route because the gateway of a route does not reply.
    ///
    /// IPv6 goes on to routes of any metric, type and next hop, and then to less specific ones (`fib6_table_lookup`). IPv4
    /// compares the gateways of equal routes only.
    private static func isRival(
        _ other: Route,
        of route: RouteMessage,
        _ nextHop: NextHop,
        _ snapshot: NetworkSnapshot
    ) -> Bool {
        let message = other.message
        let others = nextHops(of: other, snapshot)
        if route.family == .ipv6 {
            let covers = message.destination.covers(route.destination) && message.source.covers(route.source)
            return covers && (message.type != .unicast || others.contains { !$0.hasSamePath(nextHop) })
        }
        return message.destination == route.destination && message.metric == route.metric && message.tos == route.tos
            && others.contains { $0.gateway != nil && !$0.hasSamePath(nextHop) }
    }

    /// Returns the next hops of a route, including those of its nexthop object.
    private static func nextHops(of route: Route, _ snapshot: NetworkSnapshot) -> [NextHop] {
        guard route.message.type == .unicast else { return [] }
        guard let id = route.message.nexthopID else { return route.message.nextHops }
        guard let nexthop = snapshot.nexthops[id] else { return [] }
        let members = nexthop.group.compactMap { snapshot.nexthops[$0.id]?.nextHop }
        return members + [nexthop.nextHop].compactMap(\.self)
    }
}

extension RouteMessage {
    /// Whether there may be a choice: another route of its table, or several next hops.
    fileprivate func mayHaveRival(among routes: RouteTable) -> Bool {
        routes.count > 1 || nextHops.count > 1 || nexthopID != nil
    }
}

extension IPPrefix {
    /// Whether each address of another prefix is in this one.
    fileprivate func covers(_ other: Self) -> Bool { length <= other.length && contains(other.address) }
}
