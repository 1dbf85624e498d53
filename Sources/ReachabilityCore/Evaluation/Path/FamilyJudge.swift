/// Judges one family's look-ups: whether each leads out, and through what.
struct FamilyJudge {
    private let model: LookupModel
    private let context: EvaluationContext
    /// Whether the packets stay on one link, where a link-local source does, and a group or all hosts may be meant.
    private let isWithinLink: Bool
    /// A path from before, whose interface carries it alone; that need not be found out again.
    private let known: FamilyPath?
    /// The path so far: the worst of those that the probes have.
    private var path: FamilyPath?
    private var isUsable = true
    private var reasons: [Reason] = []
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

    /// Takes one probe's final look-up into account.
    mutating func judge(_ outcome: LookupOutcome) {
        switch outcome {
        case .refused(_, let reason): reject(reason)
        case .selected(let selection):
            if let fault = fault(of: selection.type) { return reject(fault) }
            if selection.alternatives.isEmpty, selection.unpreferred.isEmpty, selection.refusals.isEmpty {
                judge(selection.leg, selection)
            } else {
                judgeAlternatives(of: selection)
            }
        }
    }

    /// Adds a reason that is not there yet.
    mutating func note(_ reason: Reason) {
        if !reasons.contains(reason) { reasons.append(reason) }
    }

    /// The family's verdict: usable if every probe has a path.
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

    private mutating func reject(_ reason: Reason) {
        note(reason)
        isUsable = false
    }

    /// Only unicast routes lead out; those of type local deliver to this host.
    private func fault(of type: RouteType) -> Reason? {
        switch type {
        case .unicast: nil
        case .broadcast, .multicast: isWithinLink ? nil : .noRoute
        case .local, .anycast: .loopbackPath
        default: .noRoute
        }
    }

    private mutating func judge(_ leg: SelectedLeg, _ selection: RouteSelection) {
        switch egress(of: leg) {
        case .failure(let fault): reject(fault.reason)
        case .success(let egress): keep([egress], selection)
        }
    }

    /// Any next hop that can be used is enough; one that can't is a reason besides.
    ///
    /// Those that only some kernels choose make no path usable, and add what they cost.
    private mutating func judgeAlternatives(of selection: RouteSelection) {
        var usable: [Egress] = []
        var firstFault: Reason?
        for leg in selection.alternatives.isEmpty ? [selection.leg] : selection.alternatives {
            switch egress(of: leg) {
            case .success(let egress): usable.append(egress)
            case .failure(let fault): firstFault = firstFault ?? fault.reason
            }
        }
        guard !usable.isEmpty else { return reject(firstFault ?? .noRoute) }
        for leg in selection.unpreferred { if case .success(let egress) = egress(of: leg) { usable.append(egress) } }
        keep(usable, selection)
        if firstFault != nil || !selection.refusals.isEmpty { note(.deadLeg) }
    }

    /// A next hop that can be used, with the interfaces that carry its packets.
    private struct Egress {
        let leg: SelectedLeg
        let interface: NetworkInterface
        let carriers: [NetworkInterface]

        /// Whether its packets leave through a modem, whichever carrier they take.
        var isCellular: Bool { !carriers.isEmpty && carriers.allSatisfy { $0.kind == .cellular } }
    }

    private mutating func egress(of leg: SelectedLeg) -> Result<Egress, Fault> {
        switch carrier(of: leg) {
        case .failure(let fault): return .failure(fault)
        case .success(let carrier):
            if let known, known.interface.index == leg.interface, carrier == leg.interface {
                return .success(.init(leg: leg, interface: known.interface, carriers: known.carriers))
            }
            guard let interface = CarrierResolver.describe(leg.interface, model, context) else {
                return .failure(.init(reason: .interfaceDown))
            }
            return carriers(of: interface, carriedBy: carrier).map {
                .init(leg: leg, interface: interface, carriers: $0)
            }
        }
    }

    /// Keeps the path if it is worse than what there is.
    ///
    /// Packets may take any of several next hops, so that the path is cellular if one of them is.
    private mutating func keep(_ egresses: [Egress], _ selection: RouteSelection) {
        let first = egresses[0]
        let isCellular = egresses.contains(where: \.isCellular)
        guard path == nil || (isCellular && path?.status != .cellular) else { return }
        var carriers: [NetworkInterface] = []
        for carrier in egresses.flatMap(\.carriers) where !carriers.contains(carrier) { carriers.append(carrier) }
        let cost = PathCost(context: context, snapshot: model.snapshot)
        path = FamilyPath(
            status: isCellular ? .cellular : .wifi,
            interface: first.interface,
            carriers: carriers,
            gateway: first.leg.gateway,
            source: first.leg.source ?? .init(family: .ipv4, bits: 0),
            metric: selection.metric,
            table: first.leg.table ?? selection.table,
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

// MARK: - What a leg leaves through

extension FamilyJudge {
    /// Why a leg can't be used.
    private struct Fault: Error {
        let reason: Reason
    }

    /// The interface that carries a leg's packets: its own, or for a VRF the one that the VRF's table leads to.
    private func carrier(of leg: SelectedLeg) -> Result<InterfaceIndex, Fault> {
        guard let position = model.snapshot.linkPosition(leg.interface) else {
            return .failure(.init(reason: .interfaceDown))
        }
        if let table = model.snapshot.links[position].vrfTable, model.snapshot.links[position].isVRF {
            return carrier(of: leg, throughVRFAt: position, .init(rawValue: table))
        }
        return usable(leg.interface, position, leg)
    }

    private func usable(
        _ index: InterfaceIndex,
        _ position: Int,
        _ leg: SelectedLeg
    ) -> Result<InterfaceIndex, Fault> {
        if let fault = LegJudgement.fault(ofLinkAt: position, model) { return .failure(.init(reason: fault)) }
        let fault = LegJudgement.fault(ofSourceOf: leg, model)
        if isWithinLink, leg.source?.isLinkLocal == true { return .success(index) }
        return fault.map { .failure(.init(reason: $0)) } ?? .success(index)
    }

    /// A VRF device is no way out by itself: packets that reach it are looked up again in its table.
    private func carrier(
        of leg: SelectedLeg,
        throughVRFAt position: Int,
        _ table: RouteTableID
    ) -> Result<InterfaceIndex, Fault> {
        guard model.snapshot.links[position].flags.contains(.up) else {
            return .failure(.init(reason: .interfaceDown))
        }
        guard let inner = innerInterface(leg, table), let place = model.snapshot.linkPosition(inner),
            !model.snapshot.links[place].isVRF
        else { return .failure(.init(reason: .noRoute)) }
        return usable(inner, place, leg)
    }

    private func innerInterface(_ leg: SelectedLeg, _ table: RouteTableID) -> InterfaceIndex? {
        guard let source = leg.source, let probe = ProbeAddresses.of(source.family).first else { return nil }
        var flow = ProbeFlow(to: probe, user: context.user)
        flow.source = source
        guard case .found(let route) = model.answer(to: flow, from: table), route.type == .unicast,
            case .selected(let selection) = route.outcome(model)
        else { return nil }
        return selection.leg.interface
    }
}
