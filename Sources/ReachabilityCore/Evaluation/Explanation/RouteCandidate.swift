/// A default-like route of a table that a rule leads to, and what became of it.
public struct RouteCandidate: Sendable, Hashable {
    /// The route.
    public var route: Route
    /// Whether it was taken, and if not why.
    public var verdict: Verdict
    /// Its ways out, those of its nexthop object included.
    public var legs: [LegExplanation]
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
        /// None of its legs is usable.
        case legsOut
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
public struct LegExplanation: Sendable, Hashable {
    /// The leg.
    public var leg: RouteLeg
    /// Whether it can be used.
    public var fate: Fate

    /// Whether a leg can be used, and if not why.
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
