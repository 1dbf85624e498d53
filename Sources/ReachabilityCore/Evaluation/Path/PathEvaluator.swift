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
        let model = LookupModel(snapshot, at: now)
        let ipv4 = evaluate(.ipv4, model)
        let ipv6 = evaluate(.ipv6, model)
        return .init(path: .init(ipv4, ipv6), ipv4: ipv4, ipv6: ipv6)
    }

    /// Judges one family anew, and takes the other's part from an earlier evaluation.
    ///
    /// Of the interfaces nothing may have changed since.
    ///
    /// - Parameters:
    ///   - family: The family to judge.
    ///   - snapshot: The model of the machine.
    ///   - previous: An evaluation whose other family's part still holds.
    ///   - now: The moment at which routes' expiries are judged.
    /// - Returns: The same as ``evaluate(_:at:)``, for half the work.
    func evaluate(
        _ family: AddressFamily,
        of snapshot: NetworkSnapshot,
        keepingOther previous: PathEvaluation,
        at now: Instant
    ) -> PathEvaluation {
        // What carries a tunnel may be of the other family.
        let other = family == .ipv4 ? previous.ipv6 : previous.ipv4
        guard other.tunnels.isEmpty else { return evaluate(snapshot, at: now) }
        let known = family == .ipv4 ? previous.ipv4 : previous.ipv6
        let part = evaluate(family, LookupModel(snapshot, at: now), knowing: known.pathOfOneInterface)
        let ipv4 = family == .ipv4 ? part : previous.ipv4
        let ipv6 = family == .ipv6 ? part : previous.ipv6
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
        let model = LookupModel(snapshot, at: now)
        let ipv4 = judge(ipv4, model)
        let ipv6 = judge(ipv6, model)
        return .init(path: .init(ipv4, ipv6), ipv4: ipv4, ipv6: ipv6)
    }

    private func judge(_ outcomes: [LookupOutcome], _ model: LookupModel) -> FamilyEvaluation {
        var judge = FamilyJudge(model, context)
        for outcome in outcomes { judge.judge(outcome) }
        return judge.evaluation(of: outcomes, nextExpiry: nil)
    }

    /// Looks up each probe address; where nothing compares destinations, the first answer stands for all.
    private func evaluate(
        _ family: AddressFamily,
        _ model: LookupModel,
        knowing known: FamilyPath? = nil
    ) -> FamilyEvaluation {
        let probes = ProbeAddresses.of(family)
        var judge = FamilyJudge(model, context, knowing: known)
        var outcomes: [LookupOutcome] = []
        outcomes.reserveCapacity(probes.count)
        var nextExpiry: Instant?
        var isLostToSourceRule = false
        for address in probes {
            let connection = Connection.run(.init(to: address, user: context.user), model)
            judge.judge(connection.outcome)
            if connection.isLostToSourceRule { isLostToSourceRule = true }
            if let expiry = connection.nextExpiry { nextExpiry = min(nextExpiry ?? expiry, expiry) }
            outcomes.append(connection.outcome)
            guard connection.isSameForAll else { continue }
            while outcomes.count < probes.count { outcomes.append(connection.outcome) }
            break
        }
        if isLostToSourceRule { judge.note(.sourceRule) }
        return judge.evaluation(of: outcomes, nextExpiry: nextExpiry)
    }
}

extension Connection {
    /// Whether the machine has a route, and a rule on the source address takes it away.
    fileprivate var isLostToSourceRule: Bool {
        guard case .selected = first, case .refused(let errno, _) = outcome else { return false }
        return errno != LookupErrno.addressNotAvailable
    }
}

extension FamilyEvaluation {
    /// The path, if its interface carries it alone, and that follows from nothing but the interface.
    fileprivate var pathOfOneInterface: FamilyPath? {
        guard reasons.isEmpty, tunnels.isEmpty, let path else { return nil }
        return path.carriers.count == 1 && path.carriers[0].index == path.interface.index ? path : nil
    }
}
