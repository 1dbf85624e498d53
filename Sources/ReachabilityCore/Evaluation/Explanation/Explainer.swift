/// Explains the decisions that the rooms of the look-up make, by asking them again with parts of the model.
struct Explainer {
    let model: LookupModel
    let context: EvaluationContext

    /// Explains one family's verdict.
    func explain(_ family: AddressFamily, _ evaluation: FamilyEvaluation) -> FamilyExplanation {
        let probes = zip(ProbeAddresses.of(family), evaluation.outcomes).map { explain($0, $1) }
        return .init(
            family: family,
            path: evaluation.path,
            reasons: evaluation.reasons,
            probes: probes,
            strayTables: strayTables(family, probes),
            detour: evaluation.path == nil ? detour(family) : nil
        )
    }

    /// Follows the look-ups of connect(2).
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

    /// The source of the second look-up, where it may end another way than the first.
    private func secondSource(_ flow: ProbeFlow) -> IPAddress? {
        let connection = Connection.run(flow, model)
        switch (flow.family, connection.first) {
        case (.ipv4, .selected(let first)):
            guard connection.outcome != connection.first else { return nil }
            if case .selected(let second) = connection.outcome { return second.leg.source }
            return first.leg.source
        case (.ipv6, .refused):
            return model.ipv6Source(to: flow.destination, through: nil)
        default: return nil
        }
    }

    private func strayTables(_ family: AddressFamily, _ probes: [ProbeExplanation]) -> [StrayTable] {
        let steps = probes.flatMap(\.lookups).flatMap(\.steps)
        let consulted = Set(steps.filter { $0.rule.action == .lookup }.map(\.rule.table))
        let keys = model.snapshot.routes.keys.filter { $0.family == family && !consulted.contains($0.table) }
        return keys.sorted().compactMap { key in
            guard let routes = model.snapshot.routes[key], !routes.isEmpty else { return nil }
            let vrf = model.snapshot.links.first { $0.isVRF && $0.vrfTable == key.table.rawValue }
            let rules = model.snapshot.rules(family).filter { $0.action == .lookup && $0.table == key.table }
            return .init(table: key.table, routes: routes, rules: rules, vrf: vrf?.index)
        }
    }
}

// MARK: - What would work

extension Explainer {
    /// Takes away one by one the interfaces without carrier that the kernel insists on, until something works.
    private func detour(_ family: AddressFamily) -> Detour? {
        var excluded: [InterfaceIndex] = []
        while true {
            let detour = LookupModel(model.snapshot, at: model.now, excluding: excluded)
            let outcomes = ProbeAddresses.of(family).map {
                Connection.run(.init(to: $0, user: context.user), detour).outcome
            }
            var judge = FamilyJudge(detour, context)
            for outcome in outcomes { judge.judge(outcome) }
            if let path = judge.evaluation(of: outcomes, nextExpiry: nil).path {
                return excluded.isEmpty ? nil : .init(interfaces: excluded, path: path)
            }
            let obstacles = outcomes.compactMap { obstacle($0, family) }.filter { !excluded.contains($0) }
            guard let obstacle = obstacles.first else { return nil }
            excluded.append(obstacle)
        }
    }

    /// The interface without carrier that an outcome leads through, if the kernel could be told to pass over it.
    private func obstacle(_ outcome: LookupOutcome, _ family: AddressFamily) -> InterfaceIndex? {
        guard case .selected(let selection) = outcome else { return nil }
        let index = selection.leg.interface
        guard let position = model.snapshot.linkPosition(index),
            let fault = LegJudgement.fault(ofLinkAt: position, model), fault == .noCarrier || fault == .associating
        else { return nil }
        let flags = model.snapshot.links[position].flags
        return family == .ipv6 || flags.isDisjoint(with: [.running, .lowerUp]) ? index : nil
    }
}
