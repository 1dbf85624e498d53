/// The walk through a family's rules (`fib_rules_lookup`).
struct RuleWalk {
    private let model: LookupModel
    /// What is looked up; a rule with `FIB_RULE_FIND_SADDR` gives it a source.
    private var flow: ProbeFlow
    /// Whether the socket has a source address, which such a rule does not change.
    private let hasSource: Bool
    /// Whether a rule was met that compares the source: then a look-up with another source may end elsewhere.
    private(set) var dependsOnSource = false
    /// When the first of the routes that decided expires.
    private(set) var nextExpiry: Instant?

    init(_ flow: ProbeFlow, _ model: LookupModel) {
        self.model = model
        self.flow = flow
        self.hasSource = !flow.source.isUnspecified
    }

    /// Goes through the rules until one gives an answer.
    mutating func run() -> LookupOutcome {
        let rules = model.snapshot.rules(flow.family)
        var position = 0
        while position < rules.count {
            if rules[position].source.length > 0 { dependsOnSource = true }
            if rules[position].matches(flow, hasSource: hasSource, model) {
                switch rules[position].action {
                case .goto:
                    position = Self.target(of: position, in: rules) ?? position + 1
                    continue
                case .noOperation: break
                case .lookup:
                    if let outcome = consult(position, rules) { return outcome }
                default: return Self.refusal(rules[position].action)
                }
            }
            position += 1
        }
        return .refused(errno: LookupErrno.networkUnreachable, .noRoute)
    }

    /// Where a `goto` leads: the first rule with the priority; nil if there is none behind it (unresolved).
    static func target(of position: Int, in rules: [RuleMessage]) -> Int? {
        guard let priority = rules[position].gotoPriority else { return nil }
        return rules[(position + 1)...].firstIndex { $0.priority == priority }
    }

    /// What the actions that refuse answer.
    static func refusal(_ action: RuleAction) -> LookupOutcome {
        switch action {
        case .unreachable: .refused(errno: LookupErrno.networkUnreachable, .unreachable)
        case .prohibit: .refused(errno: LookupErrno.accessDenied, .prohibited)
        default: .refused(errno: LookupErrno.invalid, .blackhole)
        }
    }

    /// Looks the flow up in a rule's table; nil if the walk goes on.
    private mutating func consult(_ position: Int, _ rules: [RuleMessage]) -> LookupOutcome? {
        switch model.answer(to: flow, hasSource: hasSource, from: rules[position].table) {
        case .none: return nil
        case .refused(let errno, let reason, let expiry):
            note(expiry)
            guard findSource(rules[position], through: LookupModel.loopbackIndex) else { return nil }
            if model.passesOverRefusals(at: position, rules) { return nil }
            return .refused(errno: errno, reason)
        case .found(var route):
            note(route.expiry)
            guard findSource(rules[position], through: route.leg.interface) else { return nil }
            guard !model.suppresses(rules[position], &route) else { return nil }
            return route.outcome(model.snapshot)
        }
    }

    private mutating func note(_ expiry: Instant?) {
        guard let expiry else { return }
        nextExpiry = min(nextExpiry ?? expiry, expiry)
    }

    /// A rule with `FIB_RULE_FIND_SADDR` matches only if the source that would be selected lies in its prefix.
    ///
    /// - Returns: Whether the rule's answer stands.
    private mutating func findSource(_ rule: RuleMessage, through index: InterfaceIndex) -> Bool {
        guard flow.family == .ipv6, !hasSource, rule.source.length > 0, rule.flags.contains(.findSource) else {
            return true
        }
        guard let source = model.ipv6Source(to: flow.destination, through: index) else { return false }
        guard rule.source.contains(source) else { return false }
        flow.source = source
        return true
    }
}

extension LookupModel {
    /// What a table answers.
    func answer(to flow: ProbeFlow, hasSource: Bool, from table: RouteTableID) -> TableAnswer {
        guard let routes = snapshot.routes[.init(flow.family, table)], !routes.isEmpty else { return .none }
        switch flow.family {
        case .ipv4: return IPv4Table(routes, table, self).look(up: flow)
        case .ipv6: return IPv6Table(routes, table, self).look(up: flow)
        }
    }

    /// Whether a rule does not take a route (`suppress_prefixlength`, `suppress_ifgroup`).
    ///
    /// IPv4 judges the group of a route's first leg, IPv6 that of the leg which the flow's hash chooses: legs through
    /// the group are taken out.
    func suppresses(_ rule: RuleMessage, _ route: inout FoundRoute) -> Bool {
        if let limit = rule.suppressPrefixLength, Int32(route.prefixLength) <= limit { return true }
        guard let group = rule.suppressInterfaceGroup else { return false }
        if let first = route.groupInterface { return isGroup(group, of: first) }
        route.alternatives.removeAll { isGroup(group, of: $0.interface) }
        if let first = route.alternatives.first {
            route.leg = first
            return false
        }
        return isGroup(group, of: route.leg.interface)
    }

    private func isGroup(_ group: UInt32, of index: InterfaceIndex) -> Bool {
        snapshot.linkPosition(index).map { snapshot.links[$0].group == group } ?? false
    }

    /// Whether the rules are those that every namespace begins with, and a refusal of table main is passed over.
    ///
    /// Before the first rule is ever added, `fib_lookup` does not walk the rules: it looks into main, and where that
    /// gives no route, for whatever reason, into default.
    func passesOverRefusals(at position: Int, _ rules: [RuleMessage]) -> Bool {
        guard rules.count == 3, position == 1, rules[1].family == .ipv4, rules[1].table == .main else { return false }
        guard rules[2].table == .default, rules[2].isPlain, rules[1].isPlain, rules[0].isPlain else { return false }
        return snapshot.routes[.init(.ipv4, .default)]?.isEmpty == false
    }
}

extension RuleMessage {
    /// Whether this is a rule as the kernel begins with: a table for all packets.
    fileprivate var isPlain: Bool {
        var plain = RuleMessage(family: family)
        plain.priority = priority
        plain.table = table
        plain.origin = origin
        plain.flags = flags
        return self == plain && !flags.contains(.invert)
    }
}
