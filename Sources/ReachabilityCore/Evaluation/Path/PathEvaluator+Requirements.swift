extension PathEvaluator {
    /// The interfaces to which a socket with a requirement may be bound.
    ///
    /// Loopback is none, and neither is a port of a bridge, bond or team, by which no route leads.
    ///
    /// - Parameters:
    ///   - requirement: What the path must be.
    ///   - snapshot: The model of the machine.
    ///   - now: The moment of the judgement.
    /// - Returns: Those that meet it and can carry, in the order of their indices; and those that would do if they could
    ///   carry, with what keeps them from it.
    public func candidates(
        for requirement: PathRequirement,
        in snapshot: NetworkSnapshot,
        at now: Instant
    ) -> (interfaces: [NetworkInterface], ruledOut: [RuledOutInterface]) {
        let model = LookupModel(snapshot, at: now)
        var interfaces: [NetworkInterface] = []
        var ruledOut: [RuledOutInterface] = []
        for position in snapshot.links.indices {
            guard let (interface, fault) = candidate(at: position, for: requirement, model) else { continue }
            if let fault = LegJudgement.fault(ofLinkAt: position, model) ?? fault {
                ruledOut.append(.init(interface, fault))
            } else {
                interfaces.append(interface)
            }
        }
        return (interfaces, ruledOut)
    }

    /// An interface that meets the requirement, whether it can carry now or not, and why what is beneath it can't.
    private func candidate(
        at position: Int,
        for requirement: PathRequirement,
        _ model: LookupModel
    ) -> (interface: NetworkInterface, fault: Reason?)? {
        let link = model.snapshot.links[position]
        if case .interface(let name) = requirement, name != link.name { return nil }
        guard !link.flags.contains(.loopback), !isPort(link, model),
            let interface = CarrierResolver.describe(link.index, model, context)
        else { return nil }
        var resolver = CarrierResolver(model, context)
        resolver.resolve(interface)
        let cost = PathCost(context: context, snapshot: model.snapshot)
        let isExpensive = cost.isExpensive(interface, over: resolver.carriers)
        guard requirement.allows(interface, over: resolver.carriers, isExpensive: isExpensive) else { return nil }
        return (interface, resolver.fault)
    }

    /// Whether an interface is part of another; a VRF's stay what they are.
    private func isPort(_ link: Link, _ model: LookupModel) -> Bool {
        guard let master = link.masterIndex, master != 0 else { return false }
        return model.snapshot.link(master).map { !$0.isVRF } ?? false
    }
}
