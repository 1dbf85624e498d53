/// Everything that a monitor decides, as a value: fed with the kernel's messages and with moments, it says what to do.
///
/// It reads no clock and does no I/O. Whoever drives it hands over all that has been received, then does what
/// ``next(at:)`` says until it says nothing more, and comes back at ``deadline`` or with the next message. So a burst of
/// messages gives one evaluation.
///
/// A verdict is published first and confirmed by look-ups after; while the model is being read, or is known to differ
/// from the kernel, the kernel's own look-ups are the verdict.
public struct MonitorStateMachine: Sendable {
    /// The model.
    public internal(set) var snapshot = NetworkSnapshot()
    /// The verdict, and how it came about; nil before the first.
    public internal(set) var evaluation: PathEvaluation?
    /// How often things happened.
    public internal(set) var counters: MonitorCounters

    /// How often the model or the verdict became another: a look-up may have had one answer before, and have another now.
    public var revision: UInt64 { modelChanges &+ counters.published }
    /// How often the model changed, or was read anew.
    var modelChanges: UInt64 = 0

    /// Whether notices tell of WiFi interfaces of the path that go over to another access point.
    public var reportsRoams = false

    /// How many messages were judged at once, because they may well alter the verdict.
    public internal(set) var urgentEvents: UInt64 = 0

    let evaluator: PathEvaluator
    /// Whether verdicts are held against the kernel, and tables read from it; not when a recording is replayed.
    let confirms: Bool
    var publisher: PathPublisher
    var ipv4 = Confirmation()
    var ipv6 = Confirmation()
    var reading = ReadingSchedule()
    var assembly = DumpAssembly()
    /// Whether readings are finished, and to be taken into the model.
    var hasFinishedReadings = false
    /// Whether everything was read once.
    var hasModel = false
    /// What an earlier reading gave, of tables that are believed when two readings agree.
    var earlierReadings: [DumpSubject: DumpReading] = [:]
    var replay: ReplayProgress?
    var connection = Connectedness()
    var devices = DeviceQueue()
    var tunnels = TunnelSchedule()
    var questions = QuestionSchedule()
    var notices: [StateChange] = []

    /// Whether the evaluation is older than the model or the kernel's answers.
    var isDirty = false
    /// Whether the kernel's answers are as new as the model.
    var hasCurrentAnswers = false
    /// Whether the model was read anew, and not yet held against the kernel.
    var needsProof = false
    /// Whether answers have come since the last evaluation.
    var hasNewAnswers = false
    /// What the model alone says.
    var modelVerdict = ModelVerdict()
    /// Since when no verdict could be published because what there is does not suffice for one.
    var undecidedSince: Instant?
    /// Whether the loss of messages was announced, and everything is not yet read again.
    var isResyncing = false
    /// Which messages are judged at once.
    var relevance = Relevance()
    /// When the others are judged that have come.
    var postponed: Instant?
    /// What those were about.
    var postponedReasons: [Reason] = []
    /// Whether routes changed since it was last seen which gateways compete.
    var routesChanged = false
    /// The interfaces of the gateways that compete.
    var contested: Set<InterfaceIndex> = []
    /// Of `CLOCK_BOOTTIME` ahead of `CLOCK_MONOTONIC`: how long the machine was suspended since it was started.
    var suspendedTime: Duration?

    /// Makes a machine that knows nothing and wants nothing before ``start(at:)``.
    ///
    /// - Parameters:
    ///   - context: Whose sockets are judged, and the user's own rules.
    ///   - settle: How long a path must stay the same before a change is published.
    ///   - settleGoingDown: The same for changes from reachable to not reachable; nil takes `settle`.
    ///   - counters: Where to go on counting.
    public init(
        context: EvaluationContext,
        settle: Duration = .zero,
        settleGoingDown: Duration? = nil,
        counters: MonitorCounters = .init()
    ) {
        self.init(context, confirms: true, settle: settle, settleGoingDown: settleGoingDown, counters: counters)
    }

    init(
        _ context: EvaluationContext,
        confirms: Bool,
        settle: Duration,
        settleGoingDown: Duration?,
        counters: MonitorCounters
    ) {
        self.evaluator = .init(context: context)
        self.confirms = confirms
        self.counters = counters
        self.publisher = .init(settle: settle, settleGoingDown: settleGoingDown, sequence: counters.published)
    }

    /// Begins: the netlink sockets are open and hear their groups.
    public mutating func start(at now: Instant) {
        connection = .init()
        reading.restart(.start)
    }

    /// The path that was published last; nil before the first notice.
    public var published: NetworkPath? { publisher.published }

    /// Whether everything was read, and agrees with the kernel's look-ups, or is known to differ for good.
    public var isSettled: Bool {
        connection.isUp && reading.isDone && !isDirty && postponed == nil && evaluation != nil && hasCurrentAnswers
            && !ipv4.isPending && !ipv6.isPending && !tunnels.awaitsFirstAnswer && snapshot.awaitedDevices.isEmpty
    }

    /// When to ask ``next(at:)`` again though nothing was received; nil if nothing is due.
    public var deadline: Instant? {
        guard connection.isUp else { return connection.deadline }
        let patience = reading.hasGroundwork || !confirms ? patienceEnd : nil
        let replayed = isDirty ? replayJudgement : nil
        var first = Instant.earlier(publisher.deadline, questions.due)
        first = .earlier(first, reading.deadline)
        first = .earlier(first, expiryDeadline)
        first = .earlier(first, patience)
        first = .earlier(first, tunnels.deadline)
        first = .earlier(first, replayed)
        return .earlier(first, postponed)
    }

    /// What to do now; nil if there is nothing to do before the next message or ``deadline``.
    public mutating func next(at now: Instant) -> MonitorAction? {
        if !notices.isEmpty { return publish(notices.removeFirst()) }
        guard connection.isUp else { return recover(at: now) }
        commitReadings(at: now)
        if let device = devices.next() {
            counters.probes += 1
            return .probe(device.index, name: device.name)
        }
        if let change = verdict(at: now) { return publish(change) }
        if let tunnel = tunnels.next(at: now) { return .probe(tunnel.index, name: tunnel.name) }
        if let inDetail = question(at: now) { return .lookUp(inDetail: inDetail) }
        if let joins = neighbourWatch() { return .watchNeighbours(joins) }
        return nextReading(at: now)
    }

    private mutating func publish(_ change: StateChange) -> MonitorAction {
        counters.published = change.sequence
        return .publish(change)
    }
}
