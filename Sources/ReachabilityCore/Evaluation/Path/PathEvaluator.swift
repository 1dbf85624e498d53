/// Evaluates a model: whether, and through which interfaces, this machine can reach the public internet.
package struct PathEvaluator: Sendable, Hashable {
    /// The user whose sockets are evaluated, and the user's own rules.
    package var context: EvaluationContext

    /// Makes an evaluator.
    package init(context: EvaluationContext) { self.context = context }

    /// Evaluates a model by its own routing decision for each probe address.
    ///
    /// - Parameters:
    ///   - snapshot: The model of the machine.
    ///   - now: The moment at which the expiry of routes is checked.
    /// - Returns: The path, each family's evaluation, and when it may change by itself.
    package func evaluate(_ snapshot: NetworkSnapshot, at now: Instant) -> PathEvaluation {
        let model = LookupModel(snapshot, at: now)
        let ipv4 = evaluate(.ipv4, model)
        let ipv6 = evaluate(.ipv6, model)
        return .init(path: .init(ipv4, ipv6), ipv4: ipv4, ipv6: ipv6)
    }

    /// Evaluates one family again, and takes the other's part from an earlier evaluation.
    ///
    /// The interfaces must not have changed since.
    ///
    /// - Parameters:
    ///   - family: The family to evaluate.
    ///   - snapshot: The model of the machine.
    ///   - previous: An evaluation whose other family's part still holds.
    ///   - now: The moment at which the expiry of routes is checked.
    /// - Returns: The same as ``evaluate(_:at:)``, for half the work.
    func evaluate(
        _ family: AddressFamily,
        of snapshot: NetworkSnapshot,
        keepingOther previous: PathEvaluation,
        at now: Instant
    ) -> PathEvaluation {
        // A tunnel's carrier may be of the other family.
        let other = family == .ipv4 ? previous.ipv6 : previous.ipv4
        guard other.tunnels.isEmpty else { return evaluate(snapshot, at: now) }
        let known = family == .ipv4 ? previous.ipv4 : previous.ipv6
        let part = evaluate(family, LookupModel(snapshot, at: now), knowing: known.pathOfOneInterface)
        let ipv4 = family == .ipv4 ? part : previous.ipv4
        let ipv6 = family == .ipv6 ? part : previous.ipv6
        return .init(path: .init(ipv4, ipv6), ipv4: ipv4, ipv6: ipv6)
    }

    /// Evaluates the kernel's own results, in the order of ``ProbeAddresses``; links and addresses come from the model.
    ///
    /// - Parameters:
    ///   - ipv4: The final result for each IPv4 probe address.
    ///   - ipv6: The final result for each IPv6 probe address.
    ///   - snapshot: The model of the machine; its routes and rules may not have been read yet.
    ///   - now: The moment of the evaluation.
    /// - Returns: The path, and each family's evaluation.
    package func evaluate(
        ipv4: [LookupOutcome],
        ipv6: [LookupOutcome],
        _ snapshot: NetworkSnapshot,
        at now: Instant
    ) -> PathEvaluation {
        let model = LookupModel(snapshot, at: now)
        let ipv4 = FamilyEvaluator(model, context).evaluation(of: ipv4)
        let ipv6 = FamilyEvaluator(model, context).evaluation(of: ipv6)
        return .init(path: .init(ipv4, ipv6), ipv4: ipv4, ipv6: ipv6)
    }

    /// Looks up each probe address; if nothing compares destinations, the first outcome is that of all.
    private func evaluate(
        _ family: AddressFamily,
        _ model: LookupModel,
        knowing known: FamilyPath? = nil
    ) -> FamilyEvaluation {
        let probes = ProbeAddresses.of(family)
        var evaluator = FamilyEvaluator(model, context, knowing: known)
        var outcomes: [LookupOutcome] = []
        outcomes.reserveCapacity(probes.count)
        var nextExpiry: Instant?
        var isLostToSourceRule = false
        for address in probes {
            let connection = Connection.run(.init(to: address, user: context.user), model)
            evaluator.evaluate(connection.outcome)
            if connection.isLostToSourceRule { isLostToSourceRule = true }
            if let expiry = connection.nextExpiry { nextExpiry = min(nextExpiry ?? expiry, expiry) }
            outcomes.append(connection.outcome)
            guard connection.isSameForAll else { continue }
            while outcomes.count < probes.count { outcomes.append(connection.outcome) }
            break
        }
        if isLostToSourceRule { evaluator.note(.sourceRule) }
        return evaluator.evaluation(of: outcomes, nextExpiry: nextExpiry)
    }
}

extension Connection {
    /// Whether the machine has a route, and a rule on the source address makes it unusable.
    fileprivate var isLostToSourceRule: Bool {
        guard case .selected = first, case .refused(let errno, _) = outcome else { return false }
        return errno != LookupErrno.addressNotAvailable
    }
}

extension FamilyEvaluation {
    /// The path, if its interface carries it alone, and that follows from nothing but the interface.
    fileprivate var pathOfOneInterface: FamilyPath? {
        guard reasons.isEmpty, tunnels.isEmpty, let path else { return nil }
        return path.carriers.count == 1 && path.carriers[0].index == path.interface.index ? path : nil
    }
}

extension PathEvaluator {
    /// The interfaces to which a socket with a requirement may be bound.
    ///
    /// The loopback is excluded, and so are ports of bridges, bonds and teams, which no route uses.
    ///
    /// - Parameters:
    ///   - requirement: The requirement.
    ///   - snapshot: The model of the machine.
    ///   - now: The moment of the evaluation.
    /// - Returns: The interfaces that meet it and can carry packets, by index; and those that would if they
    ///   could carry packets, with the reason why they cannot. An interface whose device is being examined does not meet
    ///   a requirement on kinds yet, and has the reason ``ReachabilityReason/deviceProbing``.
    package func candidates(
        for requirement: PathRequirement,
        in snapshot: NetworkSnapshot,
        at now: Instant
    ) -> (interfaces: [NetworkInterface], ruledOut: [RuledOutInterface]) {
        let model = LookupModel(snapshot, at: now)
        var interfaces: [NetworkInterface] = []
        var ruledOut: [RuledOutInterface] = []
        for position in snapshot.links.indices {
            guard let (interface, fault) = candidate(at: position, for: requirement, model) else { continue }
            if let fault = Usability.fault(ofLinkAt: position, model) ?? fault {
                ruledOut.append(.init(interface, fault))
            } else {
                interfaces.append(interface)
            }
        }
        return (interfaces, ruledOut)
    }

    /// Returns an interface that meets the requirement, whether or not it can carry packets, and why its carriers
    /// cannot.
    private func candidate(
        at position: Int,
        for requirement: PathRequirement,
        _ model: LookupModel
    ) -> (interface: NetworkInterface, fault: ReachabilityReason?)? {
        let link = model.snapshot.links[position]
        if case .interface(let name) = requirement, name != link.name { return nil }
        guard !link.flags.contains(.loopback), !isPort(link, model),
            let interface = CarrierResolver.describe(link.index, model, context)
        else { return nil }
        var resolver = CarrierResolver(model, context)
        resolver.resolve(interface)
        let cost = PathCost(context: context, devices: model.snapshot.devices)
        let isExpensive = cost.isExpensive(interface, over: resolver.carriers)
        // What the device is decides, and is not known yet.
        if requirement.isAboutKinds, resolver.reasons.contains(.deviceProbing) {
            return (interface, resolver.fault ?? .deviceProbing)
        }
        guard requirement.allows(interface, over: resolver.carriers, isExpensive: isExpensive) else { return nil }
        return (interface, resolver.fault)
    }

    /// Whether an interface is a port of another; members of a VRF do not count.
    private func isPort(_ link: Link, _ model: LookupModel) -> Bool {
        guard let master = link.masterIndex, master != 0 else { return false }
        return model.snapshot.link(master).map { !$0.isVRF } ?? false
    }
}

/// An interface that meets a requirement but is not usable, and why.
public struct RuledOutInterface: Sendable, Hashable {
    /// The interface.
    public var interface: NetworkInterface
    /// Why it is not usable.
    public var reason: ReachabilityReason

    /// Sets both.
    public init(_ interface: NetworkInterface, _ reason: ReachabilityReason) {
        self.interface = interface
        self.reason = reason
    }
}

extension PathEvaluator {
    /// Evaluates the kernel's result for one destination; links and addresses come from the model.
    ///
    /// - Parameters:
    ///   - outcome: The outcome of the final lookup of the destination.
    ///   - destination: The destination; one on the link, a group or all its hosts may be reached from a link-local
    ///     address.
    ///   - snapshot: The model of the machine.
    ///   - now: The moment of the evaluation.
    /// - Returns: The path, or why there is none.
    package func evaluate(
        _ outcome: LookupOutcome,
        for destination: IPAddress,
        _ snapshot: NetworkSnapshot,
        at now: Instant
    ) -> FamilyEvaluation {
        let isWithinLink = destination.isLinkLocal || outcome.isForSeveralHosts
        let evaluator = FamilyEvaluator(LookupModel(snapshot, at: now), context, withinLink: isWithinLink)
        return evaluator.evaluation(of: [outcome])
    }

    /// Describes an interface of the model; nil if there is none with the index.
    package func describe(_ index: InterfaceIndex, in snapshot: NetworkSnapshot) -> NetworkInterface? {
        CarrierResolver.describe(index, LookupModel(snapshot, at: .init(nanoseconds: 0)), context)
    }
}

extension LookupOutcome {
    /// Whether the destination is a broadcast address of a link, or a multicast group.
    fileprivate var isForSeveralHosts: Bool {
        guard case .selected(let selection) = self else { return false }
        return selection.type == .broadcast || selection.type == .multicast
    }
}
