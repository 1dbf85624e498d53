import NetworkLab
import ReachabilityCore

/// Compares the evaluator's results for one probe with the kernel's.
struct Comparison {
    /// The differences, in words; empty if there are none.
    private(set) var differences: [String] = []
    private let flow: ProbeFlow
    private let snapshot: NetworkSnapshot
    /// The model for each hash that a flow may have; each lookup has a different hash.
    private lazy var variants: [NetworkSnapshot] = flow.family == .ipv6 ? snapshot.variants : [snapshot]
    private let now: Instant

    init(_ flow: ProbeFlow, _ kernel: KernelResults, _ snapshot: NetworkSnapshot, at now: Instant) {
        self.flow = flow
        self.snapshot = snapshot
        self.now = now
        compare(kernel.first, from: nil)
        if let source = kernel.boundSource, let second = kernel.second { compare(second, from: source) }
        compareConnection(kernel)
    }

    private func lookup(from source: IPAddress?, in snapshot: NetworkSnapshot) -> LookupOutcome {
        var bound = flow
        if let source { bound.source = source }
        return RouteLookup.lookup(bound, in: snapshot, at: now)
    }

    /// Looks up in each variant.
    private mutating func lookups(from source: IPAddress?) -> [LookupOutcome] {
        variants.map { lookup(from: source, in: $0) }
    }

    private mutating func compare(_ kernel: KernelResult, from source: IPAddress?) {
        if allows(lookup(from: source, in: snapshot), kernel, comparesSource: source == nil) { return }
        let outcomes = lookups(from: source)
        guard !outcomes.contains(where: { allows($0, kernel, comparesSource: source == nil) }) else { return }
        let end = source.map { " from \($0)" } ?? ""
        let words = outcomes.map(\.line).joined(separator: " or ")
        differences.append("lookup of \(flow.destination)\(end): kernel \(kernel.line), model \(words)")
    }

    private func allows(_ outcome: LookupOutcome, _ kernel: KernelResult, comparesSource: Bool) -> Bool {
        switch (kernel, outcome) {
        case (.refused(let errno), .refused(let expected, _)): errno == expected
        case (.refused(LookupErrno.networkUnreachable), .selected(let selection)): isForgotten(selection)
        case (.route(let route), .selected(let selection)):
            selection.allows(route, comparesSource: comparesSource && !hidesSource(selection))
        default: false
        }
    }

    /// Whether the source depends on history: a nexthop object keeps the one that was selected when it was made, with
    /// scope link, until an address changes.
    private func hidesSource(_ selection: RouteSelection) -> Bool {
        flow.family == .ipv4 && isByNexthopObject(selection)
    }

    /// Whether the kernel may refuse the lookup although it has a route.
    ///
    /// For each processor it keeps the last route that was used through a nexthop object, even when it is gone
    /// (`StaleLookupTests`). The socket's result is compared anyway.
    private func isForgotten(_ selection: RouteSelection) -> Bool {
        flow.family == .ipv6 && isByNexthopObject(selection)
    }

    private func isByNexthopObject(_ selection: RouteSelection) -> Bool {
        snapshot.routes(flow.family, selection.table).contains {
            $0.message.nexthopID != nil && $0.message.metric == selection.metric
        }
    }

    /// Whether the kernel looks up `::` instead, the route to the default router: it does so while the gateway's entry
    /// is not valid and the source is still optimistic (`ip6_dst_lookup_tail`).
    private func isDetoured(_ outcome: LookupOutcome) -> Bool {
        guard flow.family == .ipv6, case .selected(let selection) = outcome else { return false }
        return selection.nextHops.contains { nextHop in
            let isOptimistic = snapshot.addresses.values.joined().contains {
                $0.address == nextHop.source && $0.flags.contains(.optimistic)
            }
            let key = NeighbourKey(index: nextHop.interface, address: nextHop.gateway ?? flow.destination)
            return isOptimistic && snapshot.neighbours[key]?.isDisjoint(with: .valid) == true
        }
    }

    /// The socket's end result must be one that the lookups lead to.
    ///
    /// Where several next hops give several sources, each leads to a second lookup of its own.
    private mutating func compareConnection(_ kernel: KernelResults) {
        if RouteLookup.connect(flow, in: snapshot, at: now).allows(kernel.connection) { return }
        let outcomes = variants.map { RouteLookup.connect(flow, in: $0, at: now) }
        var allowed = outcomes
        switch flow.family {
        case .ipv4:
            for case .selected(let first) in lookups(from: nil) {
                for source in first.nextHops.compactMap(\.source) { allowed += lookups(from: source) }
                if hidesSource(first), let source = kernel.boundSource { allowed += lookups(from: source) }
            }
        case .ipv6:
            if lookups(from: nil).contains(where: \.isRefused), let source = kernel.boundSource {
                allowed += lookups(from: source)
            }
            for case .selected(let selection) in outcomes { allowed += selection.faultyNextHops }
        }
        guard !allowed.contains(where: { $0.allows(kernel.connection) }) else { return }
        guard !outcomes.contains(where: isDetoured) else { return }
        let words = outcomes.map(\.line).joined(separator: " or ")
        differences.append("connect to \(flow.destination): kernel \(kernel.connection), model \(words)")
    }
}

extension RouteSelection {
    /// Every next hop that may be chosen.
    fileprivate var nextHops: [SelectedNextHop] { alternatives.isEmpty ? [nextHop] : alternatives }

    /// The result of connect(2) if the flow's hash chooses a next hop without a source.
    fileprivate var faultyNextHops: [LookupOutcome] {
        nextHops.compactMap { nextHop in
            guard let source = nextHop.source else { return .refused(errno: 99, .noSource) }
            return source.bits >> 32 == 0xFFFF ? .refused(errno: 97, .noSource) : nil
        }
    }

    /// Whether a kernel's reply is one of those that this selection says are possible.
    fileprivate func allows(_ route: RouteMessage, comparesSource: Bool) -> Bool {
        guard route.table == table, route.type == type, let reply = route.nextHops.first else { return false }
        return nextHops.contains { nextHop in
            guard nextHop.interface == reply.interface, nextHop.gateway == reply.gateway else { return false }
            // For a lookup with a source, the kernel reports none (IPv4), or the one that it would select without (IPv6).
            guard comparesSource else { return true }
            return route.preferredSource == nextHop.source
                || nextHop.source == nil && route.preferredSource?.isUnspecified == true
        }
    }
}

extension LookupOutcome {
    fileprivate var isRefused: Bool {
        if case .refused = self { true } else { false }
    }

    /// Whether this outcome agrees with the result of a real socket.
    ///
    /// Destinations whose route is of type broadcast need `SO_BROADCAST` (`ip4_datagram_connect`).
    fileprivate func allows(_ connection: ConnectOutcome) -> Bool {
        switch (self, connection) {
        case (.refused(let errno, _), .refused(let actual)): errno == actual
        case (.selected(let selection), .connected(let source)):
            selection.nextHops.contains { $0.source == source || ($0.source == nil && source.isUnspecified) }
        case (.selected(let selection), .refused(let errno)): selection.type == .broadcast && errno == 13
        case (.refused, .connected): false
        }
    }
}
