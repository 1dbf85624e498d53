import ReachabilityCore

extension DestinationPath {
    /// Makes of the kernel's answer what users are told: what carries the path, and whether it can.
    ///
    /// - Parameters:
    ///   - destination: The address that was looked up.
    ///   - answer: The kernel's answer.
    ///   - evaluator: Knows the user's own rules for kinds of interfaces.
    ///   - snapshot: The model of the machine.
    ///   - now: The moment of the answer.
    init(
        _ destination: IPAddress,
        _ answer: ProbeAnswer,
        _ evaluator: PathEvaluator,
        _ snapshot: NetworkSnapshot,
        at now: Instant
    ) {
        let flow = ProbeFlow(to: destination, user: evaluator.context.user)
        let outcome = answer.outcome(of: flow, in: snapshot, at: now)
        self.init(destination: destination, status: .notReachable, outcome: outcome)
        if case .selected(let selection) = outcome {
            interface = evaluator.describe(selection.leg.interface, in: snapshot)
            if selection.type == .local || selection.type == .anycast {
                staysHere()
                return
            }
        }
        let judgement = evaluator.judge(outcome, for: destination, snapshot, at: now)
        status = judgement.path?.status ?? .notReachable
        carriers = judgement.path?.carriers ?? []
        isExpensive = judgement.path?.isExpensive ?? false
        reasons = judgement.reasons
    }

    /// An address of this machine is reached without any link.
    private mutating func staysHere() {
        status = .wifi
        carriers = [interface].compactMap(\.self)
    }
}
