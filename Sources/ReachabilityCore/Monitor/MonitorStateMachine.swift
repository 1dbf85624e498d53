/// Everything that a monitor decides, as a value: it takes the kernel's messages and moments, and returns what to do.
///
/// It reads no clock and does no I/O. Its driver passes all messages that have been received, then performs what
/// ``next(at:)`` returns until that is nil, and comes back at ``deadline`` or with the next message. A burst of
/// messages so leads to one evaluation.
///
/// A changed path is published first and confirmed by lookups afterwards. While the model is being read, or is known to
/// differ from the kernel, the kernel's own lookups are authoritative.
package struct MonitorStateMachine: Sendable {
    /// The last evaluation; nil before the first.
    package private(set) var evaluation: PathEvaluation?
    /// How often things happened.
    package private(set) var counters = MonitorCounters()
    /// The number of messages that were evaluated immediately, because they were likely to affect the path.
    package private(set) var urgentEvents: UInt64 = 0
    /// Whether a change is published when a Wi-Fi interface of the path roams to another access point.
    package var reportsRoams = false

    private var model: MonitorModel
    private var connection = NetlinkConnection()
    private var reader = DumpReader()
    private var recording: RecordingReader?
    private var check: KernelCheck
    private var pending = PendingUpdate()
    private var publisher: PathPublisher
    private var queries = InterfaceQueries()
    /// The number of times the model changed or was read again.
    private var modelChanges: UInt64 = 0
    private var suspension = SuspensionMeter()

    /// Makes a machine that does nothing before ``start(after:at:)`` or ``replay(_:_:at:)``.
    ///
    /// - Parameters:
    ///   - context: The user whose sockets are evaluated, and the user's own rules.
    ///   - settle: How long a path must stay the same before a change is published.
    ///   - settleGoingDown: The same for changes from reachable to not reachable; nil for the value of `settle`.
    ///   - isReplay: Whether it replays a recording: it makes no lookups, and the model is authoritative.
    package init(
        context: EvaluationContext,
        settle: Duration = .zero,
        settleGoingDown: Duration? = nil,
        isReplay: Bool = false
    ) {
        self.model = .init(context)
        self.check = .init(isEnabled: !isReplay)
        self.recording = isReplay ? .init() : nil
        self.publisher = .init(settle: settle, settleGoingDown: settleGoingDown)
    }

    // MARK: State

    /// The model of the machine's network.
    package var snapshot: NetworkSnapshot { model.snapshot }

    /// The number of times the model or the published path changed: a lookup made at another revision may be out of
    /// date.
    package var revision: UInt64 { modelChanges &+ counters.published }

    /// Whether everything was read and agrees with the kernel's lookups, or is known to differ permanently.
    package var isSettled: Bool {
        connection.isUp && reader.isDone && pending.isDone && evaluation != nil && check.isCurrent && !check.isPending
            && !queries.awaitsFirstTunnelReply && model.snapshot.devices.awaited.isEmpty
    }

    /// Whether the model was read whole once.
    package var hasReadEverything: Bool { reader.hasReadEverything }

    /// The remote endpoints of the tunnels that the path depends on: routes that cover them are to be received.
    package var tunnelDestinations: Set<IPAddress> {
        let snapshot = model.snapshot
        return Set(queries.tunnels.compactMap { snapshot.link($0).flatMap(snapshot.tunnels.endpoint)?.address })
    }

    /// When to call ``next(at:)`` again although nothing was received; nil if nothing is scheduled.
    package var deadline: Instant? {
        guard connection.isUp else { return connection.deadline }
        let publication = reader.hasPrerequisites || !check.isEnabled ? pending.publicationDeadline : nil
        var first = Instant.earlier(pending.isUndecided ? nil : publisher.deadline, check.deadline)
        first = .earlier(first, reader.deadline)
        first = .earlier(first, check.expiryDeadline(of: evaluation, after: model.evaluated))
        first = .earlier(first, publication)
        first = .earlier(first, queries.deadline)
        first = .earlier(first, pending.isStale ? recordingDue : nil)
        return .earlier(first, pending.postponed)
    }

    /// Returns what to do now; nil if there is nothing to do before the next message or ``deadline``.
    package mutating func next(at now: Instant) -> MonitorAction? {
        if let announcement = publisher.takeAnnouncement() { return publish(announcement) }
        guard connection.isUp else { return recover(at: now) }
        commitDumps(at: now)
        if let device = queries.nextDevice() {
            counters.probes += 1
            return .probe(device.index, name: device.name)
        }
        if let change = evaluateIfNeeded(at: now) { return publish(change) }
        if let tunnel = queries.nextTunnel(at: now) { return .probe(tunnel.index, name: tunnel.name) }
        if let inDetail = check.takeRequest(isStale: pending.isStale, reader, at: now) {
            return .lookup(inDetail: inDetail)
        }
        if let joins = updateNeighbours() { return .watchNeighbours(joins) }
        return nextDump(at: now)
    }

    private mutating func publish(_ change: ReachabilityChange) -> MonitorAction {
        counters.published = change.sequence
        return .publish(change)
    }

    // MARK: Invalidation

    /// The part of the state that is out of date after a change.
    private enum Invalidation {
        /// The evaluation.
        case evaluation
        /// The evaluation and the results of the kernel's lookups.
        case results
        /// These and the model's own evaluation, of one family only or (nil) of both.
        case model(AddressFamily?)
    }

    private mutating func invalidate(_ what: Invalidation) {
        pending.invalidate()
        switch what {
        case .evaluation: return
        case .results: break
        case .model(let family):
            modelChanges &+= 1
            model.invalidateEvaluation(of: family)
        }
        check.invalidate()
    }

    /// Takes the effect on the model, of one family or (nil) of both, with or without its reasons.
    private mutating func absorb(
        _ effect: SnapshotEffect,
        about family: AddressFamily? = nil,
        explains: Bool = true,
        at now: Instant
    ) {
        if check.isEnabled, !effect.staleSubjects.isEmpty { reader.request(effect.staleSubjects, .incompleteMessage) }
        if reportsRoams, !effect.roams.isEmpty { publisher.announceRoams(of: effect.roams) }
        guard effect.changed || !effect.predictions.isEmpty else { return }
        invalidate(.model(family))
        if explains { publisher.note(effect.reasons) }
        model.note(effect.reasons)
        if !effect.predictions.isEmpty { check.request(at: now, inDetail: false) }
    }

    // MARK: Messages

    /// Takes a message that the kernel sent by itself: from the event socket or the uevent socket.
    package mutating func receive(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) {
        counters.events += 1
        noteDevice(event, header)
        reader.note(event, header, at: now)
        // A message that hardly affects the path may wait if a path is published and no evaluation is outstanding.
        let hasPublished = publisher.published != nil
        let canPostpone = check.isEnabled && hasPublished && !pending.isStale && !pending.isUndecided
        let isUrgent = !canPostpone || model.isConcerned(by: event, evaluation)
        let effect = model.apply(event, header, at: now)
        if effect.changed { queries.noteChange() }
        if case .ignored = event { noteHiddenChange(at: now) }
        let isPostponed = !isUrgent && !pending.isStale
        absorb(effect, about: event.onlyFamily, explains: !isPostponed, at: now)
        if check.dependsOnKernel, !effect.changed, let reason = event.likelyReason {
            // The model is not, or not entirely, correct: what changed nothing in it may change the kernel's results.
            invalidate(.results)
            publisher.note([reason])
        }
        guard pending.isStale else { return }
        if isPostponed {
            pending.postpone(effect.reasons, links: model.snapshot.links.count, at: now)
        } else {
            urgentEvents += 1
        }
    }

    /// Counts a datagram that did not come from the kernel and was ignored.
    package mutating func ignoreForeign() { counters.foreign += 1 }

    /// Counts a message that could not be decoded.
    package mutating func ignoreMalformed() { counters.malformed += 1 }

    /// Takes a new family of generic netlink: the drivers that use it may have brought interfaces.
    package mutating func receiveNew(_ family: GenericFamily) {
        counters.events += 1
        if family.name == GenericFamilies.wirelessName { examineDevicesAgain() }
    }

    /// Takes the suspended time of the machine since it was started: `CLOCK_BOOTTIME` minus `CLOCK_MONOTONIC`.
    ///
    /// To be called at the start, and whenever the clocks may have been set.
    package mutating func measureSuspension(_ total: Duration, at now: Instant) {
        guard let length = suspension.measure(total) else { return }
        counters.suspends += 1
        publisher.announce(.suspend, .resumed, suspended: length)
        publisher.note([.resumed])
        modelChanges &+= 1
        invalidate(.results)
        check.request(at: now, inDetail: true)
    }

    // MARK: Dumps

    /// Starts: the netlink sockets are open and have joined their groups.
    ///
    /// - Parameters:
    ///   - earlier: The counters of the runs before this one, which it continues.
    ///   - now: The present moment.
    package mutating func start(after earlier: MonitorCounters = .init(), at now: Instant) {
        counters = earlier
        publisher.continueNumbers(after: earlier.published)
        connection = .init()
        reader.start()
    }

    /// Records that replies to a dump are queued, before ``next(at:)`` checks its progress, and whether to publish without them.
    ///
    /// The thread may not have run for longer than either waits.
    package mutating func noteQueuedReplies(at now: Instant) {
        reader.noteQueuedReplies()
        pending.noteQueuedReplies(at: now)
    }

    /// Records a datagram of replies to a dump; its messages follow.
    package mutating func beginReply(at now: Instant) { reader.progress(at: now) }

    /// Takes a reply to the dump under way.
    package mutating func receiveReply(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) {
        switch reader.take(event, header, at: now) {
        case .ignored: break
        case .entry: noteDevice(event, header)
        case .end(let wasInterrupted, let isUsable, let completes):
            if wasInterrupted { counters.interruptedDumps += 1 }
            if isUsable { counters.dumps += 1 }
            if completes { invalidate(.evaluation) }
        }
    }

    private mutating func nextDump(at now: Instant) -> MonitorAction? {
        guard reader.checkProgress(at: now) else {
            failed(at: now)
            return next(at: now)
        }
        guard check.isEnabled, let dump = reader.next(at: now) else { return nil }
        return .dump(dump.subject, sequence: dump.sequence)
    }

    /// Puts ended dumps into the model.
    private mutating func commitDumps(at now: Instant) {
        guard let effect = model.commit(&reader) else { return }
        // What was not known before did not change now.
        absorb(effect, explains: reader.hasReadEverything, at: now)
        invalidate(.model(nil))
        check.noteDump()
        queries.noteChange()
        guard reader.isDone else { return }
        reader.markComplete()
        check.request(at: now, inDetail: true)
    }

    /// Joins the group of neighbour changes when gateways start to compete, and leaves it when none compete any more.
    ///
    /// The neighbours' states at that time are read, of the gateways' interfaces only.
    private mutating func updateNeighbours() -> Bool? {
        guard check.isEnabled, reader.isDone, let update = model.updateNeighbours() else { return nil }
        reader.request(update.dumps, .incompleteMessage)
        return update.joins
    }

    // MARK: Loss and recovery

    /// Handles the loss of messages: the event socket's buffer was full, or a message was truncated.
    ///
    /// Messages that are still queued are older than the loss. Everything is read again, and only the net difference is
    /// published.
    package mutating func overrun(at now: Instant) {
        counters.overruns += 1
        resynchronize(.overrun)
    }

    /// Handles the loss of Wi-Fi messages because the socket's buffer was full.
    ///
    /// Associations are forgotten until nl80211 reports them again: only the links count. The interfaces are examined
    /// again.
    package mutating func overrunWireless(at now: Instant) {
        counters.overruns += 1
        absorb(model.forgetAssociations(), at: now)
        examineDevicesAgain()
    }

    /// Handles the failure of a netlink socket, or a missing reply.
    package mutating func failed(at now: Instant) {
        connection.fail(at: now)
        reader.abandon()
        check.cancel()
    }

    /// Continues after the sockets were opened again and have joined the groups that they were in before.
    package mutating func reopened(at now: Instant) {
        counters.reopened += 1
        connection.open()
        // nl80211's messages were lost with the sockets.
        absorb(model.forgetAssociations(), at: now)
        resynchronize(.socketReopened)
    }

    /// Records that the sockets could not be opened.
    package mutating func reopenFailed(at now: Instant) { connection.failAgain(at: now) }

    /// Stops, and returns the last change, which says that the state is unknown.
    package mutating func stop() -> ReachabilityChange {
        let change = publisher.stop()
        counters.published = change.sequence
        return change
    }

    /// Reads everything again because messages were lost; until then the kernel's lookups are authoritative.
    private mutating func resynchronize(_ reason: ReachabilityReason) {
        if publisher.announceResynchronization(reason) { counters.resyncs += 1 }
        for family in AddressFamily.allCases { check.requireKernel(family) }
        queries.reset()
        reader.restart(with: model.neighbourDumps)
        invalidate(.results)
    }

    private mutating func recover(at now: Instant) -> MonitorAction? {
        if connection.takeAttempt(at: now) { return .reopen }
        guard connection.takeReport(at: now) else { return nil }
        publisher.announceFailure(.netlinkFailed)
        return publisher.takeAnnouncement().map { publish($0) }
    }

    /// Reads the links again, each of which leads to a query about its device.
    private mutating func examineDevicesAgain() {
        queries.resetDevices()
        if check.isEnabled { reader.request([.links], .incompleteMessage) }
    }

    // MARK: Devices and tunnels

    /// Whether a reply to ``MonitorAction/probe(_:name:)`` is still about the interface that was meant.
    package func expectsDevice(_ index: InterfaceIndex, name: String) -> Bool { queries.expects(index, name: name) }

    /// Whether a ``MonitorAction/probe(_:name:)`` asks for a tunnel's egress interface, not for its device.
    package func isAskingTunnel(_ index: InterfaceIndex) -> Bool { queries.isAskingTunnel(index) }

    /// Takes a reply to a ``MonitorAction/probe(_:name:)``.
    ///
    /// The last message of each reply is a uevent with ``UeventMessage/probe``, whatever was found.
    package mutating func receiveDevice(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) {
        absorb(model.apply(event, header, at: now), at: now)
        endQuery(event)
    }

    /// Handles the change of a route that the model does not contain, but that may carry tunnels' packets or the probes.
    private mutating func noteHiddenChange(at now: Instant) {
        queries.noteHiddenChange(at: now)
        if check.isEnabled { check.request(at: now, inDetail: true) }
    }

    /// Handles changes of routes that carry tunnels' packets, and that the model does not contain.
    package mutating func noteHiddenRoutes(at now: Instant) { queries.noteHiddenChange(at: now) }

    private mutating func endQuery(_ event: KernelEvent) {
        if queries.end(event), pending.isUndecided { invalidate(.evaluation) }
    }

    /// Takes a message that may be about an interface whose device is to be examined, before it is applied.
    private mutating func noteDevice(_ event: KernelEvent, _ header: NetlinkHeader) {
        guard queries.note(event) != nil, case .link(let message) = event else { return }
        model.expectDevice(of: message, isDumped: header.flags.contains(.multi))
    }

    /// Whether a path depends on a device or a tunnel's egress that is being asked for.
    private func awaitsDevice(_ path: NetworkPath) -> Bool {
        path.reasons.contains(.deviceProbing)
            || (makesQueries && queries.awaitsTunnel(path: path, published: publisher.published))
    }

    /// Whether devices are asked for, or were when the recording was made.
    private var makesQueries: Bool { check.isEnabled || recording?.holdsProbes ?? false }

    // MARK: Evaluation

    /// Evaluates again if something changed, and returns the change to publish.
    private mutating func evaluateIfNeeded(at now: Instant) -> ReachabilityChange? {
        requireKernelForExpired(at: now)
        let due = pending.takeDue(at: now)
        if !due.reasons.isEmpty { publisher.note(due.reasons) }
        guard pending.isStale, canEvaluate(at: now) else {
            // A path that is held back does not become due while a newer one waits until it can be published.
            return pending.isUndecided ? nil : publisher.due(at: now)
        }
        pending.beginEvaluation(staysStale: !check.isCurrent && check.dependsOnKernel)
        let evaluation = model.evaluation(by: &check, at: now)
        self.evaluation = evaluation
        if makesQueries { queries.use(evaluation, in: model.snapshot, at: now) }
        let isPublishable =
            (reader.isDone || check.isDecisive(evaluation, model.snapshot))
            && !check.awaitsConfirmation(of: evaluation.path, published: publisher.published)
            && !awaitsDevice(evaluation.path)
        guard isPublishable || pending.mustPublish(at: now) else {
            pending.endEvaluation(isUndecided: true, at: now)
            publisher.expect(evaluation.path)
            check.requestConfirmation(isChange: true, at: now)
            return nil
        }
        pending.endEvaluation(isUndecided: false, at: now)
        guard let change = publisher.offer(evaluation.path, isCurrent: !pending.isStale, at: now) else {
            check.requestConfirmation(isChange: false, isImportant: due.isImportant, at: now)
            return nil
        }
        check.requestConfirmation(isChange: true, isImportant: due.isImportant, at: now)
        return change
    }

    private func canEvaluate(at now: Instant) -> Bool {
        check.isEnabled ? reader.hasPrerequisites && check.allowsEvaluation : recordingDue.map { $0 <= now } ?? false
    }

    /// Asks the kernel whether a route has really expired: an advertisement that refreshes it is not announced.
    private mutating func requireKernelForExpired(at now: Instant) {
        guard evaluation?.ipv4.nextExpiry != nil || evaluation?.ipv6.nextExpiry != nil else { return }
        guard check.requireKernelForExpired(evaluation, after: model.evaluated, at: now) else { return }
        invalidate(.model(nil))
        publisher.note([.routeExpired])
        check.request(at: now, inDetail: true)
    }

    // MARK: The kernel's lookups

    /// Takes the kernel's results of a ``MonitorAction/lookup(inDetail:)``.
    ///
    /// Pass all messages that the sockets have received meanwhile first: a message that was under way when the kernel
    /// was asked is then not mistaken for a silent change.
    package mutating func receiveResults(_ results: ProbeResults, at now: Instant) {
        guard connection.isUp else { return }
        guard reader.isDone else {
            if check.dependsOnKernel { invalidate(.evaluation) }
            return check.keep(results)
        }
        counters.confirms += 1
        // What is postponed hardly affects the outcomes; if it does, they differ now, and are compared again.
        let own = (pending.isStale ? nil : model.lastEvaluation) ?? model.evaluation(at: now)
        let result = check.compare(own, with: results, model.snapshot, at: now)
        if result.affectsPath || pending.isUndecided { invalidate(.evaluation) }
        counters.mismatches += result.mismatches
        if result.isMismatch { publisher.note([.confirmMismatch]) }
        if !result.dumps.isEmpty { reader.request(result.dumps, .loss) }
        connection.markWorking()
        if reader.isDone { publisher.endResynchronization() }
    }

    // MARK: Replay

    /// Takes a message of a recording: a request for a dump, a reply to one, or a notification.
    ///
    /// The first change is what the initial dumps of the recording say; without dumps, what the first notification
    /// says.
    ///
    /// - Parameters:
    ///   - event: The message.
    ///   - header: Its header; the sequence number shows to which request a reply belongs.
    ///   - now: When it was recorded.
    package mutating func replay(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) {
        let step = model.replay(event, header, with: &recording, at: now)
        if recording?.holdsProbes ?? false { noteDevice(event, header) }
        switch step {
        case .nothing: break
        case .change: takeReplayed(event, header, at: now)
        case .ended: counters.dumps += 1
        case .committed(let effect, let isComplete):
            counters.dumps += 1
            absorb(effect, at: now)
            if isComplete { beginEvaluatingRecording() }
        }
    }

    /// Ends the recording: what was held back is evaluated now, a dump without its end is not.
    package mutating func finishReplay(at now: Instant) {
        recording?.finish()
        model.expectNoDevices()
        beginEvaluatingRecording()
    }

    /// When the recording so far can be evaluated; nil if it does not contain enough yet.
    private var recordingDue: Instant? { recording?.evaluationDue(hasPublished: publisher.published != nil) }

    private mutating func takeReplayed(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) {
        if !header.flags.contains(.multi) { counters.events += 1 }
        let effect = model.apply(event, header, at: now)
        if effect.changed, !event.describesTunnel { queries.noteChange() }
        absorb(effect, at: now)
        endQuery(event)
        if recording?.endsInitialDumps(at: now) ?? false { beginEvaluatingRecording() }
    }

    private mutating func beginEvaluatingRecording() {
        model.completeRecording()
        invalidate(.evaluation)
    }
}

extension KernelEvent {
    /// The family that a message is about, if the other's paths cannot depend on it.
    ///
    /// A neighbour of one family may be the gateway of the other's routes (RFC 5549).
    fileprivate var onlyFamily: AddressFamily? {
        switch self {
        case .route(let message), .routeRemoved(let message): message.family
        case .rule(let message), .ruleRemoved(let message): message.family
        case .address(let message), .addressRemoved(let message): message.address.family
        case .netconf(let message), .netconfRemoved(let message): message.family
        default: nil
        }
    }

    /// The reason of a change that the message may cause in the kernel's lookups.
    fileprivate var likelyReason: ReachabilityReason? {
        switch self {
        case .route: .routeAdded
        case .routeRemoved: .routeRemoved
        case .rule, .ruleRemoved: .ruleChanged
        case .nexthop, .nexthopRemoved: .nexthopChanged
        case .address: .addressAdded
        case .addressRemoved: .addressRemoved
        case .link: .linkChanged
        case .linkRemoved: .linkRemoved
        case .neighbour, .neighbourRemoved: .neighbourChanged
        case .netconf, .netconfRemoved: .settingChanged
        case .routerOption, .traffic, .uevent, .family, .familiesRequested, .wireless, .wireGuard, .team, .l2tp: nil
        case .done, .error, .overrun, .request, .ignored: nil
        }
    }

    /// Whether this is a reply to a query about a tunnel, and no change by itself.
    fileprivate var describesTunnel: Bool {
        switch self {
        case .wireGuard, .l2tp: true
        case .route(let message): message.flags & RouteMessage.cloned != 0
        case .uevent(let message): message.probe != nil
        default: false
        }
    }
}

/// An action that the state machine requests; each is performed before the next is requested.
package enum MonitorAction: Sendable, Hashable {
    /// Publish a change to the subscribers.
    case publish(ReachabilityChange)
    /// Look up the probe addresses, and pass the results to ``MonitorStateMachine/receiveResults(_:at:)``.
    ///
    /// In detail: also from which route each result comes.
    case lookup(inDetail: Bool)
    /// Request a dump, with this sequence number.
    case dump(DumpSubject, sequence: UInt32)
    /// Examine the device of an interface without blocking, and pass the result to
    /// ``MonitorStateMachine/receiveDevice(_:_:at:)``.
    case probe(InterfaceIndex, name: String)
    /// Join the group of neighbour changes, or leave it.
    case watchNeighbours(Bool)
    /// Close all netlink sockets and open them again; then call ``MonitorStateMachine/reopened(at:)``.
    case reopen
}
