extension MonitorStateMachine {
    /// How long an incomplete model may keep a verdict from being published.
    private static let patience = Duration.seconds(1)
    /// How much later than the model's clock the kernel's may let a route expire: it counts in hundredths of a second.
    private static let kernelTick = Duration.milliseconds(20)

    /// Judges anew if there is something new; gives a notice if one is due.
    mutating func verdict(at now: Instant) -> StateChange? {
        distrustExpired(at: now)
        if let patienceEnd, patienceEnd <= now { isDirty = true }
        let isImportant = isDirty
        if let due = postponed, due <= now {
            postponed = nil
            isDirty = true
            publisher.note(postponedReasons)
            postponedReasons = []
        }
        guard isDirty, canEvaluate(at: now) else { return publisher.due(at: now) }
        isDirty = !hasCurrentAnswers && needsAnswers
        hasNewAnswers = false
        postponed = nil
        postponedReasons = []
        let evaluation = evaluate(at: now)
        self.evaluation = evaluation
        noteTunnels(of: evaluation, at: now)
        let isPublishable =
            isDecisive(evaluation) && !awaitsConfirmation(evaluation.path) && !awaitsDevice(evaluation.path)
        guard isPublishable || patienceEnd.map({ $0 <= now }) ?? false else {
            undecidedSince = undecidedSince ?? now
            publisher.expect(evaluation.path)
            planConfirmation(ofChange: true, at: now)
            return nil
        }
        undecidedSince = nil
        let change = publisher.offer(evaluation.path, isCurrent: !isDirty, at: now)
        planConfirmation(ofChange: change != nil, isImportant: isImportant, at: now)
        return change
    }

    /// When a verdict must be published, though the model might still alter it.
    var patienceEnd: Instant? { undecidedSince?.advanced(by: Self.patience) }

    /// When to see whether the first of the routes that decided has expired.
    var expiryDeadline: Instant? {
        Instant.earlier(expiry(.ipv4), expiry(.ipv6))?.advanced(by: Self.kernelTick)
    }

    /// When the first of a family's routes that decided expires, as far as the model's word counts.
    private func expiry(_ family: AddressFamily) -> Instant? {
        guard confirms, confirmation(family).basis == .model, let due = evaluation?.of(family).nextExpiry,
            due > modelVerdict.evaluated
        else { return nil }
        return due
    }

    /// Whether the verdict hangs on the kernel's look-ups.
    var needsAnswers: Bool { ipv4.basis == .kernel || ipv6.basis == .kernel }

    private func canEvaluate(at now: Instant) -> Bool {
        guard confirms else { return replayJudgement.map { $0 <= now } ?? false }
        guard reading.hasGroundwork else { return false }
        return !needsAnswers || hasCurrentAnswers || hasNewAnswers
    }

    /// Lets the kernel say whether a route has really expired: an advertisement that refreshes it is not announced.
    private mutating func distrustExpired(at now: Instant) {
        guard evaluation?.ipv4.nextExpiry != nil || evaluation?.ipv6.nextExpiry != nil else { return }
        let expired = AddressFamily.allCases.filter { expiry($0).map { $0 <= now } ?? false }
        guard !expired.isEmpty else { return }
        for family in expired { alter(family) { $0.distrustModel() } }
        modelChanges &+= 1
        modelVerdict.invalidate()
        isDirty = true
        hasCurrentAnswers = false
        publisher.note([.routeExpired])
        questions.ask(at: now, inDetail: true)
    }

    /// The model's own evaluation, made anew only if the model changed.
    mutating func evaluateModel(at now: Instant) -> PathEvaluation {
        modelVerdict.evaluation(snapshot, by: evaluator, at: now)
    }

    private mutating func evaluate(at now: Instant) -> PathEvaluation {
        guard needsAnswers else { return evaluateModel(at: now) }
        let kernel = evaluator.judge(
            ipv4: ipv4.answers.map(\.outcome),
            ipv6: ipv6.answers.map(\.outcome),
            snapshot,
            at: now
        )
        let needsModel = ipv4.basis == .model || ipv6.basis == .model
        let model = needsModel ? evaluateModel(at: now) : kernel
        let ipv4 = ipv4.choose(model: model.ipv4, kernel: kernel.ipv4)
        let ipv6 = ipv6.choose(model: model.ipv6, kernel: kernel.ipv6)
        return .init(path: .init(ipv4, ipv6), ipv4: ipv4, ipv6: ipv6)
    }

    /// Whether a path is to be confirmed before it is published.
    ///
    /// If it was read and not told: the kernel announces some changes before it makes them, so a dump may show what is
    /// about to go. And if only the reasons why there is no path are others: that is not urgent, and may last for a
    /// moment only, as the kernel announces a new IPv6 address later than it uses it.
    private func awaitsConfirmation(_ path: NetworkPath) -> Bool {
        guard confirms, !needsAnswers, let published = publisher.published else { return false }
        let isUrgent = published.status != .notReachable || path.status != .notReachable
        guard needsProof || !isUrgent, published != path else { return false }
        return !hasCurrentAnswers || ipv4.isPending || ipv6.isPending
    }

    /// Whether the model, once it is whole, could only agree.
    private func isDecisive(_ evaluation: PathEvaluation) -> Bool {
        guard !reading.isDone, needsAnswers else { return true }
        guard !evaluation.path.reasons.contains(.carrierUnknown) else { return false }
        return AddressFamily.allCases.allSatisfy { family in
            let confirmation = confirmation(family)
            return confirmation.basis == .model
                || confirmation.answers.allSatisfy { isDecisive($0, family, evaluation.path.status) }
        }
    }

    /// Whether an answer alone tells the path, or the reason why there is none.
    ///
    /// Of several next hops the answer names one, and of a VRF not the way out of it. ENETUNREACH is what both a
    /// missing route and a rule give. A refusal although a socket connects tells nothing.
    private func isDecisive(_ answer: ProbeAnswer, _ family: AddressFamily, _ status: ReachabilityStatus) -> Bool {
        guard answer.connectedSource == nil else { return false }
        switch answer.outcome {
        case .selected(let selection):
            return !answer.isMultipath && snapshot.link(selection.nextHop.interface)?.isVRF != true
        case .refused where status.isReachable: return true
        case .refused(LookupErrno.networkUnreachable, let reason):
            return reason == .noRoute && !snapshot.rules(family).contains { $0.action == .unreachable }
        case .refused(_, let reason): return reason != .sourceRule
        }
    }
}

extension Confirmation {
    /// The evaluation of whichever word counts.
    fileprivate func choose(model: FamilyEvaluation, kernel: FamilyEvaluation) -> FamilyEvaluation {
        guard basis == .kernel else { return model }
        guard isCoveredBySpecificRoute, kernel.path != nil else { return kernel }
        var kernel = kernel
        kernel.reasons.append(.coveredBySpecificRoute)
        return kernel
    }
}

extension PathEvaluation {
    /// A family's part.
    func of(_ family: AddressFamily) -> FamilyEvaluation { family == .ipv4 ? ipv4 : ipv6 }
}
