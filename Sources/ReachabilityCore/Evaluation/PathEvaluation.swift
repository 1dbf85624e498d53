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
    /// The outcome for each of ``ProbeAddresses``, in their order: of the final look-up, with the source selected.
    public var outcomes: [LookupOutcome]
    /// The path, if every probe has one that can carry.
    public var path: FamilyPath?
    /// Why there is none, or what is wrong with the one there is.
    public var reasons: [Reason]
    /// The first moment at which the verdict may change by itself: a route's expiry.
    public var nextExpiry: Instant?

    /// Makes a family's evaluation.
    public init(
        outcomes: [LookupOutcome],
        path: FamilyPath?,
        reasons: [Reason] = [],
        nextExpiry: Instant? = nil
    ) {
        self.outcomes = outcomes
        self.path = path
        self.reasons = reasons
        self.nextExpiry = nextExpiry
    }
}
