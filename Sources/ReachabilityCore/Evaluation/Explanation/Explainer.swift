/// Explains the decisions of a lookup, by repeating its steps with parts of the model.
struct Explainer {
    let model: LookupModel
    let context: EvaluationContext

    /// Explains one family's evaluation.
    func explain(_ family: AddressFamily, _ evaluation: FamilyEvaluation) -> FamilyExplanation {
        let probes = zip(ProbeAddresses.of(family), evaluation.outcomes).map { explain($0, $1) }
        return .init(
            family: family,
            path: evaluation.path,
            reasons: evaluation.reasons,
            probes: probes,
            unconsultedTables: unconsultedTables(family, probes),
            detour: evaluation.path == nil ? detour(family) : nil
        )
    }

    /// Follows the lookups of connect(2).
    private func explain(_ destination: IPAddress, _ outcome: LookupOutcome) -> ProbeExplanation {
        let flow = ProbeFlow(to: destination, user: context.user)
        var lookups = [explain(flow)]
        if let source = secondSource(flow) {
            var bound = flow
            bound.source = source
            let second = explain(bound)
            if second.steps != lookups[0].steps { lookups.append(second) }
        }
        return .init(destination: destination, outcome: outcome, lookups: lookups)
    }

    /// The source of the second lookup, if it may end differently from the first.
    private func secondSource(_ flow: ProbeFlow) -> IPAddress? {
        let connection = Connection.run(flow, model)
        switch (flow.family, connection.first) {
        case (.ipv4, .selected(let first)):
            guard connection.outcome != connection.first else { return nil }
            if case .selected(let second) = connection.outcome { return second.nextHop.source }
            return first.nextHop.source
        case (.ipv6, .refused): return model.ipv6Source(to: flow.destination, through: nil)
        default: return nil
        }
    }

    private func unconsultedTables(_ family: AddressFamily, _ probes: [ProbeExplanation]) -> [UnconsultedTable] {
        let steps = probes.flatMap(\.lookups).flatMap(\.steps)
        let consulted = Set(steps.filter { $0.rule.action == .lookup }.map(\.rule.table))
        let keys = model.snapshot.routes.keys.filter { $0.family == family && !consulted.contains($0.table) }
        return keys.sorted().compactMap { key in
            guard let routes = model.snapshot.routes[key]?.elements, !routes.isEmpty else { return nil }
            let vrf = model.snapshot.links.first { $0.isVRF && $0.vrfTable == key.table.rawValue }
            let rules = model.snapshot.rules(family).filter { $0.action == .lookup && $0.table == key.table }
            return .init(table: key.table, routes: routes, rules: rules, vrf: vrf?.index)
        }
    }
}

// MARK: - Alternatives

extension Explainer {
    /// Removes the interfaces without carrier that the kernel prefers, one by one, until there is a usable path.
    private func detour(_ family: AddressFamily) -> Detour? {
        var excluded: [InterfaceIndex] = []
        while true {
            let detour = LookupModel(model.snapshot, at: model.now, excluding: excluded)
            let outcomes = ProbeAddresses.of(family).map {
                Connection.run(.init(to: $0, user: context.user), detour).outcome
            }
            if let path = FamilyEvaluator(detour, context).evaluation(of: outcomes).path {
                return excluded.isEmpty ? nil : .init(interfaces: excluded, path: path)
            }
            let obstacles = outcomes.compactMap { obstacle($0, family) }.filter { !excluded.contains($0) }
            guard let obstacle = obstacles.first else { return nil }
            excluded.append(obstacle)
        }
    }

    /// The interface without carrier that an outcome leads through, if the kernel can be configured to skip it.
    private func obstacle(_ outcome: LookupOutcome, _ family: AddressFamily) -> InterfaceIndex? {
        guard case .selected(let selection) = outcome else { return nil }
        let index = selection.nextHop.interface
        guard let position = model.snapshot.linkPosition(index),
            let fault = Usability.fault(ofLinkAt: position, model), fault == .noCarrier || fault == .associating
        else { return nil }
        let flags = model.snapshot.links[position].flags
        return family == .ipv6 || flags.isDisjoint(with: [.running, .lowerUp]) ? index : nil
    }
}

extension Explainer {
    /// Follows one walk through the rules.
    func explain(_ flow: ProbeFlow) -> LookupExplanation {
        var walk = RuleWalk(flow, model)
        walk.trace = []
        let outcome = walk.run()
        let walked = walk.trace ?? []
        // Only this outcome may mean that no rule had a result.
        let isDecided = outcome != .refused(errno: LookupErrno.networkUnreachable, .noRoute)
        var steps: [RuleStep] = []
        for position in walked { steps.append(step(position, flow, decides: isDecided && position == walked.last)) }
        steps += unreached(walked, flow)
        return .init(source: flow.source.isUnspecified ? nil : flow.source, outcome: outcome, steps: steps)
    }

    private func step(_ position: Int, _ flow: ProbeFlow, decides: Bool) -> RuleStep {
        let rules = model.snapshot.rules(flow.family)
        let rule = rules[position]
        switch rule.action {
        case .goto:
            return .init(
                rule: rule,
                result: .continues(RuleWalk.target(of: position, in: rules).map { rules[$0].priority })
            )
        case .noOperation: return .init(rule: rule, result: .nothing)
        case .lookup:
            let candidates = candidates(of: rule.table, flow, isTaken: decides)
            return .init(rule: rule, result: decides ? .decides : passing(rule, flow), candidates: candidates)
        default: return .init(rule: rule, result: .refuses(RuleWalk.refusal(rule.action)))
        }
    }

    /// Returns why the walk continued after a rule that leads to a table.
    private func passing(_ rule: RuleMessage, _ flow: ProbeFlow) -> RuleStep.Result {
        let needsSource = flow.family == .ipv6 && rule.source.length > 0 && flow.source.isUnspecified
        switch model.lookup(flow, in: rule.table) {
        case .none, .thrown: return .noResult
        case .refused: return needsSource ? .otherSource : .refusalPassedOver
        case .found(let route):
            if let limit = rule.suppressPrefixLength, Int32(route.prefixLength) <= limit {
                return .suppressedPrefix(limit)
            }
            return rule.suppressInterfaceGroup.map { .suppressedGroup($0) } ?? .otherSource
        }
    }

    /// The rules that would match, and lead to tables that were not consulted.
    private func unreached(_ walked: [Int], _ flow: ProbeFlow) -> [RuleStep] {
        let rules = model.snapshot.rules(flow.family)
        var seen = Set(walked.filter { rules[$0].action == .lookup }.map { rules[$0].table })
        var steps: [RuleStep] = []
        for position in rules.indices where !walked.contains(position) {
            let rule = rules[position]
            guard rule.action == .lookup, rule.matches(flow, hasSource: !flow.source.isUnspecified, model),
                seen.insert(rule.table).inserted
            else { continue }
            let routes = model.snapshot.routes(flow.family, rule.table)
            let candidates = routes.map { candidate($0, rule.table, flow, .notReached) }
            if !candidates.isEmpty { steps.append(.init(rule: rule, result: .notReached, candidates: candidates)) }
        }
        return steps
    }
}

extension Explainer {
    /// The default-like routes of a table, each compared with the table's own result.
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

    /// Returns a route, and whether it would be usable.
    func candidate(
        _ route: Route,
        _ table: RouteTableID,
        _ flow: ProbeFlow,
        _ verdict: RouteCandidate.Verdict
    ) -> RouteCandidate {
        var outcomes: [LookupOutcome] = []
        switch model.lookup(flow, in: [route], of: table) {
        case .none, .thrown: break
        case .refused(let errno, let reason, _): outcomes = [.refused(errno: errno, reason)]
        case .found(let found): outcomes = [found.outcome(model)]
        }
        let evaluation = FamilyEvaluator(model, context).evaluation(of: outcomes)
        return .init(
            route: route,
            verdict: verdict,
            nextHops: nextHops(of: route),
            isUsable: evaluation.path != nil,
            reasons: evaluation.reasons
        )
    }

    /// Returns the positions of the routes that may be the table's result; none if it has no result.
    ///
    /// A result contains its route's expiry: with a unique expiry for each route, it identifies the route.
    private func chosen(of routes: [Route], _ table: RouteTableID, _ flow: ProbeFlow) -> [Int] {
        var marked = routes
        for position in routes.indices where !isExpired(routes[position]) {
            marked[position].expiry = .init(nanoseconds: .max - Int64(position))
        }
        let mark: Instant?
        switch model.lookup(flow, in: marked, of: table) {
        case .none, .thrown: return []
        case .refused(_, _, let expiry): mark = expiry
        case .found(let found): mark = found.expiry
        }
        guard let mark, let position = marked.firstIndex(where: { $0.expiry == mark }) else { return [] }
        guard flow.family == .ipv4 else { return [position] }
        let ipv4 = IPv4Table(routes: routes, table: table, model: model)
        return ipv4.isAmongDefaults(position) ? ipv4.equalDefaults(position) : [position]
    }

    /// Returns why a route is not the table's result.
    private func verdict(
        _ position: Int,
        of routes: [Route],
        _ table: RouteTableID,
        _ flow: ProbeFlow,
        chosen: Int?
    ) -> RouteCandidate.Verdict {
        let route = routes[position]
        switch model.lookup(flow, in: [route], of: table) {
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

    /// Returns why a route would not be the result even if it were alone.
    private func fault(of route: Route, _ flow: ProbeFlow) -> RouteCandidate.Verdict {
        let message = route.message
        if !message.destination.contains(flow.destination) { return .otherDestination }
        if flow.family == .ipv4, message.tos != 0 { return .otherService }
        if !message.source.contains(flow.source) { return .otherSource }
        if isExpired(route) { return .expired }
        return message.type == .throw ? .throwing : .nextHopsUnusable
    }

    private func isExpired(_ route: Route) -> Bool {
        guard route.message.family == .ipv6, let expiry = route.expiry else { return false }
        return expiry < model.now
    }

    private func hasFailedGateway(_ route: Route) -> Bool {
        let nextHops = nextHops(of: route)
        return !nextHops.isEmpty && nextHops.allSatisfy { $0.fate == .gatewayFailed }
    }

    /// Returns what makes a route better than another; nil if it is not.
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

// MARK: - Next hops

extension Explainer {
    /// A route's next hops, or those of its nexthop object.
    private func nextHops(of route: Route) -> [NextHopExplanation] {
        let object = route.message.nexthopID.flatMap(model.snapshot.nexthops.object)
        switch object {
        case .blackhole: return []
        case .nextHops(let nextHops):
            return nextHops.map { .init(nextHop: $0, fate: fate(of: $0, route.message.family)) }
        case nil: return route.message.nextHops.map { .init(nextHop: $0, fate: fate(of: $0, route.message.family)) }
        }
    }

    private func fate(of nextHop: NextHop, _ family: AddressFamily) -> NextHopExplanation.Fate {
        guard let position = model.snapshot.linkPosition(nextHop.interface) else { return .noInterface }
        guard model.snapshot.links[position].flags.contains(.up) else { return .interfaceDown }
        var unmarked = nextHop
        unmarked.flags.remove(.dead)
        switch family {
        case .ipv4:
            if model.isOut(unmarked, .ipv4) { return .ignored }
            if model.isOut(nextHop, .ipv4) { return .dead }
        case .ipv6:
            if model.isOut(nextHop, .ipv6) { return .ignored }
            let isRouter = model.snapshot.settings[.init(.ipv6, NetconfMessage.allInterfaces)]?.forwarding ?? false
            if !IPv6RouteScore.isReachable(nextHop, !isRouter, model) { return .gatewayFailed }
        }
        return Usability.fault(ofLinkAt: position, model).map { .useless($0) } ?? .usable
    }
}

/// Why the kind of an interface is not known; a rule of the user's would determine it.
public enum InterfaceHint: Sendable, Hashable {
    /// Its driver, here by its name, serves tethered phones as well as Ethernet adapters.
    case tethering(driver: String)
    /// A point-to-point session, which may run over a modem or over DSL.
    case pointToPoint
    /// Its device could not be identified, and why.
    case unidentified(String)
}

/// The basis on which a tunnel's carrier was found.
package enum TunnelBasis: Sendable, Hashable {
    /// The kernel reported its route to the tunnel's endpoint.
    case endpoint(IPAddress)
    /// The endpoint is known; the best default path that does not lead through the tunnel is assumed to lead there.
    case defaultPath(to: IPAddress)
    /// The endpoint is not known, for a reason if there is one; the best default path outside the tunnel is assumed.
    case anyDefaultPath(String?)
}

extension Explainer {
    /// Returns why an interface's kind is not known; nil if it is.
    func hint(about interface: NetworkInterface) -> InterfaceHint? {
        guard interface.kindSource != .rule, let link = model.snapshot.link(interface.index) else { return nil }
        if link.kind == "ppp" || (link.kind == nil && link.hardwareType == .ppp) { return .pointToPoint }
        guard link.kind == nil, let device = model.snapshot.devices[interface.index] else { return nil }
        if interface.kind == .other, case .failed(let why) = device.probe { return .unidentified(why) }
        guard interface.kind == .wired, let driver = device.driver, DeviceDriver(driver) == .tethering else {
            return nil
        }
        return .tethering(driver: driver)
    }

    /// Returns the basis on which an interface's carrier was found; nil if it is no tunnel, or names its lower interface.
    func basis(of interface: NetworkInterface) -> TunnelBasis? {
        guard interface.kind == .tunnel, let link = model.snapshot.link(interface.index), link.lowerIndex == nil else {
            return nil
        }
        if let endpoint = model.snapshot.tunnels.endpoint(of: link) {
            let isKnown = model.snapshot.tunnels.egress[endpoint] != nil
            return isKnown ? .endpoint(endpoint.address) : .defaultPath(to: endpoint.address)
        }
        guard case .failed(let why) = model.snapshot.devices[interface.index]?.probe else {
            return .anyDefaultPath(nil)
        }
        return .anyDefaultPath(why)
    }
}
