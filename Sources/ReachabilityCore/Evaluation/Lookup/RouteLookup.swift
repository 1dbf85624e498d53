/// The kernel's routing decision, made from the model: rules, tables, routes, next hops and source addresses.
///
/// The result is that of `ip_route_output_key` and `ip6_route_output` of Linux 6.18, without asking the kernel. Routes longer
/// than ``RouteMessage/longestDefaultLikePrefix`` are not part of the model: the probe addresses are chosen so that they
/// hardly ever lie in one. Devices are used in the order of their indexes where the kernel uses that of their registration,
/// which netlink does not report.
package enum RouteLookup {
    /// Makes one lookup, as `RTM_GETROUTE` does: of the flow as it is.
    ///
    /// - Parameters:
    ///   - flow: The flow.
    ///   - snapshot: The model of the machine.
    ///   - now: The moment at which the expiry of routes is checked.
    /// - Returns: The route that the kernel would select, or the errno with which it would refuse.
    package static func lookup(_ flow: ProbeFlow, in snapshot: NetworkSnapshot, at now: Instant) -> LookupOutcome {
        var walk = RuleWalk(flow, LookupModel(snapshot, at: now))
        return walk.run()
    }

    /// Makes the lookups of connect(2) of an unbound UDP socket, and returns their final outcome.
    ///
    /// IPv4 looks up again with the source that the first lookup selected, so that rules on the source match it; IPv6
    /// selects the source by itself if the first lookup failed, and looks up again with it.
    ///
    /// - Parameters:
    ///   - flow: The flow, its source unspecified.
    ///   - snapshot: The model of the machine.
    ///   - now: The moment at which the expiry of routes is checked.
    /// - Returns: What the socket would use, or the errno that connect(2) would give.
    package static func connect(_ flow: ProbeFlow, in snapshot: NetworkSnapshot, at now: Instant) -> LookupOutcome {
        Connection.run(flow, LookupModel(snapshot, at: now)).outcome
    }
}

/// The lookups of connect(2).
struct Connection {
    /// The outcome of the first lookup, without a source.
    let first: LookupOutcome
    /// The outcome for the socket.
    let outcome: LookupOutcome
    /// When the first of the routes that decided expires.
    let nextExpiry: Instant?
    /// Whether a lookup of another destination would have the same outcome.
    let isSameForAll: Bool

    private init(_ first: LookupOutcome, _ outcome: LookupOutcome, _ nextExpiry: Instant?, isSameForAll: Bool) {
        self.first = first
        self.outcome = outcome
        self.nextExpiry = nextExpiry
        self.isSameForAll = isSameForAll
    }

    private init(_ first: LookupOutcome, _ outcome: LookupOutcome, _ walk: RuleWalk) {
        self.init(first, outcome, walk.nextExpiry, isSameForAll: !walk.dependsOnDestination)
    }

    private init(_ first: LookupOutcome, _ outcome: LookupOutcome, _ walk: RuleWalk, _ second: RuleWalk) {
        let isSameForAll = !walk.dependsOnDestination && !second.dependsOnDestination
        self.init(first, outcome, .earlier(walk.nextExpiry, second.nextExpiry), isSameForAll: isSameForAll)
    }

    /// Makes the lookups.
    static func run(_ flow: ProbeFlow, _ model: LookupModel) -> Self {
        var walk = RuleWalk(flow, model)
        let first = walk.run()
        switch flow.family {
        case .ipv4: return ipv4(flow, walk, first, model)
        case .ipv6: return ipv6(flow, walk, first, model)
        }
    }

    /// `ip_route_connect`: a second lookup, with the source that the first selected.
    ///
    /// Without rules that compare the source it has the same outcome.
    private static func ipv4(
        _ flow: ProbeFlow,
        _ walk: RuleWalk,
        _ first: LookupOutcome,
        _ model: LookupModel
    ) -> Self {
        guard walk.dependsOnSource, case .selected(let selection) = first, selection.nextHop.source != nil else {
            return .init(first, first, walk)
        }
        let attempts = selection.sources.map { source in
            var bound = flow
            bound.source = source
            var second = RuleWalk(bound, model)
            let outcome = second.run().preferring(source, of: selection)
            return Self(first, outcome, walk, second)
        }
        guard var result = attempts.first(where: \.isSelected) ?? attempts.last else {
            return .init(first, first, walk)
        }
        for attempt in attempts { result = result.joined(with: attempt) }
        return result
    }

    private var isSelected: Bool { if case .selected = outcome { true } else { false } }

    /// Adds the outcome of another attempt: the kernel's hash may choose a next hop with its source.
    private func joined(with other: Self) -> Self {
        var outcome = outcome
        if case .selected(var selection) = outcome {
            selection.join(other.outcome)
            outcome = .selected(selection)
        }
        let expiry = Instant.earlier(nextExpiry, other.nextExpiry)
        return .init(first, outcome, expiry, isSameForAll: isSameForAll && other.isSameForAll)
    }

    /// `ip6_dst_lookup_tail`: a second lookup, with a source selected for any interface, only if the first failed.
    private static func ipv6(
        _ flow: ProbeFlow,
        _ walk: consuming RuleWalk,
        _ first: LookupOutcome,
        _ model: LookupModel
    ) -> Self {
        let unavailable = LookupOutcome.refused(errno: LookupErrno.addressNotAvailable, .noSource)
        if case .selected(let selection) = first {
            return .init(first, selection.hasSource ? supported(first) : unavailable, walk)
        }
        let choice = model.ipv6SourceChoice(to: flow.destination, through: nil)
        guard let source = choice.best else { return .init(first, unavailable, walk) }
        if choice.dependsOnDestination { walk.dependsOnDestination = true }
        var bound = flow
        bound.source = source
        var second = RuleWalk(bound, model)
        let outcome = second.run()
        return .init(first, supported(outcome), walk, second)
    }

    /// `ip6_dst_lookup_tail` refuses an IPv4-mapped source for a destination that is none (RFC 4291, 2.5.5.2).
    private static func supported(_ outcome: LookupOutcome) -> LookupOutcome {
        guard case .selected(let selection) = outcome, selection.nextHop.hasMappedSource else { return outcome }
        if selection.alternatives.contains(where: { !$0.hasMappedSource }) { return outcome }
        return .refused(errno: LookupErrno.familyNotSupported, .noSource)
    }
}

extension SelectedNextHop {
    /// Whether the source is an IPv4-mapped address, which no socket of IPv6 may send from to an IPv6 destination.
    var hasMappedSource: Bool { source?.family == .ipv6 && source?.isIPv4Mapped == true }
}

extension LookupOutcome {
    /// The outcome of a lookup with a source: of several next hops, those to which the source belongs.
    ///
    /// `fib_select_multipath` prefers them (Linux 6.16); the others stay in ``RouteSelection/unpreferred``.
    ///
    /// - Parameters:
    ///   - source: The source of the lookup.
    ///   - first: What the lookup without a source selected, with the source of each next hop.
    /// - Returns: The outcome with the next hops that the kernel chooses among.
    fileprivate func preferring(_ source: IPAddress, of first: RouteSelection) -> Self {
        guard case .selected(var selection) = self, selection.table == first.table else { return self }
        let own = first.nextHops.filter { $0.source == source }.map(\.interface)
        let preferred = selection.alternatives.filter { own.contains($0.interface) }
        guard let nextHop = preferred.first else { return self }
        selection.unpreferred = selection.alternatives.filter { !own.contains($0.interface) }
        selection.nextHop = nextHop
        selection.alternatives = preferred.count > 1 ? preferred : []
        return .selected(selection)
    }
}

extension RouteSelection {
    /// Adds the outcome of another lookup of the same connection.
    fileprivate mutating func join(_ other: LookupOutcome) {
        switch other {
        case .selected(let selection): join(selection)
        case .refused(let errno, _): if !refusals.contains(errno) { refusals.append(errno) }
        }
    }

    /// Adds the next hops of what another lookup selects.
    private mutating func join(_ other: Self) {
        guard other.type == type else { return }
        var nextHops = nextHops
        add(other.nextHops, of: other, to: &nextHops)
        if nextHops.count > 1 { alternatives = nextHops }
        add(other.unpreferred, of: other, to: &unpreferred)
    }

    /// Adds next hops of another selection that are not there yet, with the table in which it was found.
    private func add(_ added: [SelectedNextHop], of other: Self, to nextHops: inout [SelectedNextHop]) {
        for var nextHop in added {
            nextHop.table = nextHop.table ?? (other.table == table ? nil : other.table)
            if !nextHops.contains(nextHop) { nextHops.append(nextHop) }
        }
    }

    /// Every next hop that may be chosen.
    fileprivate var nextHops: [SelectedNextHop] { alternatives.isEmpty ? [nextHop] : alternatives }

    /// Whether any next hop has a source.
    fileprivate var hasSource: Bool { nextHop.source != nil || alternatives.contains { $0.source != nil } }

    /// The sources that the next hops give, that of the preferred next hop first, each once.
    fileprivate var sources: [IPAddress] {
        var sources = nextHop.source.map { [$0] } ?? []
        for alternative in alternatives {
            if let source = alternative.source, !sources.contains(source) { sources.append(source) }
        }
        return sources
    }
}
