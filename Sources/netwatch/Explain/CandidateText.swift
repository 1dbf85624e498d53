import NetwatchCore
import ReachabilityCore

/// Tells what a family's look-ups met: each rule, and each route that could have been taken.
struct CandidateText {
    /// What interfaces are called.
    let names: InterfaceNames

    /// A family's lines, each indented by two spaces at least.
    func lines(_ family: FamilyExplanation) -> [String] {
        detour(family) + walks(of: family.probes) + family.strayTables.flatMap(stray)
    }

    /// A route as ip-route(8) writes it: `default via 192.0.2.1 dev wlan0 metric 600`.
    func route(_ message: RouteMessage, _ legs: [RouteLeg]) -> String {
        var words = RouteText.type(message.type) + [RuleText.prefix(message.destination)]
        if message.source.length > 0 { words += ["from", RuleText.prefix(message.source)] }
        if message.tos != 0 { words += ["tos", String(message.tos)] }
        if let id = message.nexthopID { words += ["nhid", String(id)] }
        if message.type == .unicast || message.type == .local {
            for leg in legs { words += (legs.count > 1 ? ["nexthop"] : []) + [self.leg(leg)] }
        }
        return (words + ["metric", String(message.metric)]).joined(separator: " ")
    }

    /// A way out: `via 192.0.2.1 dev wlan0`.
    func leg(_ leg: RouteLeg) -> String {
        (leg.gateway.map { "via \($0) " } ?? "") + "dev " + names.name(leg.interface)
    }

    private func detour(_ family: FamilyExplanation) -> [String] {
        guard let detour = family.detour else { return [] }
        let leg = RouteLeg(interface: detour.path.interface.index, gateway: detour.path.gateway)
        let cures = detour.interfaces.map { index in
            "    cure: 'sysctl \(SettingText.linkDown(names.name(index), family.family))=1'"
        }
        return [
            "  a further default would work: \(self.leg(leg)) source \(detour.path.source)",
            "    the kernel does not use it: it prefers a route whose interface has no carrier",
        ] + cures
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
        let route = route(candidate.route.message, candidate.legs.map(\.leg))
        let faults: [String] = candidate.legs.compactMap { leg in
            guard let fault = CandidateSentence.text(leg.fate) else { return nil }
            let way = candidate.legs.count > 1 ? self.leg(leg.leg) + ": " : ""
            return "        \(way)\(names.name(leg.leg.interface)) \(fault)"
        }
        return ["      \(route): \(CandidateSentence.text(candidate))"] + faults
    }

    private func stray(_ table: StrayTable) -> [String] {
        let name = RouteText.table(table.table)
        let users = table.vrf.map { "only sockets bound to \(names.name($0)) use it" }
        let ways = table.rules.map { "rule \($0.priority) leads \(RuleText.scope(of: $0))" }
        let way = ways.isEmpty ? "no rule leads" : ways.joined(separator: ", ")
        return ["  \(way) to table \(name): \(users ?? "an unmarked, unbound socket does not use it")"]
            + table.routes.map { "    " + route($0.message, $0.message.legs) }
    }
}
