/// Why the state is what it is: how each family's verdict came about, and what spoke against each other route.
public struct PathExplanation: Sendable, Hashable {
    /// The verdict.
    public var path: NetworkPath
    /// IPv4, then IPv6.
    public var families: [FamilyExplanation]
    /// What is known of each interface of the model.
    public var interfaces: [InterfaceIndex: NetworkInterface]
    /// What leaves the kinds of interfaces open.
    public var hints: [InterfaceIndex: InterfaceHint]
    /// How it is known what carries tunnels.
    public var tunnels: [InterfaceIndex: TunnelBasis]

    /// Explains a verdict.
    ///
    /// - Parameters:
    ///   - evaluation: The verdict.
    ///   - snapshot: The model from which it was made.
    ///   - context: What the evaluation was given beside it.
    ///   - now: The moment of the evaluation.
    public init(
        of evaluation: PathEvaluation,
        in snapshot: NetworkSnapshot,
        context: EvaluationContext,
        at now: Instant
    ) {
        let explainer = Explainer(model: .init(snapshot, at: now), context: context)
        path = evaluation.path
        families = [explainer.explain(.ipv4, evaluation.ipv4), explainer.explain(.ipv6, evaluation.ipv6)]
        (interfaces, hints, tunnels) = ([:], [:], [:])
        for link in snapshot.links {
            let interface = CarrierResolver.describe(link.index, explainer.model, context)
            interfaces[link.index] = interface
            hints[link.index] = interface.flatMap(explainer.hint)
            tunnels[link.index] = interface.flatMap(explainer.basis)
        }
    }
}

/// How one family's verdict came about.
public struct FamilyExplanation: Sendable, Hashable {
    /// The family.
    public var family: AddressFamily
    /// The path, if there is one.
    public var path: FamilyPath?
    /// Why there is none, or what is wrong with the one there is.
    public var reasons: [Reason]
    /// One for each of ``ProbeAddresses``, in their order.
    public var probes: [ProbeExplanation]
    /// The tables with default-like routes that no matching rule consults, in the order of their numbers.
    public var strayTables: [StrayTable]
    /// The path that would work if the kernel did not insist on a route without carrier.
    public var detour: Detour?
}

/// A table with default-like routes to which no rule leads the packets in question.
public struct StrayTable: Sendable, Hashable {
    /// The table.
    public var table: RouteTableID
    /// Its routes, in the kernel's order.
    public var routes: [Route]
    /// The rules that lead other packets to it, or would if an earlier one did not decide.
    public var rules: [RuleMessage]
    /// The VRF device whose table it is, which sockets bound to it use.
    public var vrf: InterfaceIndex?
}

/// A path that the kernel does not use, because it prefers routes whose interfaces have no carrier.
public struct Detour: Sendable, Hashable {
    /// The interfaces without carrier whose routes are in the way, in the order in which the kernel prefers them.
    ///
    /// With `ignore_routes_with_linkdown` set on each, the kernel would pass over them.
    public var interfaces: [InterfaceIndex]
    /// The path that would work then.
    public var path: FamilyPath
}
