extension NetworkSnapshot {
    /// `RTM_NEWRULE`: behind the others of its priority (`fib_nl_newrule`); one that is known stays as it is.
    mutating func insert(_ message: RuleMessage, _ effect: inout SnapshotEffect) {
        withRules(message.family) { rules in
            let end = rules.firstIndex { $0.priority > message.priority } ?? rules.count
            if let known = rules.firstIndex(where: { $0.isSame(message) }) {
                rules[known] = message
            } else {
                rules.insert(message, at: end)
                effect.add(.ruleChanged)
            }
            rules.resolveTargets(&effect)
        }
    }

    /// `RTM_DELRULE`: the first that is the same.
    mutating func remove(_ message: RuleMessage, _ effect: inout SnapshotEffect) {
        withRules(message.family) { rules in
            guard let known = rules.firstIndex(where: { $0.isSame(message) }) else { return }
            rules.remove(at: known)
            effect.add(.ruleChanged)
            rules.resolveTargets(&effect)
        }
    }

    /// Where in a family's rules the walk goes on after a `goto`; nil if the kernel passes the rule over.
    ///
    /// The first rule of the target's priority (`ctarget`).
    public func gotoTarget(of rule: RuleMessage) -> Int? {
        guard let priority = rule.gotoPriority else { return nil }
        return rules(rule.family).firstIndex { $0.priority == priority }
    }

    /// Attaches rules that name an interface which got a name, and detaches those whose interface lost it.
    ///
    /// The kernel announces neither (`attach_rules`, `detach_rules`).
    mutating func markDetached(_ old: String?, _ new: String?, _ effect: inout SnapshotEffect) {
        for family in AddressFamily.allCases {
            withRules(family) { rules in
                for position in rules.indices where rules[position].namesInterface {
                    let before = rules[position].flags
                    if let old { rules[position].mark(old, isDetached: true) }
                    if let new { rules[position].mark(new, isDetached: false) }
                    if rules[position].flags != before { effect.add(.ruleChanged) }
                }
            }
        }
    }

    /// Brings the states of all rules in line with the interfaces, after both were read at different moments.
    mutating func settleRules() {
        let names = Set(links.map(\.name))
        guard !names.isEmpty else { return }
        for family in AddressFamily.allCases {
            withRules(family) { rules in
                for position in rules.indices where rules[position].namesInterface {
                    let input = rules[position].inputInterface
                    let output = rules[position].outputInterface
                    rules[position].set(.inputDetached, input.map { !names.contains($0) } ?? false)
                    rules[position].set(.outputDetached, output.map { !names.contains($0) } ?? false)
                }
            }
        }
    }

    /// Adds what every kernel has to a family without rules: those for the main and the default table.
    mutating func addMissingRules() {
        for family in AddressFamily.allCases where rules(family).isEmpty {
            for (priority, table) in [(32_766, RouteTableID.main), (32_767, .default)] {
                var rule = RuleMessage(family: family)
                rule.priority = UInt32(priority)
                rule.table = table
                var effect = SnapshotEffect()
                insert(rule, &effect)
            }
        }
    }

    private mutating func withRules(_ family: AddressFamily, _ body: (inout [RuleMessage]) -> Void) {
        if family == .ipv4 { body(&ipv4Rules) } else { body(&ipv6Rules) }
    }
}

extension RuleMessage {
    /// Whether the kernel takes this for the same rule, whatever its state.
    func isSame(_ other: Self) -> Bool {
        guard priority == other.priority else { return false }
        var left = self
        var right = other
        left.flags.subtract(.states)
        right.flags.subtract(.states)
        return left == right
    }

    /// Whether a selector names an interface.
    var namesInterface: Bool { inputInterface != nil || outputInterface != nil }

    mutating func mark(_ interface: String, isDetached: Bool) {
        if inputInterface == interface { set(.inputDetached, isDetached) }
        if outputInterface == interface { set(.outputDetached, isDetached) }
    }

    fileprivate mutating func set(_ flag: RuleFlags, _ value: Bool) {
        if value { flags.insert(flag) } else { flags.remove(flag) }
    }
}

extension RuleFlags {
    /// The flags that tell a rule's state, which changes without a message.
    static let states: Self = [.unresolved, .inputDetached, .outputDetached]
}

extension [RuleMessage] {
    /// Marks each `goto` by whether its target exists; that changes with other rules, without a message.
    fileprivate mutating func resolveTargets(_ effect: inout SnapshotEffect) {
        for position in indices where self[position].action == .goto {
            let target = self[position].gotoPriority
            let isUnresolved = !contains { $0.priority == target }
            guard self[position].flags.contains(.unresolved) != isUnresolved else { continue }
            self[position].set(.unresolved, isUnresolved)
            effect.add(.ruleChanged)
        }
    }
}
