/// The result of an evaluation: the path, and how each family was evaluated.
package struct PathEvaluation: Sendable, Hashable {
    /// The path over both families.
    package var path: NetworkPath
    /// The evaluation of IPv4.
    package var ipv4: FamilyEvaluation
    /// The evaluation of IPv6.
    package var ipv6: FamilyEvaluation

    /// Makes an evaluation.
    package init(path: NetworkPath, ipv4: FamilyEvaluation, ipv6: FamilyEvaluation) {
        self.path = path
        self.ipv4 = ipv4
        self.ipv6 = ipv6
    }
}

/// How one family was evaluated.
package struct FamilyEvaluation: Sendable, Hashable {
    private var shared: Shared<Fields>

    /// The outcome for each of ``ProbeAddresses``, in their order: of the final lookup, with the source selected.
    package var outcomes: [LookupOutcome] { shared.fields.outcomes }

    /// The path, if every probe has a usable one.
    package var path: FamilyPath? { shared.fields.path }

    /// The reasons why there is none, or why it is limited.
    package var reasons: [ReachabilityReason] {
        get { shared.fields.reasons }
        set { shared.fields.reasons = newValue }
    }

    /// The first moment at which the evaluation may change by itself: a route's expiry.
    package var nextExpiry: Instant? { shared.fields.nextExpiry }

    /// The tunnels on whose own path this one depends; it may be of the other family.
    package var tunnels: [InterfaceIndex] { shared.fields.tunnels }

    /// Makes a family's evaluation.
    package init(
        outcomes: [LookupOutcome],
        path: FamilyPath?,
        reasons: [ReachabilityReason] = [],
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
        var reasons: [ReachabilityReason]
        var nextExpiry: Instant?
        var tunnels: [InterfaceIndex]
    }
}

extension PathEvaluation {
    /// Returns one family's evaluation.
    func of(_ family: AddressFamily) -> FamilyEvaluation { family == .ipv4 ? ipv4 : ipv6 }
}

/// The inputs of an evaluation besides the model.
package struct EvaluationContext: Sendable, Hashable {
    /// The user whose sockets are evaluated (`uidrange` rules).
    package var user: UInt32
    /// The user's own rules for kinds of interfaces, first match wins.
    package var kindRules: [KindRule]
    /// Patterns of the names of interfaces whose use costs money, as ``KindRule/pattern`` has them.
    package var expensive: [String]
    /// Patterns of the names of interfaces that are to be used sparingly.
    package var constrained: [String]

    /// Makes a context.
    package init(user: UInt32, kindRules: [KindRule] = [], expensive: [String] = [], constrained: [String] = []) {
        self.user = user
        self.kindRules = kindRules
        self.expensive = expensive
        self.constrained = constrained
    }
}

/// A rule of the user's: interfaces whose name matches a pattern are of a kind (`wwan*=cellular`).
public struct KindRule: Sendable, Hashable {
    /// The pattern: `*` stands for any characters, `?` for one; the rest for itself.
    public var pattern: String
    /// The kind of the interfaces that match.
    public var kind: InterfaceKind

    /// Makes a rule.
    public init(pattern: String, kind: InterfaceKind) {
        self.pattern = pattern
        self.kind = kind
    }

    /// Whether the rule is about an interface of a name.
    public func matches(_ name: String) -> Bool { GlobPattern.matches(pattern, name) }
}
