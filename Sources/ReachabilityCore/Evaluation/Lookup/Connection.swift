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
        var vain: Self?
        for source in selection.sources {
            var bound = flow
            bound.source = source
            var second = RuleWalk(bound, model)
            let outcome = second.run()
            let result = Self(first, outcome, walk, second)
            if case .selected = outcome { return result.after(vain) }
            vain = vain?.after(result) ?? result
        }
        return vain ?? .init(first, first, walk)
    }

    /// The same, where another attempt was made beside it, which may end otherwise for another destination or later.
    private func after(_ other: Self?) -> Self {
        guard let other else { return self }
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

extension RouteSelection {
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
