/// Why the state is what it is: how each family was evaluated, and why each other route was not taken.
package struct PathExplanation: Sendable, Hashable {
    /// The path.
    package var path: NetworkPath
    /// IPv4, then IPv6.
    package var families: [FamilyExplanation]
    /// The known properties of each interface of the model.
    package var interfaces: [InterfaceIndex: NetworkInterface]
    /// Why the kinds of interfaces are not known.
    package var hints: [InterfaceIndex: InterfaceHint]
    /// The basis on which the carriers of tunnels were found.
    package var tunnels: [InterfaceIndex: TunnelBasis]

    /// Explains an evaluation.
    ///
    /// - Parameters:
    ///   - evaluation: The evaluation.
    ///   - snapshot: The model from which it was made.
    ///   - context: The context of the evaluation.
    ///   - now: The moment of the evaluation.
    package init(
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

/// How one family was evaluated.
package struct FamilyExplanation: Sendable, Hashable {
    /// The family.
    package var family: AddressFamily
    /// The path, if there is one.
    package var path: FamilyPath?
    /// The reasons why there is none, or why it is limited.
    package var reasons: [ReachabilityReason]
    /// One for each of ``ProbeAddresses``, in their order.
    package var probes: [ProbeExplanation]
    /// The tables with default-like routes that no matching rule consults, in the order of their numbers.
    package var unconsultedTables: [UnconsultedTable]
    /// The path that would be usable if the kernel did not prefer a route without carrier.
    package var detour: Detour?
}

/// A table with default-like routes to which no rule leads the packets in question.
package struct UnconsultedTable: Sendable, Hashable {
    /// The table.
    package var table: RouteTableID
    /// Its routes, in the kernel's order.
    package var routes: [Route]
    /// The rules that lead other packets to it, or would if an earlier rule did not decide.
    package var rules: [RuleMessage]
    /// The VRF device whose table it is, which sockets bound to it use.
    package var vrf: InterfaceIndex?
}

/// A path that the kernel does not use, because it prefers routes whose interfaces have no carrier.
package struct Detour: Sendable, Hashable {
    /// The interfaces without carrier whose routes the kernel prefers, in its order of preference.
    ///
    /// With `ignore_routes_with_linkdown` set on each, the kernel would skip them.
    package var interfaces: [InterfaceIndex]
    /// The path that would be usable then.
    package var path: FamilyPath
}

/// The lookup of one probe address: its outcome and its steps.
package struct ProbeExplanation: Sendable, Hashable {
    /// The address that is looked up; nothing is sent to it.
    package var destination: IPAddress
    /// The final outcome.
    package var outcome: LookupOutcome
    /// The lookups that connect(2) makes: one without a source, and one with a source if its outcome differs.
    package var lookups: [LookupExplanation]
}

/// One walk through the rules.
package struct LookupExplanation: Sendable, Hashable {
    /// The source of the lookup; nil for none.
    package var source: IPAddress?
    /// The outcome of the walk.
    package var outcome: LookupOutcome
    /// The rules that match an unmarked and unbound socket of the user's, in the order of the walk.
    ///
    /// Those that the walk did not reach come last, if they lead to a table that was not consulted.
    package var steps: [RuleStep]
}

/// A rule that matched, and its effect.
package struct RuleStep: Sendable, Hashable {
    /// The rule.
    package var rule: RuleMessage
    /// Its effect.
    package var result: Result
    /// The default-like routes of the table that it leads to, in the kernel's order.
    package var candidates: [RouteCandidate] = []

    /// The effect of a rule.
    package enum Result: Sendable, Hashable {
        /// Its table decides.
        case decides
        /// Its table has no result, so the walk continues.
        case noResult
        /// The route that its table selects has a prefix of no more bits than that, which the rule suppresses.
        case suppressedPrefix(Int32)
        /// The route that its table selects leads through a group of interfaces that the rule suppresses.
        case suppressedGroup(UInt32)
        /// The source that would be selected for its table's route does not match the rule.
        case otherSource
        /// Its table refuses, which the kernel ignores as long as no rule was ever added.
        case refusalPassedOver
        /// The rule itself refuses.
        case refuses(LookupOutcome)
        /// The walk continues with the rule of a priority; nil if there is none after it.
        case continues(UInt32?)
        /// No effect.
        case nothing
        /// The walk ended, or jumped, before it.
        case notReached
    }
}

/// A default-like route of a table that a rule leads to, and whether it was taken.
package struct RouteCandidate: Sendable, Hashable {
    /// The route.
    package var route: Route
    /// Whether it was taken, and if not why.
    package var verdict: Verdict
    /// Its next hops, including those of its nexthop object.
    package var nextHops: [NextHopExplanation]
    /// Whether the network could be reached through it, if the kernel took it.
    package var isUsable: Bool
    /// The reasons why not, or why the path would be limited.
    package var reasons: [ReachabilityReason]

    /// Whether a route was taken, and if not why.
    package enum Verdict: Sendable, Hashable {
        /// It decides; that includes types that refuse.
        case chosen
        /// It is the table's result, which the rule does not take.
        case notTaken
        /// The walk does not reach its table.
        case notReached
        /// Another route is better.
        case beaten(by: Advantage)
        /// It does not cover the address.
        case otherDestination
        /// It is for packets of another type of service.
        case otherService
        /// It is for packets of other sources.
        case otherSource
        /// Its lifetime has ended.
        case expired
        /// It is of type throw: its table has no result.
        case throwing
        /// A route of type throw comes first.
        case behindThrow
        /// None of its next hops is usable.
        case nextHopsUnusable
        /// Its gateway did not reply (`NUD_FAILED`), and another's may.
        case gatewayFailed
        /// The kernel does not reach it: a route to the same destination, whose nexthop object is not usable or which
        /// is for other sources, hides it.
        case hidden
    }

    /// The property that makes a route better than another of the same table.
    package enum Advantage: Sendable, Hashable {
        /// Its destination is longer.
        case longerPrefix
        /// Its source prefix is longer.
        case longerSource
        /// Its metric is lower.
        case metric
        /// Its router's preference is higher (RFC 4191).
        case preference
        /// It comes first.
        case order
    }
}

/// A next hop of a route, and whether it can be used.
package struct NextHopExplanation: Sendable, Hashable {
    /// The next hop.
    package var nextHop: NextHop
    /// Whether it can be used.
    package var fate: Fate

    /// Whether a next hop can be used, and if not why.
    package enum Fate: Sendable, Hashable {
        /// It can be used.
        case usable
        /// The kernel uses it, although it is unusable for a reason.
        case useless(ReachabilityReason)
        /// Its interface does not exist.
        case noInterface
        /// Its interface is down.
        case interfaceDown
        /// Its interface has no carrier, and `ignore_routes_with_linkdown` is set.
        case ignored
        /// The kernel has marked it as dead.
        case dead
        /// Its gateway did not reply (`NUD_FAILED`).
        case gatewayFailed
    }
}
