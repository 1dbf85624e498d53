extension Explainer {
    /// A table's default-like routes, each held against the table's own answer.
    func candidates(of table: RouteTableID, _ flow: ProbeFlow, isTaken: Bool) -> [RouteCandidate] {
        let routes = model.snapshot.routes(flow.family, table)
        let chosen = chosen(of: routes, table, flow)
        return routes.indices.map { position in
            let verdict: RouteCandidate.Verdict =
                chosen.contains(position)
                ? isTaken ? .chosen : .notTaken
                : verdict(position, of: routes, table, flow, chosen: chosen.first)
            return candidate(routes[position], table, flow, verdict)
        }
    }

    /// A route, and how it would do by itself.
    func candidate(
        _ route: Route,
        _ table: RouteTableID,
        _ flow: ProbeFlow,
        _ verdict: RouteCandidate.Verdict
    ) -> RouteCandidate {
        var judge = FamilyJudge(model, context)
        var outcomes: [LookupOutcome] = []
        switch model.answer(to: flow, from: [route], of: table) {
        case .none, .thrown: break
        case .refused(let errno, let reason, _): outcomes = [.refused(errno: errno, reason)]
        case .found(let found): outcomes = [found.outcome(model)]
        }
        for outcome in outcomes { judge.judge(outcome) }
        let evaluation = judge.evaluation(of: outcomes, nextExpiry: nil)
        return .init(
            route: route,
            verdict: verdict,
            legs: legs(of: route),
            isUsable: evaluation.path != nil,
            reasons: evaluation.reasons
        )
    }

    /// The places of the routes that the table's answer may be; none if it has no answer.
    ///
    /// An answer tells its route's expiry: given each its own, far away, it tells the route.
    private func chosen(of routes: [Route], _ table: RouteTableID, _ flow: ProbeFlow) -> [Int] {
        var marked = routes
        for position in routes.indices where !isExpired(routes[position]) {
            marked[position].expiry = .init(nanoseconds: .max - Int64(position))
        }
        let mark: Instant?
        switch model.answer(to: flow, from: marked, of: table) {
        case .none, .thrown: return []
        case .refused(_, _, let expiry): mark = expiry
        case .found(let found): mark = found.expiry
        }
        guard let mark, let position = marked.firstIndex(where: { $0.expiry == mark }) else { return [] }
        guard flow.family == .ipv4 else { return [position] }
        let ipv4 = IPv4Table(routes, table, model)
        return ipv4.isAmongDefaults(position) ? ipv4.equalDefaults(position) : [position]
    }

    /// Why a route is not the table's answer.
    private func verdict(
        _ position: Int,
        of routes: [Route],
        _ table: RouteTableID,
        _ flow: ProbeFlow,
        chosen: Int?
    ) -> RouteCandidate.Verdict {
        let route = routes[position]
        switch model.answer(to: flow, from: [route], of: table) {
        case .none, .thrown: return fault(of: route, flow)
        case .refused, .found: break
        }
        guard let chosen else {
            let isBehind = routes[..<position].contains {
                $0.message.type == .throw && fault(of: $0, flow) == .throwing
            }
            return isBehind ? .behindThrow : .hidden
        }
        if hasFailedGateway(route) { return .gatewayFailed }
        return advantage(of: routes[chosen].message, over: route.message).map { .beaten(by: $0) } ?? .hidden
    }

    /// Why a route gives no answer even by itself.
    private func fault(of route: Route, _ flow: ProbeFlow) -> RouteCandidate.Verdict {
        let message = route.message
        if !message.destination.contains(flow.destination) { return .otherDestination }
        if flow.family == .ipv4, message.tos != 0 { return .otherService }
        if !message.source.contains(flow.source) { return .otherSource }
        if isExpired(route) { return .expired }
        return message.type == .throw ? .throwing : .legsOut
    }

    private func isExpired(_ route: Route) -> Bool {
        guard route.message.family == .ipv6, let expiry = route.expiry else { return false }
        return expiry < model.now
    }

    private func hasFailedGateway(_ route: Route) -> Bool {
        let legs = legs(of: route)
        return !legs.isEmpty && legs.allSatisfy { $0.fate == .gatewayFailed }
    }

    /// What makes a route better than another; nil if it is not.
    private func advantage(of winner: RouteMessage, over loser: RouteMessage) -> RouteCandidate.Advantage? {
        if winner.destination.length != loser.destination.length {
            return winner.destination.length > loser.destination.length ? .longerPrefix : nil
        }
        if winner.source.length != loser.source.length {
            return winner.source.length > loser.source.length ? .longerSource : nil
        }
        if winner.metric != loser.metric { return winner.metric < loser.metric ? .metric : nil }
        return winner.preference == loser.preference ? .order : .preference
    }
}

// MARK: - Legs

extension Explainer {
    /// A route's legs, or those of its nexthop object.
    private func legs(of route: Route) -> [LegExplanation] {
        let object = route.message.nexthopID.flatMap(model.snapshot.nexthopObject)
        switch object {
        case .blackhole: return []
        case .legs(let legs): return legs.map { .init(leg: $0, fate: fate(of: $0, route.message.family)) }
        case nil: return route.message.legs.map { .init(leg: $0, fate: fate(of: $0, route.message.family)) }
        }
    }

    private func fate(of leg: RouteLeg, _ family: AddressFamily) -> LegExplanation.Fate {
        guard let position = model.snapshot.linkPosition(leg.interface) else { return .noInterface }
        guard model.snapshot.links[position].flags.contains(.up) else { return .interfaceDown }
        var unmarked = leg
        unmarked.flags.remove(.dead)
        switch family {
        case .ipv4:
            if model.isOut(unmarked, .ipv4) { return .ignored }
            if model.isOut(leg, .ipv4) { return .dead }
        case .ipv6:
            if model.isOut(leg, .ipv6) { return .ignored }
            let isRouter = model.snapshot.settings[.init(.ipv6, NetconfMessage.allInterfaces)]?.forwarding ?? false
            if !IPv6RouteScore.isReachable(leg, !isRouter, model) { return .gatewayFailed }
        }
        return LegJudgement.fault(ofLinkAt: position, model).map { .useless($0) } ?? .usable
    }
}
