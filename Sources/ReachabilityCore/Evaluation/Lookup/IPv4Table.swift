/// A lookup in one IPv4 table (`fib_table_lookup`), and the choice of a next hop and a source (`fib_select_path`).
struct IPv4Table {
    let routes: [Route]
    let table: RouteTableID
    let model: LookupModel

    /// Returns the first usable route of the longest prefix.
    func lookup(_ flow: ProbeFlow) -> TableResult {
        var missed: IPPrefix?
        for position in routes.indices {
            guard routes[position].message.destination.contains(flow.destination) else { continue }
            guard [0, flow.tos].contains(routes[position].message.tos) else { continue }
            if let missed, sharesLeaf(position, with: missed) { continue }
            if let result = refusal(at: position) { return result }
            if let nextHops = choices(at: position) { return select(position, nextHops, flow) }
            if routes[position].message.nexthopID != nil { missed = routes[position].message.destination }
        }
        return .none
    }

    private func refusal(at position: Int) -> TableResult? {
        let expiry = routes[position].expiry
        return TableResult.refusal(type(at: position), expiry: expiry)
    }

    /// A route's type; through a nexthop object, that which the object gives it now.
    func type(at position: Int) -> RouteType {
        guard routes[position].message.nexthopID == nil else { return model.snapshot.type(of: routes[position]) }
        return routes[position].message.type
    }

    /// Whether a route lies in the trie's leaf in which a nexthop object was found unusable.
    ///
    /// A leaf holds the routes of one network address whatever their length; the kernel then leaves it as a whole,
    /// although further routes in it may be usable.
    private func sharesLeaf(_ position: Int, with missed: IPPrefix) -> Bool {
        routes[position].message.destination.network == missed.network
    }

    /// Returns the next hops that the flow's hash may choose; nil if none is usable.
    func choices(at position: Int) -> Choices? {
        if let nextHops = model.nextHops(ofObject: routes[position].message.nexthopID) {
            guard nextHops.contains(where: { !model.isOut($0, .ipv4) }) else { return nil }
            return .of(nextHops.count > 1 ? model.choices(ofGroup: nextHops) : nextHops)
        }
        guard routes[position].message.nextHops.count != 1 else {
            return isOut(position, 0) ? nil : .one(routes[position].message.nextHops[0])
        }
        return .of(
            routes[position].message.nextHops.indices.filter { !isOut(position, $0) }.map {
                routes[position].message.nextHops[$0]
            }
        )
    }

    /// A route of host scope keeps its next hop whatever happens to its device (`RT_SCOPE_NOWHERE`).
    private func isOut(_ position: Int, _ nextHop: Int) -> Bool {
        if routes[position].message.scope == .host, routes[position].message.nextHops.count == 1 {
            return model.snapshot.linkPosition(routes[position].message.nextHops[nextHop].interface) == nil
        }
        return model.isOut(routes[position].message.nextHops[nextHop], .ipv4)
    }
}

/// Next hops among which a hash chooses; the common single next hop costs no array.
enum Choices {
    /// The only next hop.
    case one(NextHop)
    /// Several.
    case several([NextHop])

    /// Makes choices from a list; nil if it is empty.
    static func of(_ nextHops: [NextHop]) -> Self? {
        guard let first = nextHops.first else { return nil }
        return nextHops.count == 1 ? .one(first) : .several(nextHops)
    }

    /// The first next hop.
    var first: NextHop {
        switch self {
        case .one(let nextHop): nextHop
        case .several(let nextHops): nextHops[0]
        }
    }
}

extension IPv4Table {
    /// Chooses among a route's next hops, or among equal default routes, and selects the source (`fib_select_path`).
    func select(_ position: Int, _ nextHops: Choices, _ flow: ProbeFlow) -> TableResult {
        if routes[position].message.type == .local { return .found(local(position, flow)) }
        let chosen: [SelectedNextHop]
        switch nextHops {
        case .several(let several): chosen = several.map { nextHop($0, of: position, flow) }
        case .one(let one):
            guard isAmongDefaults(position) else {
                return result(position, nextHop(one, of: position, flow), [], nextHops)
            }
            chosen = equalDefaults(position).map { nextHop(firstNextHop(at: $0) ?? one, of: $0, flow) }
        }
        return result(position, chosen[0], chosen, nextHops)
    }

    private func result(
        _ position: Int,
        _ nextHop: SelectedNextHop,
        _ alternatives: [SelectedNextHop],
        _ nextHops: Choices
    ) -> TableResult {
        guard !isMartian(nextHop) else {
            return .refused(errno: LookupErrno.invalid, .loopbackSource, expiry: nil)
        }
        let group = firstNextHop(at: position)?.interface ?? nextHops.first.interface
        return .found(found(position, nextHop, alternatives.count > 1 ? alternatives : [], group))
    }

    private func found(
        _ position: Int,
        _ nextHop: SelectedNextHop,
        _ alternatives: [SelectedNextHop],
        _ group: InterfaceIndex
    ) -> FoundRoute {
        .init(
            table: table,
            prefixLength: routes[position].message.destination.length,
            type: type(at: position),
            metric: routes[position].message.metric,
            expiry: routes[position].expiry,
            nextHop: nextHop,
            alternatives: alternatives,
            groupInterface: group
        )
    }

    /// A route of type local delivers to this host, whatever device it names; its source is the destination itself.
    private func local(_ position: Int, _ flow: ProbeFlow) -> FoundRoute {
        let preferred = routes[position].message.preferredSource ?? flow.destination
        let source = flow.source.isUnspecified ? preferred : flow.source
        let device = firstNextHop(at: position)?.interface ?? LookupModel.loopbackIndex
        let master = model.layer3Domain(of: device) ?? LookupModel.loopbackIndex
        var route = found(position, .init(interface: master, source: source), [], device)
        route.sourceDependsOnDestination = true
        return route
    }

    /// The next hop that `fib_info_nhc(…, 0)` gives: the first, whether it is usable or not.
    func firstNextHop(at position: Int) -> NextHop? {
        let nextHops = model.nextHops(ofObject: routes[position].message.nexthopID)
        return nextHops.map(\.first) ?? routes[position].message.nextHops.first
    }

    private func nextHop(_ nextHop: NextHop, of position: Int, _ flow: ProbeFlow) -> SelectedNextHop {
        .init(
            interface: nextHop.interface,
            gateway: isDirect(nextHop, position) ? nil : nextHop.gateway,
            source: flow.source.isUnspecified ? source(for: nextHop, of: position) : flow.source
        )
    }

    /// A gateway that is this interface's own address makes a direct route; broadcast routes have no gateway.
    private func isDirect(_ nextHop: NextHop, _ position: Int) -> Bool {
        guard let gateway = nextHop.gateway else { return true }
        if routes[position].message.type == .broadcast || routes[position].message.type == .multicast { return true }
        guard let own = model.snapshot.addresses[nextHop.interface] else { return false }
        for index in own.indices where own[index].address == gateway { return true }
        return false
    }

    private func source(for nextHop: NextHop, of position: Int) -> IPAddress? {
        if let preferred = routes[position].message.preferredSource { return preferred }
        let isForeign = routes[position].message.nexthopID != nil && nextHop.gateway?.family == .ipv6
        let gateway = isForeign ? 0 : nextHop.gateway.map { $0.bits & ~0 << 96 } ?? 0
        return model.ipv4Source(through: nextHop.interface, gateway: gateway, scope: routes[position].message.scope)
    }

    /// The kernel sends nothing from 127.0.0.0/8 through another interface than the loopback (`__mkroute_output`).
    private func isMartian(_ nextHop: SelectedNextHop) -> Bool {
        guard let source = nextHop.source, source.isLoopback else { return false }
        guard let position = model.snapshot.linkPosition(nextHop.interface) else { return false }
        let link = model.snapshot.links[position]
        return !link.flags.contains(.loopback) && !link.isVRF
    }
}

/// The choice among default routes of equal metric, which follows the state of their gateways (`fib_select_default`).
extension IPv4Table {
    /// Whether the choice comes up: a unicast default route with one next hop, and behind it another of its metric.
    ///
    /// The kernel looks for rivals wherever a table has several defaults, but those before the selected one, which were
    /// skipped, only keep it from finding any.
    func isAmongDefaults(_ position: Int) -> Bool {
        let next = position + 1
        guard next < routes.count, routes[next].message.metric == routes[position].message.metric else { return false }
        guard routes[position].message.destination.length == 0, routes[position].message.type == .unicast else {
            return false
        }
        return nextHops(at: position).count == 1
    }

    /// Returns the positions of the routes that may be chosen.
    ///
    /// Where several gateways' entries are valid but not reachable, the kernel takes turns, and remembers whose turn
    /// it where nothing can read it: so every route that some turn would choose is returned.
    func equalDefaults(_ selected: Int) -> [Int] {
        let rivals = rivals(of: selected)
        guard rivals.count > 1 else { return [selected] }
        let states = rivals.map { firstNextHop(at: $0).flatMap { model.neighbour(of: $0) } }
        var chosen: [Int] = []
        for turn in -1..<rivals.count {
            let choice = rivals[Self.choice(among: states, turn: turn) ?? 0]
            if !chosen.contains(choice) { chosen.append(choice) }
        }
        return chosen
    }

    /// Returns the routes that compete: as good as the selected one, through a gateway, without others in between.
    ///
    /// One with several next hops competes, and wins, with its first, even where that is dead.
    private func rivals(of selected: Int) -> [Int] {
        var rivals: [Int] = []
        var metric = routes[selected].message.metric
        for position in routes.indices where routes[position].message.destination.length == 0 {
            let message = routes[position].message
            guard message.tos == 0 else { continue }
            if message.metric > metric { break }
            guard hasLiveNextHop(at: position) else { continue }
            metric = message.metric
            guard message.scope == routes[selected].message.scope, message.type == .unicast,
                firstNextHop(at: position)?.gateway != nil
            else { continue }
            if rivals.isEmpty, position != selected { break }
            rivals.append(position)
        }
        return rivals
    }

    /// Whether the route has a next hop whose device is up: a missing carrier does not count here.
    private func hasLiveNextHop(at position: Int) -> Bool {
        nextHops(at: position).contains { nextHop in
            guard let place = model.snapshot.linkPosition(nextHop.interface) else { return false }
            return model.snapshot.links[place].flags.contains(.up) && !nextHop.flags.contains(.dead)
                && !model.excluded.contains(nextHop.interface)
        }
    }

    private func nextHops(at position: Int) -> [NextHop] {
        model.nextHops(ofObject: routes[position].message.nexthopID) ?? routes[position].message.nextHops
    }

    /// Returns the route that `fib_detect_death` chooses after a route's turn; nil if the selected route stays.
    private static func choice(among states: [NeighbourState?], turn: Int) -> Int? {
        var lastResort: Int?
        for order in states.indices {
            guard let state = states[order], state != .reachable else { return order }
            let isValid = !state.isDisjoint(with: .valid)
            if isValid, order != turn { return order }
            if isValid || (lastResort == nil && order > turn && state != .incomplete) { lastResort = order }
        }
        return lastResort
    }
}
