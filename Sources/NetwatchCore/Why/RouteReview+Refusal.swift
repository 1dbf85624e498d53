import ReachabilityCore

extension RouteReview {
    /// A rule or a route says no.
    var refusal: FamilyFinding? {
        guard let decision = probe.decision else { return nil }
        if case .refuses = decision.step.result { return refusal(by: decision.step.rule) }
        guard let route = decision.chosen.first, let word = Self.refusalWord(route), !isNullEntry(route) else {
            return nil
        }
        let table = route.route.message.table
        let place = table == .main ? "" : " in table \(RouteText.table(table))"
        let cure = RouteCommand.delete(route.route.message, scene)
        let isBySource = decision.step.rule.source.length > 0
        guard let hidden = hidden(among: isBySource ? decision.step.candidates : probe.candidates) else {
            if isBySource { return refusal(word, by: decision.step.rule) }
            let whole = route.route.message.destination.length == 0
            let what = whole ? "the only default route" : "the only route to \(probe.destination)"
            return .init(.refuses, .init("\(what)\(place) is \(word), which leads nowhere", cure: cure))
        }
        return .init(.hidesAnother, .init("\(word)\(place) hides the default route through \(hidden)", cure: cure))
    }

    private func refusal(by rule: RuleMessage) -> FamilyFinding {
        let action = rule.action == .prohibit ? "prohibit" : rule.action == .blackhole ? "blackhole" : "unreachable"
        return .init(
            .refuses,
            .init(
                "rule \(rule.priority) refuses \(RuleText.scope(of: rule)) (\(action))",
                cure: RouteCommand.delete(rule, scene)
            )
        )
    }

    private func refusal(_ word: String, by rule: RuleMessage) -> FamilyFinding {
        let table = RouteText.table(rule.table)
        let source = rule.source.text
        return .init(
            .refuses,
            .init(
                "rule \(rule.priority) sends what comes from \(source) to table \(table), which has only \(word)",
                cure: RouteCommand.delete(rule, scene)
            )
        )
    }

    /// `an unreachable route`; nil for a route that refuses nothing.
    private static func refusalWord(_ route: RouteCandidate) -> String? {
        let message = route.route.message
        switch message.type {
        case .unreachable: return "an unreachable route"
        case .prohibit: return "a prohibit route"
        case .blackhole: return "a blackhole route"
        default: break
        }
        guard message.type == .unicast, let id = message.nexthopID, route.legs.isEmpty else { return nil }
        return "a route by the blackhole nexthop \(id)"
    }

    /// IPv6 tables of older kernels end with an unreachable route of their own, which hides nothing.
    private func isNullEntry(_ route: RouteCandidate) -> Bool {
        family.family == .ipv6 && route.route.message.metric == .max
    }

    /// The interface of a route that would work if the chosen one were not there.
    private func hidden(among candidates: [RouteCandidate]) -> String? {
        let other = candidates.first { $0.isUsable && $0.verdict != .chosen }
        return other?.legs.first.map { scene.name($0.leg.interface) }
    }
}
