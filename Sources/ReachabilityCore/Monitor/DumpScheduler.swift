/// Schedules dumps: which of the kernel's tables to read, one after the other, and when.
///
/// The work is bounded. An interrupted dump is repeated a few times. Dumps are followed by a pause that grows with the time
/// they took, so that full dumps never follow each other without a pause, however often messages are lost. The
/// prerequisites of the kernel's own lookups have a separate pause: they are mostly small and are then read immediately,
/// even while the routes of a full table have to wait.
struct DumpScheduler: Sendable, Hashable {
    /// The dump under way.
    private(set) var current: Dump?
    private var queue: [DumpSubject] = []
    private var deferred: Deferred?
    private var sequence: UInt32 = 0
    private var prerequisitePause = DumpPause()
    private var otherPause = DumpPause()
    private var pauseFactor = 0
    private var attempts: [DumpSubject: Int] = [:]
    private var retry = Pacing.netlinkRetry

    /// A dump under way.
    struct Dump: Sendable, Hashable {
        /// The table.
        var subject: DumpSubject
        /// `nlmsg_seq` of the request and of every reply.
        var sequence: UInt32
        /// The number of datagrams with entries so far; `NLMSG_DONE` may come in a further one.
        var datagrams = 0
        /// Whether the last datagram had an entry.
        fileprivate var hasEntry = false
        /// When the last datagram came.
        var progress: Instant
        /// When it was first found to make no progress; nil if it does, or replies are queued.
        fileprivate var overdueSince: Instant?
        /// Whether a reply was flagged `NLM_F_DUMP_INTR`.
        var isInterrupted = false
        /// Whether messages were lost meanwhile, so that the result cannot be used.
        var isVoid = false
    }

    /// Tables that were read, but not for good.
    private struct Deferred: Sendable, Hashable {
        var subjects: [DumpSubject]
        var due: Instant
    }

    /// How a dump ended.
    enum Outcome: Sendable, Hashable {
        /// The result can be used.
        case complete
        /// The result can be used although it was interrupted too often; the table is read again after a delay.
        case completeForNow
        /// The result is dropped; the table is read again.
        case void
    }

    /// Everything that the model holds, in the order in which an evaluation needs it.
    static let everything: [DumpSubject] =
        prerequisites + [.netconf(.ipv4), .netconf(.ipv6), .nexthops] + routes
    /// The tables that are needed to evaluate the kernel's own lookups.
    static let prerequisites: [DumpSubject] =
        [.links, .addresses(.ipv4), .addresses(.ipv6), .rules(.ipv4), .rules(.ipv6)]
    /// The routes of all tables.
    static let routes: [DumpSubject] = [.routes(.ipv4, table: nil), .routes(.ipv6, table: nil)]

    /// Whether nothing is left to read.
    var isDone: Bool { current == nil && queue.isEmpty }

    /// Whether the prerequisites of the kernel's own lookups have been read.
    var hasPrerequisites: Bool {
        isDone || !Self.prerequisites.contains { subject in queue.contains(subject) || current?.subject == subject }
    }

    /// When to call ``next(at:)`` again, or ``checkProgress(at:)`` if a dump is under way.
    var deadline: Instant? {
        if let current {
            return current.overdueSince?.advanced(by: Pacing.dumpGracePeriod)
                ?? current.progress.advanced(by: Pacing.dumpProgress)
        }
        return queue.first.map { pause(before: $0).end } ?? deferred?.due
    }

    /// Why tables are read.
    ///
    /// The raw value is the length of the pause afterwards, as a multiple of the time that the dumps took.
    enum Trigger: Int {
        /// For the first time.
        case start = 0
        /// A message did not contain everything: rare, and little to read.
        case incompleteMessage = 1
        /// The model is not, or not entirely, correct: if that continues, dumps must not take all the time.
        case loss = 4
    }

    /// Adds tables to the queue, each once.
    mutating func request(_ subjects: [DumpSubject], _ trigger: Trigger) {
        pauseFactor = max(pauseFactor, trigger.rawValue)
        for subject in subjects where !queue.contains(subject) { queue.append(subject) }
    }

    /// Starts over with all tables; the result of the dump under way becomes void.
    mutating func restart(_ trigger: Trigger, with extra: [DumpSubject] = []) {
        pauseFactor = max(pauseFactor, trigger.rawValue)
        pause()
        current?.isVoid = true
        queue = Self.everything + extra
        deferred = nil
        attempts = [:]
    }

    /// Forgets the dump under way because its socket was closed.
    mutating func abandon() {
        current = nil
        prerequisitePause = .init()
        otherPause = .init()
        deferred = nil
    }

    /// Returns the next dump to request, if one is due and none is under way.
    mutating func next(at now: Instant) -> Dump? {
        takeDeferred(at: now)
        guard current == nil, let subject = queue.first, !pause(before: subject).isPausing(at: now) else { return nil }
        queue.removeFirst()
        sequence &+= 1
        current = .init(subject: subject, sequence: sequence, progress: now)
        return current
    }

    /// Records a datagram of the dump under way.
    mutating func progress(at now: Instant) {
        guard var dump = current else { return }
        if Self.prerequisites.contains(dump.subject) {
            prerequisitePause.step(from: dump.progress, to: now)
        } else {
            otherPause.step(from: dump.progress, to: now)
        }
        dump.hasEntry = false
        dump.progress = now
        dump.overdueSince = nil
        current = dump
    }

    /// Records an entry in the last datagram.
    mutating func noteEntry() {
        guard let current, !current.hasEntry else { return }
        self.current?.hasEntry = true
        self.current?.datagrams += 1
    }

    /// Records that a reply was flagged as inconsistent.
    mutating func interrupt() { current?.isInterrupted = true }

    /// Records that replies are queued, and will be read before the next call of ``checkProgress(at:)``.
    mutating func noteQueuedReplies() { current?.overdueSince = nil }

    /// Returns whether the dump under way may still make progress.
    ///
    /// False once no datagram has come within ``Pacing/dumpProgress``, and ``Pacing/dumpGracePeriod`` has passed since the
    /// first call that found that.
    mutating func checkProgress(at now: Instant) -> Bool {
        guard let dump = current, dump.progress.advanced(by: Pacing.dumpProgress) <= now else { return true }
        guard let overdueSince = dump.overdueSince else {
            current?.overdueSince = now
            return true
        }
        return now < overdueSince.advanced(by: Pacing.dumpGracePeriod)
    }

    /// Ends the dump under way, which the kernel finished or refused, and returns what to do with its result.
    mutating func end(failed: Bool, at now: Instant) -> Outcome {
        guard let dump = current else { return .void }
        current = nil
        defer { if queue.isEmpty { finish() } }
        guard !dump.isVoid else {
            otherPause.pause(pauseFactor)
            return .void
        }
        guard failed || dump.isInterrupted else {
            retry.succeeded()
            return .complete
        }
        guard !repeatAtOnce(dump.subject) else { return .void }
        return giveUpForNow(dump.subject, failed: failed, at: now)
    }

    /// Queues a table once more because two dumps of it differ, a limited number of times.
    ///
    /// - Returns: Whether it is read again.
    mutating func repeatAtOnce(_ subject: DumpSubject) -> Bool {
        let attempt = attempts[subject, default: 0]
        guard attempt < Pacing.dumpRepetitions else { return false }
        attempts[subject] = attempt + 1
        if !queue.contains(subject) { queue.insert(subject, at: 0) }
        return true
    }

    private mutating func giveUpForNow(_ subject: DumpSubject, failed: Bool, at now: Instant) -> Outcome {
        let due = now.advanced(by: retry.failed())
        guard !failed else {
            request([subject], .incompleteMessage)
            prerequisitePause.hold(until: due)
            otherPause.hold(until: due)
            return .void
        }
        deferred = .init(subjects: (deferred?.subjects ?? []) + [subject], due: due)
        return .completeForNow
    }

    private mutating func takeDeferred(at now: Instant) {
        guard let waiting = deferred, waiting.due <= now else { return }
        deferred = nil
        request(waiting.subjects, .incompleteMessage)
    }

    private mutating func finish() {
        pause()
        pauseFactor = 0
        attempts = [:]
    }

    private mutating func pause() {
        prerequisitePause.pause(pauseFactor)
        otherPause.pause(pauseFactor)
    }

    private func pause(before subject: DumpSubject) -> DumpPause {
        Self.prerequisites.contains(subject) ? prerequisitePause : otherPause
    }
}

/// The time that dumps took, and the pause that follows them.
private struct DumpPause: Sendable, Hashable {
    /// The end of the pause; nil if there was none yet.
    private(set) var end: Instant?
    private var spent = Duration.zero
    private var last: Instant?

    /// Records a step of a dump: from the request, or a datagram, to the next datagram.
    mutating func step(from earlier: Instant, to now: Instant) {
        spent += min(earlier.duration(to: now), Pacing.longestDumpStep)
        last = now
    }

    /// Starts a pause at the last step, as a multiple of the time spent; an earlier pause may end later.
    mutating func pause(_ factor: Int) {
        guard let last else { return }
        hold(until: last.advanced(by: min(spent * factor, Pacing.longestDumpPause)))
        spent = .zero
        self.last = nil
    }

    /// Pauses at least until a moment.
    mutating func hold(until moment: Instant) { end = max(moment, end ?? moment) }

    /// Whether the pause has not ended.
    func isPausing(at now: Instant) -> Bool { end.map { $0 > now } ?? false }
}
