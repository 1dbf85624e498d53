import ReachabilityCore

/// The way of a socket that is bound to an interface.
struct BoundPath: Sendable, Hashable {
    /// The way; its interface is the one that the socket is bound to.
    let path: DestinationPath
    /// How much of the destination the route matches.
    private let prefixLength: UInt8
    private let metric: UInt32

    init(_ interface: NetworkInterface, _ answer: ProbeAnswer, _ path: DestinationPath) {
        var path = path
        path.interface = interface
        self.path = path
        prefixLength = answer.matched?.length ?? 0
        guard case .selected(let selection) = answer.outcome else {
            metric = .max
            return
        }
        metric = selection.metric
    }

    /// Whether the kernel would prefer this way: the more specific route, then the lower metric, then the lower index.
    func isPreferred(to other: Self) -> Bool {
        if prefixLength != other.prefixLength { return prefixLength > other.prefixLength }
        if metric != other.metric { return metric < other.metric }
        return index < other.index
    }

    private var index: InterfaceIndex { path.interface?.index ?? 0 }
}

/// Chooses among the ways that a requirement leaves.
struct RequiredPath {
    private let requirement: PathRequirement
    /// The way of an unbound socket.
    private let plain: DestinationPath
    private let ways: [BoundPath]
    private let ruledOut: [RuledOutInterface]

    /// More interfaces than this tell nobody more.
    private static let longestList = 8

    init(
        _ requirement: PathRequirement,
        plain: DestinationPath,
        ways: [BoundPath],
        ruledOut: [RuledOutInterface]
    ) {
        self.requirement = requirement
        self.plain = plain
        self.ways = ways
        self.ruledOut = ruledOut
    }

    /// The way to take: that of an unbound socket, if it may; else the one that the kernel prefers.
    var choice: DestinationPath {
        let usable = ways.filter { $0.path.isReachable && allows($0.path) }
        if let same = usable.first(where: { $0.path.interface?.index == plain.interface?.index }) { return same.path }
        if let best = usable.min(by: { $0.isPreferred(to: $1) }) { return best.path }
        return refusal
    }

    private func allows(_ path: DestinationPath) -> Bool {
        guard let interface = path.interface else { return false }
        return requirement.allows(interface, over: path.carriers, isExpensive: path.isExpensive)
    }

    /// No way, with what was looked at: first what the kernel would take.
    private var refusal: DestinationPath {
        var list: [RuledOutInterface] = []
        if plain.isReachable, let interface = plain.interface, !allows(plain) {
            list.append(.init(interface, .notAllowed))
        }
        for way in ways {
            guard let interface = way.path.interface else { continue }
            let reason = way.path.isReachable ? .notAllowed : way.path.reasons.first ?? .noRoute
            list.append(.init(interface, reason))
        }
        list = Array((list + ruledOut).prefix(Self.longestList))
        var reasons: [Reason] = []
        for reason in list.map(\.reason) where !reasons.contains(reason) { reasons.append(reason) }
        if reasons.isEmpty { reasons = plain.reasons.isEmpty ? [.interfaceDown] : plain.reasons }
        return .init(
            destination: plain.destination,
            status: .notReachable,
            outcome: plain.outcome,
            reasons: reasons,
            ruledOut: list
        )
    }
}

extension DestinationPath {
    /// Whether the packets stay on this machine, and need no interface.
    public var staysOnThisMachine: Bool { isReachable && interface?.kind == .loopback }
}
