/// The kernel's own answers for every probe address, in the order of ``ProbeAddresses``.
public struct ProbeAnswers: Sendable, Hashable {
    /// For the IPv4 probe addresses.
    public var ipv4: [ProbeAnswer]
    /// For the IPv6 probe addresses.
    public var ipv6: [ProbeAnswer]

    /// Makes the answers.
    public init(ipv4: [ProbeAnswer], ipv6: [ProbeAnswer]) {
        self.ipv4 = ipv4
        self.ipv6 = ipv6
    }

    /// The answers of a family.
    public func of(_ family: AddressFamily) -> [ProbeAnswer] { family == .ipv4 ? ipv4 : ipv6 }
}

/// The kernel's own answer for one probe address: that of the last look-up which connect(2) would make.
public struct ProbeAnswer: Sendable, Hashable {
    /// What was selected, or the errno.
    public var outcome: LookupOutcome
    /// The prefix of the route that was selected; nil if it was not asked for (`RTM_F_FIB_MATCH`), or if there is none.
    public var matched: IPPrefix?
    /// Whether that route has several next hops, of which the answer names one.
    public var isMultipath: Bool
    /// Whether connect(2) would make no further look-up; if not, a refusal is not the last word.
    public var isFinal: Bool
    /// The source with which a socket connects although the look-up is refused; nil where the two agree.
    ///
    /// Of IPv6 routes that share a nexthop object the kernel remembers for each processor which one packets took last,
    /// also once that is gone: then `RTM_GETROUTE` is refused (`inet6_rtm_getroute`), and packets find their way.
    public var connectedSource: IPAddress?

    /// Makes an answer.
    public init(
        _ outcome: LookupOutcome,
        matched: IPPrefix? = nil,
        isMultipath: Bool = false,
        isFinal: Bool = true,
        connectedSource: IPAddress? = nil
    ) {
        self.outcome = outcome
        self.matched = matched
        self.isMultipath = isMultipath
        self.isFinal = isFinal
        self.connectedSource = connectedSource
    }

    /// The outcome; where the kernel refuses to tell the way of a socket that connects, the model's if that has its
    /// source.
    ///
    /// - Parameters:
    ///   - flow: What was looked up.
    ///   - snapshot: The model of the machine.
    ///   - now: The moment of the answer.
    /// - Returns: The way, or the refusal.
    public func outcome(of flow: ProbeFlow, in snapshot: NetworkSnapshot, at now: Instant) -> LookupOutcome {
        guard connectedSource != nil else { return outcome }
        let model = RouteLookup.connect(flow, in: snapshot, at: now)
        return model.agrees(with: self) ? model : outcome
    }

    /// Whether the route is one that the model does not mirror.
    ///
    /// Then the model, which knows the default-like routes alone, can't say what the kernel does with this probe.
    public var isCoveredBySpecificRoute: Bool {
        guard let matched else { return false }
        return matched.length > RouteMessage.longestDefaultLikePrefix
    }
}
