extension Explainer {
    /// Follows one walk through the rules.
    func explain(_ flow: ProbeFlow) -> LookupExplanation {
        var walk = RuleWalk(flow, model)
        walk.trace = []
        let outcome = walk.run()
        let walked = walk.trace ?? []
        // This outcome, and no other, comes of rules that all had no answer.
        let isDecided = outcome != .refused(errno: LookupErrno.networkUnreachable, .noRoute)
        var steps: [RuleStep] = []
        for position in walked { steps.append(step(position, flow, decides: isDecided && position == walked.last)) }
        steps += unreached(walked, flow)
        return .init(source: flow.source.isUnspecified ? nil : flow.source, outcome: outcome, steps: steps)
    }

    private func step(_ position: Int, _ flow: ProbeFlow, decides: Bool) -> RuleStep {
        let rules = model.snapshot.rules(flow.family)
        let rule = rules[position]
        switch rule.action {
        case .goto:
            return .init(
                rule: rule,
                result: .goesOn(RuleWalk.target(of: position, in: rules).map { rules[$0].priority })
            )
        case .noOperation: return .init(rule: rule, result: .nothing)
        case .lookup:
            let candidates = candidates(of: rule.table, flow, isTaken: decides)
            return .init(rule: rule, result: decides ? .answers : passing(rule, flow), candidates: candidates)
        default: return .init(rule: rule, result: .refuses(RuleWalk.refusal(rule.action)))
        }
    }

    /// Why the walk went on behind a rule that leads to a table.
    private func passing(_ rule: RuleMessage, _ flow: ProbeFlow) -> RuleStep.Result {
        let needsSource = flow.family == .ipv6 && rule.source.length > 0 && flow.source.isUnspecified
        switch model.answer(to: flow, from: rule.table) {
        case .none, .thrown: return .noAnswer
        case .refused: return needsSource ? .otherSource : .refusalPassedOver
        case .found(let route):
            if let limit = rule.suppressPrefixLength, Int32(route.prefixLength) <= limit {
                return .suppressedPrefix(limit)
            }
            return rule.suppressInterfaceGroup.map { .suppressedGroup($0) } ?? .otherSource
        }
    }

    /// The rules that would match, and lead to tables of which nothing was seen.
    private func unreached(_ walked: [Int], _ flow: ProbeFlow) -> [RuleStep] {
        let rules = model.snapshot.rules(flow.family)
        var seen = Set(walked.filter { rules[$0].action == .lookup }.map { rules[$0].table })
        var steps: [RuleStep] = []
        for position in rules.indices where !walked.contains(position) {
            let rule = rules[position]
            guard rule.action == .lookup, rule.matches(flow, hasSource: !flow.source.isUnspecified, model),
                seen.insert(rule.table).inserted
            else { continue }
            let routes = model.snapshot.routes(flow.family, rule.table)
            let candidates = routes.map { candidate($0, rule.table, flow, .notReached) }
            if !candidates.isEmpty { steps.append(.init(rule: rule, result: .notReached, candidates: candidates)) }
        }
        return steps
    }
}
