import ReachabilityCore

/// Says what became of a rule, a route or a leg.
enum CandidateSentence {
    /// What came of a rule.
    static func text(_ step: RuleStep) -> String {
        switch step.result {
        case .answers: "its table decides"
        case .noAnswer where step.candidates.isEmpty: "there is no default-like route in its table"
        case .noAnswer: "its table has no answer; the walk goes on"
        case .suppressedPrefix(let limit):
            "it suppresses routes of no more than \(limit) bits (suppress_prefixlength); the walk goes on"
        case .suppressedGroup(let group):
            "it suppresses routes through group \(group) (suppress_ifgroup); the walk goes on"
        case .otherSource: "the source that would be selected does not fit it; the walk goes on"
        case .refusalPassedOver: "its table refuses; the kernel goes on, as no rule was ever added"
        case .refuses: "it refuses by itself"
        case .goesOn(let priority?): "the walk goes on with rule \(priority)"
        case .goesOn(nil): "there is no such rule; the walk goes on"
        case .nothing: "it does nothing; the walk goes on"
        case .notReached: "the walk does not get to it, so its table is not consulted"
        }
    }

    /// What became of a route.
    static func text(_ candidate: RouteCandidate) -> String {
        switch candidate.verdict {
        case .chosen: chosen(candidate)
        case .notTaken: "not taken: the rule does not let it count"
        case .notReached: "not taken: its table is not consulted" + byItself(candidate)
        case .beaten(let advantage): "not taken: \(text(advantage))" + byItself(candidate)
        case .otherDestination: "ruled out: it does not cover the address"
        case .otherService: "ruled out: it is for packets of another type of service"
        case .otherSource: "ruled out: it is for packets of other sources"
        case .expired: "ruled out: its lifetime has ended"
        case .throwing: "says that its table has no answer; the rules are walked on"
        case .behindThrow: "not taken: a route that says throw comes first" + byItself(candidate)
        case .legsOut: "ruled out: " + out(candidate)
        case .gatewayFailed: "not taken: its gateway does not answer (NUD_FAILED), and another's may"
        case .hidden:
            "not taken: a route to the same destination hides it, which is for other sources or out of order itself"
                + byItself(candidate)
        }
    }

    /// What can be said of a leg; nil if it can be used.
    static func text(_ fate: LegExplanation.Fate) -> String? {
        switch fate {
        case .usable: nil
        case .useless(.noCarrier): "has no carrier, and the kernel uses it all the same"
        case .useless(.dormant): "waits for an event such as 802.1X, and the kernel uses it all the same"
        case .useless(.loopbackPath): "is the loopback interface, which leads nowhere"
        case .useless(let reason): "can't carry (\(reason.rawValue))"
        case .noInterface: "does not exist"
        case .interfaceDown: "is down"
        case .ignored: "has no carrier, and ignore_routes_with_linkdown is set"
        case .dead: "is marked as dead by the kernel"
        case .gatewayFailed: "leads to a gateway that does not answer (NUD_FAILED)"
        }
    }

    private static func chosen(_ candidate: RouteCandidate) -> String {
        switch candidate.route.message.type {
        case .unicast: candidate.isUsable ? "chosen" : "chosen, and not usable" + why(candidate)
        case .local: "chosen; it delivers to this machine"
        default: "chosen; it refuses"
        }
    }

    private static func out(_ candidate: RouteCandidate) -> String {
        candidate.legs.count > 1 ? "none of its legs is usable" : "its way out is not usable"
    }

    private static func text(_ advantage: RouteCandidate.Advantage) -> String {
        switch advantage {
        case .longerPrefix: "the chosen route's prefix is longer"
        case .longerSource: "the chosen route's source prefix is longer"
        case .metric: "the chosen route's metric is lower"
        case .preference: "the chosen route's router is preferred"
        case .order: "the chosen route comes first"
        }
    }

    private static func byItself(_ candidate: RouteCandidate) -> String {
        guard !candidate.isUsable else { return "; it would work by itself" }
        return "; it would not work by itself either" + why(candidate)
    }

    private static func why(_ candidate: RouteCandidate) -> String {
        candidate.reasons.first { $0 != .noRoute }.map { " (\($0.rawValue))" } ?? ""
    }
}
