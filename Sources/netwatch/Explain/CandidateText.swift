import NetwatchCore
import ReachabilityCore

/// The lines about what a family's lookups met: each rule, and each route that could have been selected.
struct CandidateText {
    /// The names of the interfaces.
    let names: InterfaceNames

    /// A family's lines, each indented by two spaces at least.
    func lines(_ family: FamilyExplanation) -> [String] {
        detour(family) + walks(of: family.probes) + family.unconsultedTables.flatMap(unconsulted)
    }

    /// A route as ip-route(8) writes it: `default via 192.0.2.1 dev wlan0 metric 600`.
    func route(_ message: RouteMessage, _ nextHops: [NextHop]) -> String {
        var words = RouteText.type(message.type) + [RuleText.prefix(message.destination)]
        if message.source.length > 0 { words += ["from", RuleText.prefix(message.source)] }
        if message.tos != 0 { words += ["tos", String(message.tos)] }
        if let id = message.nexthopID { words += ["nhid", String(id)] }
        if message.type == .unicast || message.type == .local {
            for nextHop in nextHops { words += (nextHops.count > 1 ? ["nexthop"] : []) + [self.nextHop(nextHop)] }
        }
        return (words + ["metric", String(message.metric)]).joined(separator: " ")
    }

    /// A next hop: `via 192.0.2.1 dev wlan0`.
    func nextHop(_ nextHop: NextHop) -> String {
        (nextHop.gateway.map { "via \($0) " } ?? "") + "dev " + names.name(nextHop.interface)
    }

    private func detour(_ family: FamilyExplanation) -> [String] {
        guard let detour = family.detour else { return [] }
        let nextHop = NextHop(interface: detour.path.interface.index, gateway: detour.path.gateway)
        let fixes = detour.interfaces.map { index in
            "    fix: 'sysctl \(SettingText.linkDown(names.name(index), family.family))=1'"
        }
        return [
            "  a further default would work: \(self.nextHop(nextHop)) source \(detour.path.source)",
            "    the kernel does not use it: it prefers a route whose interface has no carrier",
        ] + fixes
    }

    /// The walks of the probes; where all went the same, once.
    private func walks(of probes: [ProbeExplanation]) -> [String] {
        let areAlike = probes.allSatisfy { $0.lookups == probes.first?.lookups }
        return (areAlike ? Array(probes.prefix(1)) : probes).flatMap { probe in
            probe.lookups.flatMap { lookup in
                let destination = areAlike ? "" : " to \(probe.destination)"
                let source = lookup.source.map { " from source \($0)" } ?? ""
                let steps = lookup.steps.isEmpty ? ["    no rule matches"] : lookup.steps.flatMap(step)
                return ["  rules\(destination)\(source):"] + steps
            }
        }
    }

    private func step(_ step: RuleStep) -> [String] {
        ["    \(RuleText.rule(step.rule)): \(CandidateSentence.text(step))"] + step.candidates.flatMap(candidate)
    }

    private func candidate(_ candidate: RouteCandidate) -> [String] {
        let route = route(candidate.route.message, candidate.nextHops.map(\.nextHop))
        let faults: [String] = candidate.nextHops.compactMap { nextHop in
            guard let fault = CandidateSentence.text(nextHop.fate) else { return nil }
            let prefix = candidate.nextHops.count > 1 ? self.nextHop(nextHop.nextHop) + ": " : ""
            return "        \(prefix)\(names.name(nextHop.nextHop.interface)) \(fault)"
        }
        return ["      \(route): \(CandidateSentence.text(candidate))"] + faults
    }

    private func unconsulted(_ table: UnconsultedTable) -> [String] {
        let name = RouteText.table(table.table)
        let users = table.vrf.map { "only sockets bound to \(names.name($0)) use it" }
        let rules = table.rules.map { "rule \($0.priority) leads \(RuleText.scope(of: $0))" }
        let words = rules.isEmpty ? "no rule leads" : rules.joined(separator: ", ")
        return ["  \(words) to table \(name): \(users ?? "an unmarked, unbound socket does not use it")"]
            + table.routes.map { "    " + route($0.message, $0.message.nextHops) }
    }
}

/// Says what became of a rule, a route or a next hop.
enum CandidateSentence {
    /// Returns the outcome of a rule.
    static func text(_ step: RuleStep) -> String {
        switch step.result {
        case .decides: "its table decides"
        case .noResult where step.candidates.isEmpty: "there is no default-like route in its table"
        case .noResult: "its table has no route; the next rule follows"
        case .suppressedPrefix(let limit):
            "it suppresses routes of no more than \(limit) bits (suppress_prefixlength); the walk goes on"
        case .suppressedGroup(let group):
            "it suppresses routes through group \(group) (suppress_ifgroup); the walk goes on"
        case .otherSource: "the source that would be selected does not fit it; the walk goes on"
        case .refusalPassedOver: "its table refuses; the kernel goes on, as no rule was ever added"
        case .refuses: "it refuses by itself"
        case .continues(let priority?): "the walk goes on with rule \(priority)"
        case .continues(nil): "there is no such rule; the walk goes on"
        case .nothing: "it does nothing; the walk goes on"
        case .notReached: "the walk does not get to it, so its table is not consulted"
        }
    }

    /// Returns the outcome of a route.
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
        case .throwing: "ends the lookup in its table; the next rule follows"
        case .behindThrow: "not taken: a route that says throw comes first" + byItself(candidate)
        case .nextHopsUnusable: "ruled out: " + out(candidate)
        case .gatewayFailed: "not taken: its gateway does not respond (NUD_FAILED), and another's may"
        case .hidden:
            "not taken: a route to the same destination hides it, which is for other sources or out of order itself"
                + byItself(candidate)
        }
    }

    /// Returns why a next hop is unusable; nil if it is usable.
    static func text(_ fate: NextHopExplanation.Fate) -> String? {
        switch fate {
        case .usable: nil
        case .useless(.noCarrier): "has no carrier, and the kernel uses it all the same"
        case .useless(.dormant): "waits for an event such as 802.1X, and the kernel uses it all the same"
        case .useless(.loopbackPath): "is the loopback interface, which leads nowhere"
        case .useless(let reason): "cannot carry packets (\(reason.rawValue))"
        case .noInterface: "does not exist"
        case .interfaceDown: "is down"
        case .ignored: "has no carrier, and ignore_routes_with_linkdown is set"
        case .dead: "is marked as dead by the kernel"
        case .gatewayFailed: "leads to a gateway that does not respond (NUD_FAILED)"
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
        candidate.nextHops.count > 1 ? "none of its next hops is usable" : "its next hop is not usable"
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
