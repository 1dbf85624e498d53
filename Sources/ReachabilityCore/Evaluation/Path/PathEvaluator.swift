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
        let ipv4 = evaluate(.ipv4, snapshot, at: now)
        let ipv6 = evaluate(.ipv6, snapshot, at: now)
        return .init(path: .init(ipv4, ipv6), ipv4: ipv4, ipv6: ipv6)
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
        let judge = FamilyJudge(snapshot, context, at: now)
        let ipv4 = judge.evaluation(of: ipv4, faults: [], nextExpiry: nil)
        let ipv6 = judge.evaluation(of: ipv6, faults: [], nextExpiry: nil)
        return .init(path: .init(ipv4, ipv6), ipv4: ipv4, ipv6: ipv6)
    }

    private func evaluate(
        _ family: AddressFamily,
        _ snapshot: NetworkSnapshot,
        at now: Instant
    ) -> FamilyEvaluation {
        let model = LookupModel(snapshot, at: now)
        var outcomes: [LookupOutcome] = []
        var faults: [Reason] = []
        var nextExpiry: Instant?
        for address in ProbeAddresses.of(family) {
            let connection = Connection.run(.init(to: address, user: context.user), model)
            outcomes.append(connection.outcome)
            if connection.isLostToSourceRule { faults = [.sourceRule] }
            if let expiry = connection.nextExpiry { nextExpiry = min(nextExpiry ?? expiry, expiry) }
        }
        return FamilyJudge(snapshot, context, at: now).evaluation(of: outcomes, faults: faults, nextExpiry: nextExpiry)
    }
}

extension Connection {
    /// Whether the machine has a route, and a rule on the source address takes it away.
    fileprivate var isLostToSourceRule: Bool {
        guard case .selected = first, case .refused(let errno, _) = outcome else { return false }
        return errno != LookupErrno.addressNotAvailable
    }
}
