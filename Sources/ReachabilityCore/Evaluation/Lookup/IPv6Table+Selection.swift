extension IPv6Table {
    /// The answer that a match stands for, its leg chosen and its source selected.
    func answer(_ match: Match, _ flow: ProbeFlow) -> TableAnswer {
        switch match {
        case .blackhole(let position):
            return .refused(errno: LookupErrno.invalid, .blackhole, expiry: routes[position].expiry)
        case .refusal(let position):
            let expiry = routes[position].expiry
            return TableAnswer.refusal(routes[position].message.type, expiry: expiry) ?? .none
        case .route(let position, let leg):
            return .found(found(position, leg, flow))
        }
    }

    private func found(_ position: Int, _ matched: RouteLeg, _ flow: ProbeFlow) -> FoundRoute {
        let legs = choices(at: position, matched)
        var route = FoundRoute(
            table: table,
            prefixLength: routes[position].message.destination.length,
            type: type(at: position),
            metric: routes[position].message.metric,
            expiry: routes[position].expiry,
            leg: leg(legs.first ?? matched, of: position),
            groupInterface: legs.count > 1 ? nil : (legs.first ?? matched).interface
        )
        selectSource(for: &route.leg, legs.first ?? matched, of: position, flow, &route.sourceDependsOnDestination)
        guard legs.count > 1 else { return route }
        for choice in legs {
            var selected = leg(choice, of: position)
            selectSource(for: &selected, choice, of: position, flow, &route.sourceDependsOnDestination)
            route.alternatives.append(selected)
        }
        return route
    }

    /// The legs that the flow's hash may choose (`fib6_select_path`); empty for the matched one alone.
    ///
    /// A leg whose gateway has failed is replaced by the one that matched.
    private func choices(at position: Int, _ matched: RouteLeg) -> [RouteLeg] {
        if let id = routes[position].message.nexthopID, case .legs(let legs)? = model.snapshot.nexthopObject(id) {
            return legs.count > 1 ? model.choices(ofGroup: legs) : []
        }
        guard routes[position].message.legs.count > 1 else { return [] }
        return routes[position].message.legs.filter {
            $0 == matched || (!model.isOut($0, .ipv6) && IPv6RouteScore.isReachable($0, prefersReachable, model))
        }
    }

    private func leg(_ leg: RouteLeg, of position: Int) -> SelectedLeg {
        .init(interface: outputInterface(leg, position), gateway: leg.gateway)
    }

    /// Routes of type local and anycast deliver to this host, through the loopback or the VRF (`ip6_rt_get_dev_rcu`).
    private func outputInterface(_ leg: RouteLeg, _ position: Int) -> InterfaceIndex {
        switch routes[position].message.type {
        case .local, .anycast: model.layer3Domain(of: leg.interface) ?? LookupModel.loopbackIndex
        default: leg.interface
        }
    }

    /// The route's own source, or the one for its device; for a group of nexthops, for the first member's device.
    private func selectSource(
        for selected: inout SelectedLeg,
        _ leg: RouteLeg,
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
        var device = leg.interface
        if let id = routes[position].message.nexthopID, case .legs(let legs)? = model.snapshot.nexthopObject(id),
            let first = legs.first
        {
            device = first.interface
        }
        let choice = model.ipv6SourceChoice(to: flow.destination, through: device)
        selected.source = choice.best
        if choice.dependsOnDestination { dependsOnDestination = true }
    }
}
