/// Judges a model: whether, and through what, this machine reaches the public internet.
public struct PathEvaluator: Sendable, Hashable {
    /// Whose sockets are judged, and the user's own rules.
    public var context: EvaluationContext

    /// Makes an evaluator.
    public init(context: EvaluationContext) {
        self.context = context
    }

    /// Judges a model by its own routing decision for each probe address.
    ///
    /// - Parameters:
    ///   - snapshot: The model of the machine.
    ///   - now: The moment at which routes' expiries are judged.
    /// - Returns: The path, how each family's verdict came about, and when it may change by itself.
    public func evaluate(_ snapshot: NetworkSnapshot, at now: Instant) -> PathEvaluation {
        judge(ipv4: outcomes(.ipv4, snapshot, at: now), ipv6: outcomes(.ipv6, snapshot, at: now), snapshot, at: now)
    }

    /// Judges the kernel's own answers, in the order of ``ProbeAddresses``; links and addresses come from the model.
    ///
    /// - Parameters:
    ///   - ipv4: The final answer for each IPv4 probe address.
    ///   - ipv6: The final answer for each IPv6 probe address.
    ///   - snapshot: The model of the machine, of which routes and rules may not be read yet.
    ///   - now: The moment of the judgement.
    /// - Returns: The path, and how each family's verdict came about.
    public func judge(
        ipv4: [LookupOutcome],
        ipv6: [LookupOutcome],
        _ snapshot: NetworkSnapshot,
        at now: Instant
    ) -> PathEvaluation {
        PathEvaluation(
            path: .init(status: .notReachable),
            ipv4: .init(outcomes: ipv4, path: nil),
            ipv6: .init(outcomes: ipv6, path: nil)
        )
    }

    private func outcomes(_ family: AddressFamily, _ snapshot: NetworkSnapshot, at now: Instant) -> [LookupOutcome] {
        ProbeAddresses.of(family).map {
            RouteLookup.connect(.init(to: $0, user: context.user), in: snapshot, at: now)
        }
    }
}
