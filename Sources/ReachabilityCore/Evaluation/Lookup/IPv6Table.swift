/// A look-up in one IPv6 table (`fib6_table_lookup`).
struct IPv6Table {
    let routes: [Route]
    let table: RouteTableID
    let model: LookupModel
    /// Whether gateways whose neighbour entry has failed are passed over at first: on hosts, not on routers.
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

    /// The best route of the longest prefix that has one; if none is reachable, the best that is not.
    func look(up flow: ProbeFlow) -> TableAnswer {
        if let match = match(flow, reachable: prefersReachable) { return answer(match, flow) }
        guard prefersReachable, !model.snapshot.neighbours.isEmpty else { return .none }
        return match(flow, reachable: false).map { answer($0, flow) } ?? .none
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

    /// What a table's choice among its routes is.
    enum Match {
        /// A route, and the leg that scored best.
        case route(Int, RouteLeg)
        /// A route that refuses by its type.
        case refusal(Int)
        /// A route whose nexthop object is a blackhole.
        case blackhole(Int)
    }
}
