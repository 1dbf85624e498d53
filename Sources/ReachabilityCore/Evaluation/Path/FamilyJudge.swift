/// Judges one family's look-ups: whether each leads out, and through what.
struct FamilyJudge {
    let snapshot: NetworkSnapshot
    let context: EvaluationContext
    let now: Instant

    init(_ snapshot: NetworkSnapshot, _ context: EvaluationContext, at now: Instant) {
        self.snapshot = snapshot
        self.context = context
        self.now = now
    }

    /// The family's verdict: the worst of its probes counts.
    ///
    /// - Parameters:
    ///   - outcomes: The final look-up of each probe address.
    ///   - faults: What is known beside them to be wrong.
    ///   - nextExpiry: When the first of the routes that decided expires.
    /// - Returns: The evaluation, with the path if every probe has one.
    func evaluation(of outcomes: [LookupOutcome], faults: [Reason], nextExpiry: Instant?) -> FamilyEvaluation {
        var evaluation = FamilyEvaluation(outcomes: outcomes, path: nil, nextExpiry: nextExpiry)
        var isUsable = !outcomes.isEmpty
        var previous: (outcome: LookupOutcome, verdict: Verdict)?
        for outcome in outcomes {
            let verdict = previous.flatMap { $0.outcome == outcome ? $0.verdict : nil } ?? self.verdict(on: outcome)
            previous = (outcome, verdict)
            for reason in verdict.reasons { evaluation.note(reason) }
            guard let path = verdict.path else {
                isUsable = false
                continue
            }
            if evaluation.path.map({ path.status.rawValue < $0.status.rawValue }) ?? true { evaluation.path = path }
        }
        if !isUsable { evaluation.path = nil }
        for reason in faults { evaluation.note(reason) }
        return evaluation
    }

    /// What one look-up comes to.
    struct Verdict {
        /// The path; nil if there is none.
        var path: FamilyPath?
        /// Why there is none, or what is wrong with it.
        var reasons: [Reason] = []
    }

    private func verdict(on outcome: LookupOutcome) -> Verdict {
        switch outcome {
        case .refused(_, let reason): .init(reasons: [reason])
        case .selected(let selection): verdict(on: selection)
        }
    }

    /// Takes the first leg that can be used; one that can't is a reason beside it.
    private func verdict(on selection: RouteSelection) -> Verdict {
        if let fault = Self.fault(of: selection.type) { return .init(reasons: [fault]) }
        guard !selection.alternatives.isEmpty else { return verdict(on: selection.leg, selection) }
        var usable: Verdict?
        var firstFault: Verdict?
        for leg in selection.alternatives {
            let verdict = verdict(on: leg, selection)
            if verdict.path == nil {
                firstFault = firstFault ?? verdict
            } else if usable == nil {
                usable = verdict
            }
        }
        guard var usable else { return firstFault ?? .init(reasons: [.noRoute]) }
        if firstFault != nil { usable.reasons.append(.deadLeg) }
        return usable
    }

    /// Only unicast routes lead out; those of type local deliver to this host.
    private static func fault(of type: RouteType) -> Reason? {
        switch type {
        case .unicast: nil
        case .local, .anycast: .loopbackPath
        default: .noRoute
        }
    }

    private func verdict(on leg: SelectedLeg, _ selection: RouteSelection) -> Verdict {
        let link = snapshot.link(leg.interface)
        if let link, link.isVRF, let table = link.vrfTable {
            return verdict(on: leg, selection, throughVRF: .init(rawValue: table), link)
        }
        if let fault = LegJudgement(leg, through: link, snapshot).fault { return .init(reasons: [fault]) }
        return path(leg, selection, carriedBy: leg.interface)
    }

    /// A VRF device is no way out by itself: packets that reach it are looked up again in its table.
    private func verdict(
        on leg: SelectedLeg,
        _ selection: RouteSelection,
        throughVRF table: RouteTableID,
        _ link: Link
    ) -> Verdict {
        guard let inner = innerLeg(leg, table) else { return .init(reasons: [.noRoute]) }
        let carrier = snapshot.link(inner)
        guard let carrier, !carrier.isVRF else { return .init(reasons: [.noRoute]) }
        guard link.flags.contains(.up) else { return .init(reasons: [.interfaceDown]) }
        if let fault = LegJudgement(leg, through: carrier, snapshot).fault { return .init(reasons: [fault]) }
        return path(leg, selection, carriedBy: inner)
    }

    private func innerLeg(_ leg: SelectedLeg, _ table: RouteTableID) -> InterfaceIndex? {
        guard let source = leg.source, let probe = ProbeAddresses.of(source.family).first else { return nil }
        var flow = ProbeFlow(to: probe, user: context.user)
        flow.source = source
        let model = LookupModel(snapshot, at: now)
        guard case .found(let route) = model.answer(to: flow, hasSource: true, from: table), route.type == .unicast,
            case .selected(let selection) = route.outcome(snapshot)
        else { return nil }
        return selection.leg.interface
    }

    private func path(_ leg: SelectedLeg, _ selection: RouteSelection, carriedBy index: InterfaceIndex) -> Verdict {
        guard let interface = CarrierResolver.describe(leg.interface, snapshot, context), let source = leg.source else {
            return .init(reasons: [.interfaceDown])
        }
        let (carriers, reasons) = carriers(of: interface, carriedBy: index)
        let isCellular = !carriers.isEmpty && carriers.allSatisfy { $0.kind == .cellular }
        let path = FamilyPath(
            status: isCellular ? .cellular : .wifi,
            interface: interface,
            carriers: carriers,
            gateway: leg.gateway,
            source: source,
            metric: selection.metric,
            table: selection.table
        )
        return .init(path: path, reasons: reasons)
    }

    private func carriers(
        of interface: NetworkInterface,
        carriedBy index: InterfaceIndex
    ) -> ([NetworkInterface], [Reason]) {
        if index == interface.index, let link = snapshot.link(index), interface.isEndOfStack(link) {
            return ([interface], [])
        }
        var resolver = CarrierResolver(snapshot, context, at: now)
        let start = index == interface.index ? interface : CarrierResolver.describe(index, snapshot, context)
        resolver.resolve(start ?? interface)
        return (resolver.carriers, resolver.reasons)
    }
}

extension FamilyEvaluation {
    /// Adds a reason that is not there yet.
    fileprivate mutating func note(_ reason: Reason) {
        if !reasons.contains(reason) { reasons.append(reason) }
    }
}
