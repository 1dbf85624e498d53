/// The outcome of judging a model: the path, and for each family how it was found.
public struct PathEvaluation: Sendable, Hashable {
    /// What users are told.
    public var path: NetworkPath
    /// How the IPv4 verdict came about.
    public var ipv4: FamilyEvaluation
    /// How the IPv6 verdict came about.
    public var ipv6: FamilyEvaluation

    /// Makes an evaluation.
    public init(path: NetworkPath, ipv4: FamilyEvaluation, ipv6: FamilyEvaluation) {
        self.path = path
        self.ipv4 = ipv4
        self.ipv6 = ipv6
    }
}

/// How one family's verdict came about.
public struct FamilyEvaluation: Sendable, Hashable {
    private var shared: Shared<Fields>

    /// The outcome for each of ``ProbeAddresses``, in their order: of the final look-up, with the source selected.
    public var outcomes: [LookupOutcome] {
        get { shared.fields.outcomes }
        set { shared.fields.outcomes = newValue }
    }

    /// The path, if every probe has one that can carry.
    public var path: FamilyPath? {
        get { shared.fields.path }
        set { shared.fields.path = newValue }
    }

    /// Why there is none, or what is wrong with the one there is.
    public var reasons: [Reason] {
        get { shared.fields.reasons }
        set { shared.fields.reasons = newValue }
    }

    /// The first moment at which the verdict may change by itself: a route's expiry.
    public var nextExpiry: Instant? {
        get { shared.fields.nextExpiry }
        set { shared.fields.nextExpiry = newValue }
    }

    /// The tunnels whose own path decides about this one; it may be of the other family.
    public var tunnels: [InterfaceIndex] {
        get { shared.fields.tunnels }
        set { shared.fields.tunnels = newValue }
    }

    /// Makes a family's evaluation.
    public init(
        outcomes: [LookupOutcome],
        path: FamilyPath?,
        reasons: [Reason] = [],
        nextExpiry: Instant? = nil,
        tunnels: [InterfaceIndex] = []
    ) {
        shared = .init(
            .init(
                outcomes: outcomes,
                path: path,
                reasons: reasons,
                nextExpiry: nextExpiry,
                tunnels: tunnels
            )
        )
    }

    private struct Fields: Sendable, Hashable {
        var outcomes: [LookupOutcome]
        var path: FamilyPath?
        var reasons: [Reason]
        var nextExpiry: Instant?
        var tunnels: [InterfaceIndex]
    }
}

extension PathEvaluation {
    /// Returns one family's evaluation.
    func of(_ family: AddressFamily) -> FamilyEvaluation { family == .ipv4 ? ipv4 : ipv6 }
}
