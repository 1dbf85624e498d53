extension IPv4Table {
    /// Chooses among a route's legs, or among equal default routes, and selects the source (`fib_select_path`).
    func select(_ position: Int, _ legs: Choices, _ flow: ProbeFlow) -> TableAnswer {
        if routes[position].message.type == .local { return .found(local(position, flow)) }
        let chosen: [SelectedLeg]
        switch legs {
        case .several(let several): chosen = several.map { leg($0, of: position, flow) }
        case .one(let one):
            guard isAmongDefaults(position) else { return answer(position, leg(one, of: position, flow), [], legs) }
            chosen = equalDefaults(position).map { leg(firstLeg(at: $0) ?? one, of: $0, flow) }
        }
        return answer(position, chosen[0], chosen, legs)
    }

    private func answer(
        _ position: Int,
        _ leg: SelectedLeg,
        _ alternatives: [SelectedLeg],
        _ legs: Choices
    ) -> TableAnswer {
        guard !isMartian(leg) else {
            return .refused(errno: LookupErrno.invalid, .loopbackSource, expiry: nil)
        }
        let group = firstLeg(at: position)?.interface ?? legs.first.interface
        return .found(found(position, leg, alternatives.count > 1 ? alternatives : [], group))
    }

    private func found(
        _ position: Int,
        _ leg: SelectedLeg,
        _ alternatives: [SelectedLeg],
        _ group: InterfaceIndex
    ) -> FoundRoute {
        .init(
            table: table,
            prefixLength: routes[position].message.destination.length,
            type: type(at: position),
            metric: routes[position].message.metric,
            expiry: routes[position].expiry,
            leg: leg,
            alternatives: alternatives,
            groupInterface: group
        )
    }

    /// A route of type local delivers to this host, whatever device it names; its source is the destination itself.
    private func local(_ position: Int, _ flow: ProbeFlow) -> FoundRoute {
        let preferred = routes[position].message.preferredSource ?? flow.destination
        let source = flow.source.isUnspecified ? preferred : flow.source
        let device = firstLeg(at: position)?.interface ?? LookupModel.loopbackIndex
        let master = model.layer3Domain(of: device) ?? LookupModel.loopbackIndex
        var route = found(position, .init(interface: master, source: source), [], device)
        route.sourceDependsOnDestination = true
        return route
    }

    /// The leg that `fib_info_nhc(…, 0)` gives: the first, whether it is usable or not.
    func firstLeg(at position: Int) -> RouteLeg? {
        if let id = routes[position].message.nexthopID, case .legs(let legs)? = model.snapshot.nexthopObject(id) {
            return legs.first
        }
        return routes[position].message.legs.first
    }

    private func leg(_ leg: RouteLeg, of position: Int, _ flow: ProbeFlow) -> SelectedLeg {
        .init(
            interface: leg.interface,
            gateway: isDirect(leg, position) ? nil : leg.gateway,
            source: flow.source.isUnspecified ? source(for: leg, of: position) : flow.source
        )
    }

    /// A gateway that is this interface's own address makes a direct route; broadcast routes have no gateway.
    private func isDirect(_ leg: RouteLeg, _ position: Int) -> Bool {
        guard let gateway = leg.gateway else { return true }
        if routes[position].message.type == .broadcast || routes[position].message.type == .multicast { return true }
        guard let own = model.snapshot.addresses[leg.interface] else { return false }
        for index in own.indices where own[index].address == gateway { return true }
        return false
    }

    private func source(for leg: RouteLeg, of position: Int) -> IPAddress? {
        if let preferred = routes[position].message.preferredSource { return preferred }
        let isForeign = routes[position].message.nexthopID != nil && leg.gateway?.family == .ipv6
        let gateway = isForeign ? 0 : leg.gateway.map { $0.bits & ~0 << 96 } ?? 0
        return model.ipv4Source(through: leg.interface, gateway: gateway, scope: routes[position].message.scope)
    }

    /// The kernel sends nothing from 127.0.0.0/8 through another interface than the loopback (`__mkroute_output`).
    private func isMartian(_ leg: SelectedLeg) -> Bool {
        guard let source = leg.source, source.isLoopback else { return false }
        guard let position = model.snapshot.linkPosition(leg.interface) else { return false }
        let link = model.snapshot.links[position]
        return !link.flags.contains(.loopback) && !link.isVRF
    }
}
