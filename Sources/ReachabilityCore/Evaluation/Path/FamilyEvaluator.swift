/// Evaluates the lookups of one address family: whether each has a usable path, and through which interface.
struct FamilyEvaluator {
    private let model: LookupModel
    private let context: EvaluationContext
    /// Whether the packets stay on one link, where a link-local source is usable, and the destination may be a group.
    private let isWithinLink: Bool
    /// An earlier path whose interface carries it alone, so that it need not be evaluated again.
    private let known: FamilyPath?
    /// The path so far: the worst of the probes' paths.
    private var path: FamilyPath?
    private var isUsable = true
    private var reasons: [ReachabilityReason] = []
    private var tunnels: [InterfaceIndex] = []

    init(
        _ model: LookupModel,
        _ context: EvaluationContext,
        withinLink isWithinLink: Bool = false,
        knowing known: FamilyPath? = nil
    ) {
        self.model = model
        self.context = context
        self.isWithinLink = isWithinLink
        self.known = known
    }

    /// Evaluates one probe's final lookup.
    mutating func evaluate(_ outcome: LookupOutcome) {
        switch outcome {
        case .refused(_, let reason): reject(reason)
        case .selected(let selection):
            if let fault = fault(of: selection.type) { return reject(fault) }
            if selection.hasOneNextHop {
                evaluate(selection.nextHop, selection)
            } else {
                evaluateAlternatives(of: selection)
            }
        }
    }

    /// Adds a reason, once.
    mutating func note(_ reason: ReachabilityReason) {
        if !reasons.contains(reason) { reasons.append(reason) }
    }

    /// Returns the evaluation of final lookups, before which none was evaluated.
    func evaluation(of outcomes: [LookupOutcome]) -> FamilyEvaluation {
        var evaluator = self
        for outcome in outcomes { evaluator.evaluate(outcome) }
        return evaluator.evaluation(of: outcomes, nextExpiry: nil)
    }

    /// Returns the family's evaluation: usable if every probe has a path.
    consuming func evaluation(of outcomes: [LookupOutcome], nextExpiry: Instant?) -> FamilyEvaluation {
        let isUsable = isUsable && !outcomes.isEmpty
        return .init(
            outcomes: outcomes,
            path: isUsable ? path : nil,
            reasons: reasons,
            nextExpiry: nextExpiry,
            tunnels: tunnels
        )
    }

    private mutating func reject(_ reason: ReachabilityReason) {
        note(reason)
        isUsable = false
    }

    /// Returns why routes of a type are not usable: only unicast routes lead out; those of type local deliver to this
    /// host.
    private func fault(of type: RouteType) -> ReachabilityReason? {
        switch type {
        case .unicast: nil
        case .broadcast, .multicast: isWithinLink ? nil : .noRoute
        case .local, .anycast: .loopbackPath
        default: .noRoute
        }
    }

    private mutating func evaluate(_ nextHop: SelectedNextHop, _ selection: RouteSelection) {
        switch egress(of: nextHop) {
        case .failure(let fault): reject(fault.reason)
        case .success(let egress): keep([egress], selection)
        }
    }

    /// Any next hop that can be used is enough; one that cannot is a reason besides.
    ///
    /// Those that only some kernels choose make no path usable, and add what they cost.
    private mutating func evaluateAlternatives(of selection: RouteSelection) {
        var usable: [Egress] = []
        var firstFault: ReachabilityReason?
        for nextHop in selection.alternatives.isEmpty ? [selection.nextHop] : selection.alternatives {
            switch egress(of: nextHop) {
            case .success(let egress): usable.append(egress)
            case .failure(let fault): firstFault = firstFault ?? fault.reason
            }
        }
        guard !usable.isEmpty else { return reject(firstFault ?? .noRoute) }
        for nextHop in selection.unpreferred {
            if case .success(let egress) = egress(of: nextHop) { usable.append(egress) }
        }
        keep(usable, selection)
        if firstFault != nil || !selection.refusals.isEmpty { note(.deadNextHop) }
    }

    /// A next hop that can be used, with the interfaces that carry its packets.
    private struct Egress {
        let nextHop: SelectedNextHop
        let interface: NetworkInterface
        let carriers: [NetworkInterface]

        /// Whether its packets leave through a modem, whichever carrier they take.
        var isCellular: Bool { !carriers.isEmpty && carriers.allSatisfy { $0.kind == .cellular } }
    }

    private mutating func egress(of nextHop: SelectedNextHop) -> Result<Egress, Fault> {
        switch carrier(of: nextHop) {
        case .failure(let fault): return .failure(fault)
        case .success(let carrier):
            if let known, known.interface.index == nextHop.interface, carrier == nextHop.interface {
                return .success(.init(nextHop: nextHop, interface: known.interface, carriers: known.carriers))
            }
            guard let interface = CarrierResolver.describe(nextHop.interface, model, context) else {
                return .failure(.init(reason: .interfaceDown))
            }
            return carriers(of: interface, carriedBy: carrier).map {
                .init(nextHop: nextHop, interface: interface, carriers: $0)
            }
        }
    }

    /// Keeps the path if it is worse than the one so far.
    ///
    /// Packets may take any of several next hops, so that the path is cellular if one of them is.
    private mutating func keep(_ egresses: [Egress], _ selection: RouteSelection) {
        let first = egresses[0]
        let isCellular = egresses.contains { $0.isCellular }
        guard path == nil || (isCellular && path?.status != .cellular) else { return }
        var carriers = first.carriers
        for egress in egresses.dropFirst() {
            for carrier in egress.carriers where !carriers.contains(carrier) { carriers.append(carrier) }
        }
        let cost = PathCost(context: context, devices: model.snapshot.devices)
        path = FamilyPath(
            status: isCellular ? .cellular : .wifi,
            interface: first.interface,
            carriers: carriers,
            gateway: first.nextHop.gateway,
            source: first.nextHop.source ?? .init(family: .ipv4, bits: 0),
            metric: selection.metric,
            table: first.nextHop.table ?? selection.table,
            isExpensive: isCellular || egresses.contains { cost.isExpensive($0.interface, over: $0.carriers) },
            isConstrained: egresses.contains { cost.isConstrained($0.interface, over: $0.carriers) }
        )
    }

    private mutating func carriers(
        of interface: NetworkInterface,
        carriedBy index: InterfaceIndex
    ) -> Result<[NetworkInterface], Fault> {
        if index == interface.index, interface.carriesAlone(model) {
            return .success([interface])
        }
        var resolver = CarrierResolver(model, context)
        let start = index == interface.index ? nil : CarrierResolver.describe(index, model, context)
        resolver.resolve(start ?? interface)
        for tunnel in resolver.tunnels where !tunnels.contains(tunnel) { tunnels.append(tunnel) }
        if let fault = resolver.fault { return .failure(.init(reason: fault)) }
        for reason in resolver.reasons { note(reason) }
        return .success(resolver.carriers)
    }
}

// MARK: - What a next hop leaves through

extension FamilyEvaluator {
    /// The reason why a next hop cannot be used.
    private struct Fault: Error {
        let reason: ReachabilityReason
    }

    /// Returns the interface that carries a next hop's packets: its own, or for a VRF the one that its table leads to.
    private func carrier(of nextHop: SelectedNextHop) -> Result<InterfaceIndex, Fault> {
        guard let position = model.snapshot.linkPosition(nextHop.interface) else {
            return .failure(.init(reason: .interfaceDown))
        }
        if let table = model.snapshot.links[position].vrfTable, model.snapshot.links[position].isVRF {
            return carrier(of: nextHop, throughVRFAt: position, .init(rawValue: table))
        }
        return usable(nextHop.interface, position, nextHop)
    }

    private func usable(
        _ index: InterfaceIndex,
        _ position: Int,
        _ nextHop: SelectedNextHop
    ) -> Result<InterfaceIndex, Fault> {
        if let fault = Usability.fault(ofLinkAt: position, model) { return .failure(.init(reason: fault)) }
        let fault = Usability.fault(ofSourceOf: nextHop, model)
        if isWithinLink, nextHop.source?.isLinkLocal == true { return .success(index) }
        return fault.map { .failure(.init(reason: $0)) } ?? .success(index)
    }

    /// Returns the interface behind a VRF device: packets that reach it are looked up again in its table.
    private func carrier(
        of nextHop: SelectedNextHop,
        throughVRFAt position: Int,
        _ table: RouteTableID
    ) -> Result<InterfaceIndex, Fault> {
        guard model.snapshot.links[position].flags.contains(.up) else {
            return .failure(.init(reason: .interfaceDown))
        }
        guard let inner = innerInterface(nextHop, table), let place = model.snapshot.linkPosition(inner),
            !model.snapshot.links[place].isVRF
        else { return .failure(.init(reason: .noRoute)) }
        return usable(inner, place, nextHop)
    }

    private func innerInterface(_ nextHop: SelectedNextHop, _ table: RouteTableID) -> InterfaceIndex? {
        guard let source = nextHop.source, let probe = ProbeAddresses.of(source.family).first else { return nil }
        var flow = ProbeFlow(to: probe, user: context.user)
        flow.source = source
        guard case .found(let route) = model.lookup(flow, in: table), route.type == .unicast,
            case .selected(let selection) = route.outcome(model)
        else { return nil }
        return selection.nextHop.interface
    }
}

/// Whether a path costs money, or is to be used sparingly: by its carriers, and by what the user declared.
struct PathCost {
    let context: EvaluationContext
    let devices: DeviceTable

    /// Whether traffic through an interface, over its carriers, may be metered.
    func isExpensive(_ interface: NetworkInterface, over carriers: [NetworkInterface]) -> Bool {
        carriers.contains { $0.kind == .cellular || isPhone($0) } || isDeclared(context.expensive, interface, carriers)
    }

    /// Whether the user declared an interface or a carrier of it as one to use sparingly.
    func isConstrained(_ interface: NetworkInterface, over carriers: [NetworkInterface]) -> Bool {
        isDeclared(context.constrained, interface, carriers)
    }

    private func isDeclared(
        _ patterns: [String],
        _ interface: NetworkInterface,
        _ carriers: [NetworkInterface]
    ) -> Bool {
        guard !patterns.isEmpty else { return false }
        return ([interface] + carriers).contains { one in patterns.contains { GlobPattern.matches($0, one.name) } }
    }

    /// Whether the other end is a phone that shares its own connection.
    private func isPhone(_ interface: NetworkInterface) -> Bool {
        guard !devices.isEmpty, let device = devices[interface.index] else { return false }
        return device.driver == "ipheth" || device.deviceType == "bluetooth"
    }
}
