/// The model of the machine's network as a monitor keeps it, and what is derived from it: its evaluation, which messages
/// are urgent, and which gateways compete.
///
/// The effect of a message, or of dumps, does not invalidate the evaluation by itself: the caller absorbs it.
struct MonitorModel: Sendable {
    /// The network according to messages and dumps.
    private(set) var snapshot = NetworkSnapshot()
    private var cache: EvaluationCache
    private var relevance = Relevance()
    private var neighbours = NeighbourWatch()

    /// Makes an empty model.
    init(_ context: EvaluationContext) { cache = .init(.init(context: context)) }

    // MARK: Messages

    /// Applies a message.
    ///
    /// A message about a link may show whether the link connects its master to the outside: a bridge without such a port
    /// has lost its carrier.
    mutating func apply(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) -> SnapshotEffect {
        let effect = snapshot.apply(event, header, at: now)
        if case .link(let message) = event, let link = snapshot.link(message.index) {
            UplinkPort.note(link, in: &snapshot, rules: cache.evaluator.context.kindRules)
        }
        return effect
    }

    /// Puts the result of ended dumps into the model, and returns the net difference; nil if there is no result.
    mutating func commit(_ reader: inout DumpReader) -> SnapshotEffect? {
        guard let effect = reader.commit(to: &snapshot) else { return nil }
        noteUplinks()
        relevance.invalidate()
        return effect
    }

    /// Passes a message of a recording to its reader, which puts the result of ended dumps into the model.
    mutating func replay(
        _ event: KernelEvent,
        _ header: NetlinkHeader,
        with recording: inout RecordingReader?,
        at now: Instant
    ) -> RecordingReader.Step {
        guard let step = recording?.receive(event, header, at: now, &snapshot) else { return .nothing }
        if case .committed = step { noteUplinks() }
        return step
    }

    /// Adds what every kernel has and a recording did not tell: the rules for the main and the default table.
    mutating func completeRecording() {
        cache.invalidate()
        snapshot.addMissingRules()
    }

    /// Forgets the associations of Wi-Fi interfaces, and returns what that changes.
    mutating func forgetAssociations() -> SnapshotEffect {
        var effect = SnapshotEffect()
        snapshot.forgetAssociations(&effect)
        return effect
    }

    /// Expects a report about the device of an interface that a message describes, which is not yet applied.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - isDumped: Whether it is an entry of a dump.
    mutating func expectDevice(of message: LinkMessage, isDumped: Bool) {
        let former = snapshot.link(message.index)
        let isReplacement = former?.isReplaced(by: Link(message), isDumped: isDumped) ?? false
        snapshot.devices.expect(message.index, isReplacement: isReplacement)
    }

    /// Expects no more reports about devices.
    mutating func expectNoDevices() { snapshot.devices.awaitNothing() }

    private mutating func noteUplinks() {
        UplinkPort.noteAll(in: &snapshot, rules: cache.evaluator.context.kindRules)
    }

    // MARK: Evaluation

    /// The last evaluation of the model, which may be out of date.
    var lastEvaluation: PathEvaluation? { cache.last }

    /// When a family was last evaluated.
    var evaluated: Instant { cache.evaluated }

    /// Returns the model's own evaluation.
    mutating func evaluation(at now: Instant) -> PathEvaluation { cache.evaluation(of: snapshot, at: now) }

    /// Returns the evaluation of each family by what is authoritative for it, the model or the kernel's results.
    mutating func evaluation(by check: inout KernelCheck, at now: Instant) -> PathEvaluation {
        check.evaluate(snapshot, &cache, at: now)
    }

    /// Records that the evaluation of one family, or (nil) of both, is out of date.
    mutating func invalidateEvaluation(of family: AddressFamily?) { cache.invalidate(family) }

    // MARK: Routes

    /// Records the reasons of a change: after routes have changed, other interfaces and gateways may matter.
    mutating func note(_ reasons: [ReachabilityReason]) {
        guard reasons.contains(where: \.isAboutRoutes) else { return }
        neighbours.invalidate()
        relevance.invalidate()
    }

    /// Returns whether a message, which is not yet applied, is likely to affect the path.
    mutating func isConcerned(by event: KernelEvent, _ evaluation: PathEvaluation?) -> Bool {
        relevance.concerns(event, snapshot, evaluation)
    }

    /// The states of neighbours that are read when everything is read again.
    var neighbourDumps: [DumpSubject] { neighbours.subjects }

    /// Finds the competing gateways again if routes have changed (``NeighbourWatch/update(_:)``), and forgets the neighbours
    /// that no longer matter: no path depends on them.
    mutating func updateNeighbours() -> NeighbourWatch.Update? {
        guard let update = neighbours.update(snapshot) else { return nil }
        snapshot.forgetNeighbours(on: update.forgotten)
        return update
    }
}

extension ReachabilityReason {
    /// Whether other routes may compete after it.
    fileprivate var isAboutRoutes: Bool {
        switch self {
        case .routeAdded, .routeRemoved, .routeReplaced, .routeFlushed, .nexthopChanged: true
        default: false
        }
    }
}
