/// A lookup in one IPv6 table (`fib6_table_lookup`).
struct IPv6Table {
    let routes: [Route]
    let table: RouteTableID
    let model: LookupModel
    /// Whether gateways whose neighbour entry has failed are skipped at first: on hosts, not on routers.
    let prefersReachable: Bool
    /// Whether a source is to be selected, because the socket has none.
    let selectsSource: Bool

    init(_ routes: [Route], _ table: RouteTableID, _ model: LookupModel, selectsSource: Bool) {
        self.selectsSource = selectsSource
        self.routes = routes
        self.table = table
        self.model = model
        let key = SettingsKey(.ipv6, NetconfMessage.allInterfaces)
        self.prefersReachable = !(model.snapshot.settings[key]?.forwarding ?? false)
    }

    /// Returns the best route of the longest prefix that has one; if none is reachable, the best that is not.
    func lookup(_ flow: ProbeFlow) -> TableResult {
        if let match = match(flow, reachable: prefersReachable) { return result(match, flow) }
        guard prefersReachable, !model.snapshot.neighbours.isEmpty else { return .none }
        return match(flow, reachable: false).map { result($0, flow) } ?? .none
    }

    /// Goes through the prefixes that hold the flow's destination and source, longest first (`fib6_node_lookup`).
    ///
    /// The descent skips a destination's plain routes where it has source-specific ones and none fits the source: it
    /// begins at a shorter destination. Only the default route's plain routes are found even so. Once begun, nothing
    /// is skipped (`fib6_backtrack`).
    private func match(_ flow: ProbeFlow, reachable: Bool) -> Match? {
        var hasBegun = false
        var start = routes.startIndex
        while start < routes.endIndex {
            let end = self.end(ofDestinationAt: start)
            if routes[start].message.destination.contains(flow.destination) {
                if !hasBegun { hasBegun = begins(in: start..<end, flow) }
                if hasBegun, let match = match(in: start..<end, flow, reachable: reachable) { return match }
            }
            start = end
        }
        return nil
    }

    /// Whether the descent ends at this destination.
    private func begins(in range: Range<Int>, _ flow: ProbeFlow) -> Bool {
        guard routes[range.lowerBound].message.source.length > 0 else { return true }
        if routes[range.lowerBound].message.destination.length == 0 { return true }
        return range.contains {
            routes[$0].message.source.length > 0 && routes[$0].message.source.contains(flow.source)
        }
    }

    /// Tries the source prefixes of one destination, longest first; the plain routes come last.
    private func match(in range: Range<Int>, _ flow: ProbeFlow, reachable: Bool) -> Match? {
        var start = range.lowerBound
        while start < range.upperBound {
            let end = self.end(ofSourceAt: start, before: range.upperBound)
            if routes[start].message.source.contains(flow.source),
                let match = IPv6RouteScore(self, reachable: reachable).best(of: start..<end)
            {
                return match
            }
            start = end
        }
        return nil
    }

    /// A route's type; through a nexthop object, that which the object gives it now.
    func type(at position: Int) -> RouteType {
        guard routes[position].message.nexthopID == nil else { return model.snapshot.type(of: routes[position]) }
        return routes[position].message.type
    }

    private func end(ofDestinationAt start: Int) -> Int {
        let destination = routes[start].message.destination
        var end = start + 1
        while end < routes.count, routes[end].message.destination.isSame(as: destination) { end += 1 }
        return end
    }

    private func end(ofSourceAt start: Int, before limit: Int) -> Int {
        let source = routes[start].message.source
        var end = start + 1
        while end < limit, routes[end].message.source.isSame(as: source) { end += 1 }
        return end
    }

    /// A table's choice among its routes.
    enum Match {
        /// A route, and the next hop that scored best.
        case route(Int, NextHop)
        /// A route of a type that refuses.
        case refusal(Int)
        /// A route whose nexthop object is a blackhole.
        case blackhole(Int)
    }
}

extension IPv6Table {
    /// Returns the result for a match, with its next hop chosen and its source selected.
    func result(_ match: Match, _ flow: ProbeFlow) -> TableResult {
        switch match {
        case .blackhole(let position):
            return .refused(errno: LookupErrno.invalid, .blackhole, expiry: routes[position].expiry)
        case .refusal(let position):
            let expiry = routes[position].expiry
            return TableResult.refusal(routes[position].message.type, expiry: expiry) ?? .none
        case .route(let position, let nextHop): return .found(found(position, nextHop, flow))
        }
    }

    private func found(_ position: Int, _ matched: NextHop, _ flow: ProbeFlow) -> FoundRoute {
        let nextHops = choices(at: position, matched)
        var route = FoundRoute(
            table: table,
            prefixLength: routes[position].message.destination.length,
            type: type(at: position),
            metric: routes[position].message.metric,
            expiry: routes[position].expiry,
            nextHop: nextHop(nextHops.first ?? matched, of: position),
            groupInterface: nextHops.count > 1 ? nil : (nextHops.first ?? matched).interface
        )
        selectSource(
            for: &route.nextHop,
            nextHops.first ?? matched,
            of: position,
            flow,
            &route.sourceDependsOnDestination
        )
        guard nextHops.count > 1 else { return route }
        for choice in nextHops {
            var selected = nextHop(choice, of: position)
            selectSource(for: &selected, choice, of: position, flow, &route.sourceDependsOnDestination)
            route.alternatives.append(selected)
        }
        return route
    }

    /// Returns the next hops that the flow's hash may choose (`fib6_select_path`); empty for the matched one alone.
    ///
    /// A next hop whose gateway has failed is replaced by the one that matched.
    private func choices(at position: Int, _ matched: NextHop) -> [NextHop] {
        if let nextHops = model.nextHops(ofObject: routes[position].message.nexthopID) {
            return nextHops.count > 1 ? model.choices(ofGroup: nextHops) : []
        }
        guard routes[position].message.nextHops.count > 1 else { return [] }
        return routes[position].message.nextHops.filter {
            $0 == matched || (!model.isOut($0, .ipv6) && IPv6RouteScore.isReachable($0, prefersReachable, model))
        }
    }

    private func nextHop(_ nextHop: NextHop, of position: Int) -> SelectedNextHop {
        .init(interface: outputInterface(nextHop, position), gateway: nextHop.gateway)
    }

    /// Routes of type local and anycast deliver to this host, through the loopback or the VRF (`ip6_rt_get_dev_rcu`).
    private func outputInterface(_ nextHop: NextHop, _ position: Int) -> InterfaceIndex {
        switch routes[position].message.type {
        case .local, .anycast: model.layer3Domain(of: nextHop.interface) ?? LookupModel.loopbackIndex
        default: nextHop.interface
        }
    }

    /// The route's own source, or the one for its device; for a group of nexthops, for the first member's device.
    private func selectSource(
        for selected: inout SelectedNextHop,
        _ nextHop: NextHop,
        of position: Int,
        _ flow: ProbeFlow,
        _ dependsOnDestination: inout Bool
    ) {
        guard selectsSource else {
            selected.source = flow.source
            return
        }
        selected.source = routes[position].message.preferredSource
        guard selected.source == nil else { return }
        let first = model.nextHops(ofObject: routes[position].message.nexthopID)?.first ?? nextHop
        let choice = model.ipv6SourceChoice(to: flow.destination, through: first.interface)
        selected.source = choice.best
        if choice.dependsOnDestination { dependsOnDestination = true }
    }
}

/// The choice among the routes of one prefix (`rt6_select`, `find_rr_leaf`).
struct IPv6RouteScore {
    private let routes: [Route]
    private let model: LookupModel
    private let reachable: Bool
    private var best: IPv6Table.Match?
    private var bestScore = -1

    /// Makes a choice.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - reachable: Whether gateways whose neighbour entry has failed are skipped (`RT6_LOOKUP_F_REACHABLE`).
    init(_ table: IPv6Table, reachable: Bool) {
        self.routes = table.routes
        self.model = table.model
        self.reachable = reachable
    }

    /// The best route of a prefix: the first with the best score among those of the lowest metric; if none of these
    /// is usable, among all the others, whatever their metric.
    consuming func best(of range: Range<Int>) -> IPv6Table.Match? {
        let metric = routes[range.lowerBound].message.metric
        let rest = range.first { routes[$0].message.metric != metric } ?? range.upperBound
        consider(range.lowerBound..<rest)
        if best == nil { consider(rest..<range.upperBound) }
        return best
    }

    /// Compares routes; one whose nexthop object is a blackhole ends the comparison and wins it.
    private mutating func consider(_ range: Range<Int>) {
        for position in range {
            if let expiry = routes[position].expiry, expiry < model.now { continue }
            if let id = routes[position].message.nexthopID, let object = model.snapshot.nexthops.object(id) {
                guard case .nextHops(let nextHops) = object else {
                    best = .blackhole(position)
                    return
                }
                if let nextHop = nextHops.first(where: { beats($0, position) }) { best = .route(position, nextHop) }
            } else {
                considerOwnNextHops(position)
            }
        }
    }

    private mutating func considerOwnNextHops(_ position: Int) {
        let type = routes[position].message.type
        if TableResult.refusal(type, expiry: nil) != nil {
            if beats(nil, position) { best = .refusal(position) }
            return
        }
        for nextHop in routes[position].message.nextHops.indices
        where beats(routes[position].message.nextHops[nextHop], position) {
            best = .route(position, routes[position].message.nextHops[nextHop])
        }
    }

    /// Returns whether a next hop scores better than the best so far, and records it if so (`find_match`).
    private mutating func beats(_ nextHop: NextHop?, _ position: Int) -> Bool {
        if let nextHop {
            let isLocal = routes[position].message.type == .local || routes[position].message.type == .anycast
            guard !model.isOut(nextHop, .ipv6, needsCarrier: !isLocal), Self.isReachable(nextHop, reachable, model)
            else {
                return false
            }
        }
        let score = Self.score(routes[position].message.preference)
        guard score > bestScore else { return false }
        bestScore = score
        return true
    }

    /// Whether a next hop counts while failed gateways are skipped (`rt6_check_neigh`).
    static func isReachable(_ nextHop: NextHop, _ reachable: Bool, _ model: LookupModel) -> Bool {
        guard reachable, let state = model.neighbour(of: nextHop) else { return true }
        return !state.contains(.failed) || !state.isDisjoint(with: .valid)
    }

    /// `rt6_score_route` without an output interface: what the router's advertisement prefers (RFC 4191).
    private static func score(_ preference: RouterPreference) -> Int {
        switch preference {
        case .high: 3
        case .medium, .invalid: 2
        case .low: 1
        }
    }
}
