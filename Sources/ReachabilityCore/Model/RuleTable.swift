/// The rules of one family (ip-rule(8)), in the order in which the kernel walks them.
///
/// ``insert(_:_:)`` and ``remove(_:_:)`` keep the order as the kernel does; what replaces elements in other ways has to keep
/// it itself.
package struct RuleTable: Sendable, Hashable {
    /// The rules, in order.
    package internal(set) var elements: [RuleMessage] = []

    /// Takes `RTM_NEWRULE`: a new rule stands behind the others of its priority (`fib_nl_newrule`).
    mutating func insert(_ message: RuleMessage, _ effect: inout SnapshotEffect) {
        let end = elements.firstIndex { $0.priority > message.priority } ?? elements.count
        if let known = elements.firstIndex(where: { $0.isSame(message) }) {
            elements[known] = message
        } else {
            elements.insert(message, at: end)
            effect.add(.ruleChanged)
        }
        resolveTargets(&effect)
    }

    /// Takes `RTM_DELRULE`: removes the first rule that is the same.
    mutating func remove(_ message: RuleMessage, _ effect: inout SnapshotEffect) {
        guard let known = elements.firstIndex(where: { $0.isSame(message) }) else { return }
        elements.remove(at: known)
        effect.add(.ruleChanged)
        resolveTargets(&effect)
    }

    /// Marks each `goto` by whether its target exists; that changes with other rules, without a message.
    private mutating func resolveTargets(_ effect: inout SnapshotEffect) {
        for position in elements.indices where elements[position].action == .goto {
            let target = elements[position].gotoPriority
            let isUnresolved = !elements.contains { $0.priority == target }
            guard elements[position].flags.contains(.unresolved) != isUnresolved else { continue }
            elements[position].set(.unresolved, isUnresolved)
            effect.add(.ruleChanged)
        }
    }

    /// Attaches the rules that name an interface which appears, and detaches those whose interface disappears.
    ///
    /// The kernel announces neither (`attach_rules`, `detach_rules`).
    ///
    /// - Parameters:
    ///   - old: The name that no interface has any more; nil for none.
    ///   - new: The name that an interface has now; nil for none.
    ///   - effect: Takes what changed.
    mutating func rename(from old: String?, to new: String?, _ effect: inout SnapshotEffect) {
        for position in elements.indices where elements[position].namesInterface {
            let before = elements[position].flags
            if let old { elements[position].mark(old, isDetached: true) }
            if let new { elements[position].mark(new, isDetached: false) }
            if elements[position].flags != before { effect.add(.ruleChanged) }
        }
    }

    /// Brings the states of all rules in line with the names of the interfaces, after both were read at different moments.
    mutating func settle(_ names: Set<String>) {
        for position in elements.indices where elements[position].namesInterface {
            let input = elements[position].inputInterface
            let output = elements[position].outputInterface
            elements[position].set(.inputDetached, input.map { !names.contains($0) } ?? false)
            elements[position].set(.outputDetached, output.map { !names.contains($0) } ?? false)
        }
    }
}

extension RuleTable: ExpressibleByArrayLiteral {
    /// Makes a table of rules that are in order.
    package init(arrayLiteral elements: RuleMessage...) { self.elements = elements }
}

extension RuleMessage {
    /// Whether the kernel takes this for the same rule, whatever its state.
    fileprivate func isSame(_ other: Self) -> Bool {
        guard priority == other.priority else { return false }
        var left = self
        var right = other
        left.flags.subtract(.states)
        right.flags.subtract(.states)
        return left == right
    }

    /// Whether a selector names an interface.
    fileprivate var namesInterface: Bool { inputInterface != nil || outputInterface != nil }

    fileprivate mutating func mark(_ interface: String, isDetached: Bool) {
        if inputInterface == interface { set(.inputDetached, isDetached) }
        if outputInterface == interface { set(.outputDetached, isDetached) }
    }

    fileprivate mutating func set(_ flag: RuleFlags, _ value: Bool) {
        if value { flags.insert(flag) } else { flags.remove(flag) }
    }
}

extension RuleFlags {
    /// The flags of a rule's state, which changes without a message.
    fileprivate static let states: Self = [.unresolved, .inputDetached, .outputDetached]
}
