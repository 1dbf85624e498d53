/// The look-ups of a connect(2).
struct Connection {
    /// What the first look-up answered, without a source.
    let first: LookupOutcome
    /// What the socket would use.
    let outcome: LookupOutcome
    /// When the first of the routes that decided expires.
    let nextExpiry: Instant?
    /// Whether a look-up of another destination would end the same.
    let isSameForAll: Bool

    private init(_ first: LookupOutcome, _ outcome: LookupOutcome, _ nextExpiry: Instant?, isSameForAll: Bool) {
        self.first = first
        self.outcome = outcome
        self.nextExpiry = nextExpiry
        self.isSameForAll = isSameForAll
    }

    private init(_ first: LookupOutcome, _ outcome: LookupOutcome, _ walk: RuleWalk) {
        self.first = first
        self.outcome = outcome
        self.nextExpiry = walk.nextExpiry
        self.isSameForAll = !walk.dependsOnDestination
    }

    private init(_ first: LookupOutcome, _ outcome: LookupOutcome, _ walk: RuleWalk, _ second: RuleWalk) {
        self.first = first
        self.outcome = outcome
        self.nextExpiry = Self.earliest(walk, second)
        self.isSameForAll = !walk.dependsOnDestination && !second.dependsOnDestination
    }

    /// Makes the look-ups.
    static func run(_ flow: ProbeFlow, _ model: LookupModel) -> Self {
        var walk = RuleWalk(flow, model)
        let first = walk.run()
        switch flow.family {
        case .ipv4: return ipv4(flow, walk, first, model)
        case .ipv6: return ipv6(flow, walk, first, model)
        }
    }

    /// `ip_route_connect`: a second look-up, with the source that the first selected.
    ///
    /// Without rules that compare the source it gives the same.
    private static func ipv4(
        _ flow: ProbeFlow,
        _ walk: RuleWalk,
        _ first: LookupOutcome,
        _ model: LookupModel
    ) -> Self {
        guard walk.dependsOnSource, case .selected(let selection) = first, selection.leg.source != nil else {
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

    /// Adds what another attempt led to: the kernel's hash may choose a next hop with its source.
    private func joined(with other: Self) -> Self {
        var outcome = outcome
        if case .selected(var selection) = outcome {
            selection.join(other.outcome)
            outcome = .selected(selection)
        }
        let expiries = [nextExpiry, other.nextExpiry].compactMap(\.self)
        return .init(first, outcome, expiries.min(), isSameForAll: isSameForAll && other.isSameForAll)
    }

    /// `ip6_dst_lookup_tail`: a second look-up, with a source selected for any interface, only if the first failed.
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
        if choice.dependsOnDestination { walk.noteDestination() }
        var bound = flow
        bound.source = source
        var second = RuleWalk(bound, model)
        let outcome = second.run()
        return .init(first, supported(outcome), walk, second)
    }

    /// `ip6_dst_lookup_tail` refuses an IPv4-mapped source for a destination that is none (RFC 4291, 2.5.5.2).
    private static func supported(_ outcome: LookupOutcome) -> LookupOutcome {
        guard case .selected(let selection) = outcome, selection.leg.hasMappedSource else { return outcome }
        if selection.alternatives.contains(where: { !$0.hasMappedSource }) { return outcome }
        return .refused(errno: LookupErrno.familyNotSupported, .noSource)
    }

    private static func earliest(_ first: RuleWalk, _ second: RuleWalk) -> Instant? {
        guard let one = first.nextExpiry, let other = second.nextExpiry else {
            return first.nextExpiry ?? second.nextExpiry
        }
        return min(one, other)
    }
}

extension SelectedLeg {
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
        let own = first.legs.filter { $0.source == source }.map(\.interface)
        let preferred = selection.alternatives.filter { own.contains($0.interface) }
        guard let leg = preferred.first else { return self }
        selection.unpreferred = selection.alternatives.filter { !own.contains($0.interface) }
        selection.leg = leg
        selection.alternatives = preferred.count > 1 ? preferred : []
        return .selected(selection)
    }
}

extension RouteSelection {
    /// Adds what another lookup of the same connection led to.
    fileprivate mutating func join(_ other: LookupOutcome) {
        switch other {
        case .selected(let selection): join(selection)
        case .refused(let errno, _): if !refusals.contains(errno) { refusals.append(errno) }
        }
    }

    /// Adds the next hops of what another lookup selects.
    private mutating func join(_ other: Self) {
        guard other.type == type else { return }
        var legs = legs
        add(other.legs, of: other, to: &legs)
        if legs.count > 1 { alternatives = legs }
        add(other.unpreferred, of: other, to: &unpreferred)
    }

    /// Adds next hops of another selection that are not there yet, with the table in which it was found.
    private func add(_ added: [SelectedLeg], of other: Self, to legs: inout [SelectedLeg]) {
        for var leg in added {
            leg.table = leg.table ?? (other.table == table ? nil : other.table)
            if !legs.contains(leg) { legs.append(leg) }
        }
    }

    /// Every next hop that may be chosen.
    fileprivate var legs: [SelectedLeg] { alternatives.isEmpty ? [leg] : alternatives }

    /// Whether any leg has a source.
    fileprivate var hasSource: Bool { leg.source != nil || alternatives.contains { $0.source != nil } }

    /// The sources that the legs give, that of the preferred leg first, each once.
    fileprivate var sources: [IPAddress] {
        var sources = leg.source.map { [$0] } ?? []
        for alternative in alternatives {
            if let source = alternative.source, !sources.contains(source) { sources.append(source) }
        }
        return sources
    }
}
