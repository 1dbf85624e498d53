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

/// How the look-up of one probe address ended, and how it got there.
public struct ProbeExplanation: Sendable, Hashable {
    /// The address that is looked up, and never sent to.
    public var destination: IPAddress
    /// The final outcome.
    public var outcome: LookupOutcome
    /// The look-ups that connect(2) makes: one without a source, and one with a source if that ends another way.
    public var lookups: [LookupExplanation]
}

/// One walk through the rules.
public struct LookupExplanation: Sendable, Hashable {
    /// The source of the look-up; nil for none.
    public var source: IPAddress?
    /// What the walk answered.
    public var outcome: LookupOutcome
    /// The rules that match an unmarked and unbound socket of the user's, in the order of the walk.
    ///
    /// Those that the walk did not get to any more come last, if they lead to a table that was not consulted.
    public var steps: [RuleStep]
}

/// A rule that matched, and what came of it.
public struct RuleStep: Sendable, Hashable {
    /// The rule.
    public var rule: RuleMessage
    /// What came of it.
    public var result: Result
    /// The default-like routes of the table that it leads to, in the kernel's order.
    public var candidates: [RouteCandidate] = []

    /// What comes of a rule.
    public enum Result: Sendable, Hashable {
        /// Its table has the answer.
        case answers
        /// Its table has none, so that the walk goes on.
        case noAnswer
        /// Its table's answer is a prefix of no more bits than that, which the rule suppresses.
        case suppressedPrefix(Int32)
        /// Its table's answer leads through a group of interfaces that the rule suppresses.
        case suppressedGroup(UInt32)
        /// The source that its table's answer would be given does not fit the rule.
        case otherSource
        /// Its table refuses, which the kernel passes over as long as no rule was ever added.
        case refusalPassedOver
        /// It refuses by itself.
        case refuses(LookupOutcome)
        /// The walk goes on with the rule of a priority; nil if there is none behind it.
        case goesOn(UInt32?)
        /// Nothing.
        case nothing
        /// The walk ended, or jumped, before it.
        case notReached
    }
}

/// A default-like route of a table that a rule leads to, and what became of it.
public struct RouteCandidate: Sendable, Hashable {
    /// The route.
    public var route: Route
    /// Whether it was taken, and if not why.
    public var verdict: Verdict
    /// Its ways out, those of its nexthop object included.
    public var nextHops: [NextHopExplanation]
    /// Whether the network could be reached through it, if the kernel took it.
    public var isUsable: Bool
    /// What is wrong with it, if the kernel took it.
    public var reasons: [Reason]

    /// Whether a route was taken, and if not why.
    public enum Verdict: Sendable, Hashable {
        /// It decides; a type that refuses does so too.
        case chosen
        /// It is the table's answer, which the rule does not take.
        case notTaken
        /// The walk does not get to its table.
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
        /// It says `throw`: its table has no answer.
        case throwing
        /// A route that says `throw` comes first.
        case behindThrow
        /// None of its next hops is usable.
        case nextHopsUnusable
        /// Its gateway did not answer, and another's may.
        case gatewayFailed
        /// The kernel does not get to it: a route to the same destination, whose nexthop object is not usable or which
        /// is for other sources, hides it.
        case hidden
    }

    /// What makes a route better than another of the same table.
    public enum Advantage: Sendable, Hashable {
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

/// A way out of a route, and whether it can be used.
public struct NextHopExplanation: Sendable, Hashable {
    /// The next hop.
    public var nextHop: NextHop
    /// Whether it can be used.
    public var fate: Fate

    /// Whether a next hop can be used, and if not why.
    public enum Fate: Sendable, Hashable {
        /// It can.
        case usable
        /// The kernel uses it, though it leads nowhere for a reason.
        case useless(Reason)
        /// Its interface does not exist.
        case noInterface
        /// Its interface is down.
        case interfaceDown
        /// Its interface has no carrier, and `ignore_routes_with_linkdown` is set.
        case ignored
        /// The kernel has marked it as dead.
        case dead
        /// Its gateway did not answer (`NUD_FAILED`).
        case gatewayFailed
    }
}
