/// The evaluation that is outstanding: whether one is needed, postponed, or made but not yet good enough to publish.
struct PendingUpdate: Sendable, Hashable {
    /// Whether the evaluation is older than the model or the kernel's results.
    private(set) var isStale = false
    /// Since when no evaluation could be published because what is known does not suffice.
    private var undecidedSince: Instant?
    /// Whether ``noteQueuedReplies(at:)`` has postponed the publication once.
    private var isExtended = false
    /// When the changes are evaluated that were postponed.
    private(set) var postponed: Instant?
    /// The reasons of the postponed changes.
    private var postponedReasons: [ReachabilityReason] = []

    /// Whether nothing is outstanding but what waits for results.
    var isDone: Bool { !isStale && postponed == nil }

    /// Whether an evaluation was made that could not be published.
    var isUndecided: Bool { undecidedSince != nil }

    /// When an evaluation is published although it might still change.
    var publicationDeadline: Instant? { undecidedSince?.advanced(by: Pacing.publication) }

    /// Whether an undecided evaluation has waited long enough to be published.
    func mustPublish(at now: Instant) -> Bool { publicationDeadline.map { $0 <= now } ?? false }

    /// Records that replies are queued that may decide the evaluation: if it should have been published by now, it waits as long
    /// again, but only once.
    mutating func noteQueuedReplies(at now: Instant) {
        guard mustPublish(at: now), !isExtended else { return }
        isExtended = true
        undecidedSince = now
    }

    /// Records that the model or the kernel's results changed.
    mutating func invalidate() { isStale = true }

    /// Postpones the evaluation of a change that hardly affects the path, to evaluate it together with others.
    ///
    /// - Parameters:
    ///   - reasons: The reasons of the change.
    ///   - links: The number of links of the machine.
    ///   - now: The moment.
    mutating func postpone(_ reasons: [ReachabilityReason], links: Int, at now: Instant) {
        isStale = false
        for reason in reasons where !postponedReasons.contains(reason) { postponedReasons.append(reason) }
        postponed = postponed ?? now.advanced(by: Pacing.unimportantChange(links: links))
    }

    /// Takes what is due: postponed changes, and an evaluation that must be published.
    ///
    /// - Parameter now: The moment.
    /// - Returns: The reasons of the postponed changes that are due, and whether there were other changes.
    mutating func takeDue(at now: Instant) -> (reasons: [ReachabilityReason], isImportant: Bool) {
        if mustPublish(at: now) { isStale = true }
        let isImportant = isStale
        guard let postponed, postponed <= now else { return ([], isImportant) }
        defer { postponedReasons = [] }
        self.postponed = nil
        isStale = true
        return (postponedReasons, isImportant)
    }

    /// Records that an evaluation begins, which covers all changes so far.
    ///
    /// - Parameter staysStale: Whether the results that it needs are older than the model.
    mutating func beginEvaluation(staysStale: Bool) {
        isStale = staysStale
        postponed = nil
        postponedReasons = []
    }

    /// Records whether the evaluation could be published.
    mutating func endEvaluation(isUndecided: Bool, at now: Instant) {
        undecidedSince = isUndecided ? undecidedSince ?? now : nil
        if !isUndecided { isExtended = false }
    }
}
