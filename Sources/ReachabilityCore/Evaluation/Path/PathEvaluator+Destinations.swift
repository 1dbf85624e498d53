extension PathEvaluator {
    /// Judges the kernel's answer for one destination; links and addresses come from the model.
    ///
    /// - Parameters:
    ///   - answer: The final look-up of the destination.
    ///   - destination: The destination; one on the link, a group or all its hosts may be reached from a link-local
    ///     address.
    ///   - snapshot: The model of the machine.
    ///   - now: The moment of the judgement.
    /// - Returns: The path, or why there is none.
    public func judge(
        _ answer: LookupOutcome,
        for destination: IPAddress,
        _ snapshot: NetworkSnapshot,
        at now: Instant
    ) -> FamilyEvaluation {
        let isWithinLink = destination.isLinkLocal || answer.isForSeveralHosts
        var judge = FamilyJudge(LookupModel(snapshot, at: now), context, withinLink: isWithinLink)
        judge.judge(answer)
        return judge.evaluation(of: [answer], nextExpiry: nil)
    }

    /// Describes an interface of the model; nil if there is none with the index.
    public func describe(_ index: InterfaceIndex, in snapshot: NetworkSnapshot) -> NetworkInterface? {
        CarrierResolver.describe(index, LookupModel(snapshot, at: .init(nanoseconds: 0)), context)
    }
}

extension LookupOutcome {
    /// Whether the destination is a broadcast address of a link, or a multicast group.
    fileprivate var isForSeveralHosts: Bool {
        guard case .selected(let selection) = self else { return false }
        return selection.type == .broadcast || selection.type == .multicast
    }
}
