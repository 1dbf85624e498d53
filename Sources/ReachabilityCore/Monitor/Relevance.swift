/// Which messages are likely to affect the path, and which hardly can: those about interfaces that no route uses.
///
/// Containers add and remove interfaces by the thousand. Messages about those are evaluated too, but together and after a
/// delay. The set need not be exact: a message that is wrongly taken for unimportant is delayed, not lost.
struct Relevance: Sendable, Hashable {
    private var interfaces: Set<InterfaceIndex> = []
    private var isStale = true

    /// The maximum number of interfaces stacked on each other.
    private static let maximumHeight = 8

    /// Records that routes, or the interfaces below them, changed.
    mutating func invalidate() { isStale = true }

    /// Decides whether a message is evaluated immediately.
    ///
    /// - Parameters:
    ///   - event: The message, not yet applied to the model.
    ///   - snapshot: The model.
    ///   - evaluation: The last evaluation.
    /// - Returns: Whether it is likely to affect the path.
    mutating func concerns(_ event: KernelEvent, _ snapshot: NetworkSnapshot, _ evaluation: PathEvaluation?) -> Bool {
        switch event {
        case .link(let message), .linkRemoved(let message):
            refresh(snapshot)
            return concerns(message, snapshot) || evaluation?.leads(through: message.index) ?? true
        case .address(let message), .addressRemoved(let message):
            refresh(snapshot)
            return concerns(message, evaluation)
        case .netconf(let message), .netconfRemoved(let message):
            refresh(snapshot)
            return message.index < 0 || interfaces.contains(message.index)
        case .wireless(let message):
            refresh(snapshot)
            return interfaces.contains(message.index) || evaluation?.leads(through: message.index) ?? true
        default: return true
        }
    }

    private mutating func concerns(_ message: LinkMessage, _ snapshot: NetworkSnapshot) -> Bool {
        if interfaces.contains(message.index) {
            // The interfaces below it may have changed.
            isStale = true
            return true
        }
        let master = message.masterIndex ?? snapshot.link(message.index)?.masterIndex
        guard let master, interfaces.contains(master) else { return false }
        interfaces.insert(message.index)
        return true
    }

    /// An address of another interface may be the source of a path, or become it where there is none.
    private func concerns(_ message: AddressMessage, _ evaluation: PathEvaluation?) -> Bool {
        if interfaces.contains(message.index) { return true }
        guard message.scope < .link else { return false }
        guard let path = evaluation?.of(message.address.family).path else { return true }
        return path.source == message.address
    }

    private mutating func refresh(_ snapshot: NetworkSnapshot) {
        guard isStale else { return }
        isStale = false
        interfaces = []
        for routes in snapshot.routes.values {
            for route in routes { interfaces.formUnion(route.message.nextHops.lazy.map(\.interface)) }
        }
        for nexthop in snapshot.nexthops.values {
            if let nextHop = nexthop.nextHop { interfaces.insert(nextHop.interface) }
        }
        addStacks(snapshot)
    }

    /// Adds the interfaces below: lower interfaces, and ports of bridges, bonds and VRFs.
    private mutating func addStacks(_ snapshot: NetworkSnapshot) {
        for _ in 0..<Self.maximumHeight {
            let before = interfaces.count
            for link in snapshot.links {
                if let lower = link.lowerIndex, link.lowerNamespace == nil, interfaces.contains(link.index) {
                    interfaces.insert(lower)
                }
                if let master = link.masterIndex, interfaces.contains(master) { interfaces.insert(link.index) }
            }
            guard interfaces.count > before else { return }
        }
    }
}

extension PathEvaluation {
    /// Whether the path leads through an interface: by a route of the model, or by one that only the kernel knows.
    fileprivate func leads(through index: InterfaceIndex) -> Bool {
        ipv4.leads(through: index) || ipv6.leads(through: index)
    }
}

extension FamilyEvaluation {
    fileprivate func leads(through index: InterfaceIndex) -> Bool {
        if let path, path.carriers.contains(where: { $0.index == index }) { return true }
        return outcomes.contains { outcome in
            guard case .selected(let selection) = outcome else { return false }
            return selection.nextHop.interface == index
        }
    }
}
