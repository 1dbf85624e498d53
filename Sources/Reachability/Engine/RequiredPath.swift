import ReachabilityCore

/// The path of a socket that is bound to an interface.
struct BoundPath: Sendable, Hashable {
    /// The path; its interface is the one that the socket is bound to.
    let path: DestinationPath
    /// The number of the destination's bits that the route matches.
    private let prefixLength: UInt8
    private let metric: UInt32

    init(_ interface: NetworkInterface, _ reply: ProbeResult, _ path: DestinationPath) {
        var path = path
        path.interface = interface
        self.path = path
        prefixLength = reply.matched?.length ?? 0
        guard case .selected(let selection) = reply.outcome else {
            metric = .max
            return
        }
        metric = selection.metric
    }

    /// Whether the kernel would prefer this path: the more specific route, then the lower metric, then the lower index.
    func isPreferred(to other: Self) -> Bool {
        if prefixLength != other.prefixLength { return prefixLength > other.prefixLength }
        if metric != other.metric { return metric < other.metric }
        return index < other.index
    }

    private var index: InterfaceIndex { path.interface?.index ?? 0 }
}

/// Chooses among the paths that may meet a requirement.
struct RequiredPath {
    let requirement: PathRequirement
    /// The path of an unbound socket.
    let unbound: DestinationPath
    /// The paths of sockets that are bound to interfaces which meet the requirement.
    let bound: [BoundPath]
    /// The interfaces that would meet it if they were usable.
    let ruledOut: [RuledOutInterface]

    /// The number of interfaces that a refusal names at most.
    private static let maximumRuledOut = 8

    /// The path to use: that of an unbound socket if it meets the requirement, else the one that the kernel prefers.
    var choice: DestinationPath {
        let usable = bound.filter { $0.path.isReachable && allows($0.path) }
        if let same = usable.first(where: { $0.path.interface?.index == unbound.interface?.index }) { return same.path }
        if let best = usable.min(by: { $0.isPreferred(to: $1) }) { return best.path }
        return refusal
    }

    private func allows(_ path: DestinationPath) -> Bool {
        guard let interface = path.interface else { return false }
        return requirement.allows(interface, over: path.carriers, isExpensive: path.isExpensive)
    }

    /// No path, or none yet, with the interfaces that were looked at: first the one that the kernel would take.
    private var refusal: DestinationPath {
        var list: [RuledOutInterface] = []
        if unbound.isReachable, let interface = unbound.interface, !allows(unbound) {
            list.append(.init(interface, .notAllowed))
        }
        for candidate in bound {
            guard let interface = candidate.path.interface else { continue }
            let reason = candidate.path.isReachable ? .notAllowed : candidate.path.reasons.first ?? .noRoute
            list.append(.init(interface, reason))
        }
        list = Array((list + ruledOut).prefix(Self.maximumRuledOut))
        var reasons: [ReachabilityReason] = []
        for reason in list.map(\.reason) where !reasons.contains(reason) { reasons.append(reason) }
        if reasons.isEmpty { reasons = unbound.reasons.isEmpty ? [.interfaceDown] : unbound.reasons }
        // An interface whose device is being examined may turn out to meet the requirement.
        let isUndecided = ruledOut.contains { $0.reason == .deviceProbing }
        return .init(
            destination: unbound.destination,
            status: isUndecided ? .unknown : .notReachable,
            outcome: unbound.outcome,
            reasons: reasons,
            ruledOut: list
        )
    }
}
