/// Which messages may well alter the verdict, and which hardly can: those about interfaces that no route leads through.
///
/// Containers come and go with interfaces of their own by the thousand. What is said of those is judged too, but
/// together and a little later. The sets need not be exact: a message that is taken for unimportant is late, not lost.
struct Relevance: Sendable, Hashable {
    private var interfaces: Set<InterfaceIndex> = []
    private var isStale = true

    /// Stacks of interfaces are not higher than this.
    private static let height = 8

    /// Notes that other routes, or other interfaces beneath them, may matter now.
    mutating func invalidate() { isStale = true }

    /// Whether a message may well alter the verdict.
    ///
    /// - Parameters:
    ///   - event: The message, not yet taken into the model.
    ///   - snapshot: The model.
    ///   - evaluation: The verdict so far.
    /// - Returns: Whether to judge at once.
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
            // What is beneath it may be another now.
            isStale = true
            return true
        }
        let master = message.masterIndex ?? snapshot.link(message.index)?.masterIndex
        guard let master, interfaces.contains(master) else { return false }
        interfaces.insert(message.index)
        return true
    }

    /// An address elsewhere may be the source of a path all the same, or become it where there is none.
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

    /// Adds what is beneath: lower interfaces, and members of bridges, bonds and VRFs.
    private mutating func addStacks(_ snapshot: NetworkSnapshot) {
        for _ in 0..<Self.height {
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
    /// Whether the verdict rests on an interface: by a route of the model, or by one that only the kernel knows.
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
