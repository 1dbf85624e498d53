extension PathEvaluator {
    /// Judges the kernel's answer for one destination; links and addresses come from the model.
    ///
    /// - Parameters:
    ///   - answer: The final look-up of the destination.
    ///   - snapshot: The model of the machine.
    ///   - now: The moment of the judgement.
    /// - Returns: The path, or why there is none.
    public func judge(_ answer: LookupOutcome, _ snapshot: NetworkSnapshot, at now: Instant) -> FamilyEvaluation {
        var judge = FamilyJudge(LookupModel(snapshot, at: now), context)
        judge.judge(answer)
        return judge.evaluation(of: [answer], nextExpiry: nil)
    }

    /// Describes an interface of the model; nil if there is none with the index.
    public func describe(_ index: InterfaceIndex, in snapshot: NetworkSnapshot) -> NetworkInterface? {
        CarrierResolver.describe(index, LookupModel(snapshot, at: .init(nanoseconds: 0)), context)
    }
}
