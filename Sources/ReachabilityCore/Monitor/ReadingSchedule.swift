/// Which of the kernel's tables are to be read, one after the other, and when.
///
/// Reading is bounded: an interrupted dump is repeated a few times, and after a reading comes a pause that is longer
/// the longer the reading took, so that however often messages are lost, full dumps never chase each other. What the
/// kernel's own answers are judged with has a pause of its own: it is little mostly, and read at once then, even while
/// the routes of a full table have to wait.
struct ReadingSchedule: Sendable, Hashable {
    /// What is read now.
    private(set) var current: Reading?
    private var queue: [DumpSubject] = []
    private var deferred: Deferred?
    private var sequence: UInt32 = 0
    private var groundworkPause = ReadingPause()
    private var otherPause = ReadingPause()
    private var pauseFactor = 0
    private var attempts: [DumpSubject: Int] = [:]
    private var retry = Backoff(from: .milliseconds(10), to: .seconds(5))

    /// A dump under way.
    struct Reading: Sendable, Hashable {
        /// The table.
        var subject: DumpSubject
        /// `nlmsg_seq` of the request and of every answer.
        var sequence: UInt32
        /// How many datagrams with entries have come; the kernel may say in one more that this was all.
        var datagrams = 0
        /// Whether the last of them had an entry.
        fileprivate var hasEntry = false
        /// When the last of them came.
        var progress: Instant
        /// Whether an answer was flagged `NLM_F_DUMP_INTR`.
        var isInterrupted = false
        /// Whether messages were lost meanwhile, so that what it gives is worthless.
        var isVoid = false
    }

    /// Tables that were read, but not for good.
    private struct Deferred: Sendable, Hashable {
        var subjects: [DumpSubject]
        var due: Instant
    }

    /// How a dump ended.
    enum Outcome: Sendable, Hashable {
        /// Take it.
        case complete
        /// Take it, although it was interrupted too often; it is read again a little later.
        case completeForNow
        /// Drop it; it is read again.
        case void
    }

    /// How often an interrupted dump, or one of which two readings differ, is repeated at once.
    static let repetitions = 3
    /// The kernel answers a dump as fast as it is read; after this long it is taken to be stuck.
    private static let patience = Duration.seconds(5)

    /// Everything that the model holds, in the order in which a verdict needs it.
    static let everything: [DumpSubject] =
        groundwork + [.netconf(.ipv4), .netconf(.ipv6), .nexthops] + routes
    /// What the kernel's own answers are judged with.
    static let groundwork: [DumpSubject] =
        [.links, .addresses(.ipv4), .addresses(.ipv6), .rules(.ipv4), .rules(.ipv6)]
    /// The routes of all tables.
    static let routes: [DumpSubject] = [.routes(.ipv4, table: nil), .routes(.ipv6, table: nil)]

    /// Whether nothing is left to be read.
    var isDone: Bool { current == nil && queue.isEmpty }

    /// Whether what the kernel's own answers are judged with has been read.
    var hasGroundwork: Bool {
        !Self.groundwork.contains { subject in queue.contains(subject) || current?.subject == subject }
    }

    /// When ``next(at:)`` should be asked again, or the dump under way is stuck.
    var deadline: Instant? {
        if let current { return current.progress.advanced(by: Self.patience) }
        return queue.first.map { pause(before: $0).end } ?? deferred?.due
    }

    /// Why tables are read: it says how many times the duration of the reading the pause after it lasts.
    enum Occasion: Int {
        /// For the first time.
        case start = 0
        /// Because a message did not tell all: rare, and little to read.
        case doubt = 1
        /// Because the model is not, or not wholly, true: if that goes on, reading must not be all that is done.
        case loss = 4
    }

    /// Adds tables to what is to be read, each once.
    mutating func request(_ subjects: [DumpSubject], _ occasion: Occasion) {
        pauseFactor = max(pauseFactor, occasion.rawValue)
        for subject in subjects where !queue.contains(subject) { queue.append(subject) }
    }

    /// Starts over: everything is to be read, and what is being read is worthless.
    mutating func restart(_ occasion: Occasion, with extra: [DumpSubject] = []) {
        pauseFactor = max(pauseFactor, occasion.rawValue)
        rest()
        current?.isVoid = true
        queue = Self.everything + extra
        deferred = nil
        attempts = [:]
    }

    /// Forgets a dump whose socket is gone.
    mutating func abandon() {
        current = nil
        groundworkPause = .init()
        otherPause = .init()
        deferred = nil
    }

    /// The next dump to ask for, if one is due and none is under way.
    mutating func next(at now: Instant) -> Reading? {
        takeDeferred(at: now)
        guard current == nil, let subject = queue.first, !pause(before: subject).isResting(at: now) else { return nil }
        queue.removeFirst()
        sequence &+= 1
        current = .init(subject: subject, sequence: sequence, progress: now)
        return current
    }

    /// Notes a datagram of the dump under way.
    mutating func progress(at now: Instant) {
        guard var reading = current else { return }
        if Self.groundwork.contains(reading.subject) {
            groundworkPause.step(from: reading.progress, to: now)
        } else {
            otherPause.step(from: reading.progress, to: now)
        }
        reading.hasEntry = false
        reading.progress = now
        current = reading
    }

    /// Notes an entry in the datagram that has come last.
    mutating func noteEntry() {
        guard let current, !current.hasEntry else { return }
        self.current?.hasEntry = true
        self.current?.datagrams += 1
    }

    /// Notes that an answer said the dump is not consistent.
    mutating func interrupt() { current?.isInterrupted = true }

    /// Whether the dump under way gets no answer any more.
    func isStuck(at now: Instant) -> Bool {
        current.map { $0.progress.advanced(by: Self.patience) <= now } ?? false
    }

    /// Ends the dump under way, which the kernel finished or refused, and says what to do with what it gave.
    mutating func end(failed: Bool, at now: Instant) -> Outcome {
        guard let reading = current else { return .void }
        current = nil
        defer { if queue.isEmpty { finish() } }
        guard !reading.isVoid else {
            otherPause.rest(pauseFactor)
            return .void
        }
        guard failed || reading.isInterrupted else {
            retry.succeeded()
            return .complete
        }
        guard !repeatAtOnce(reading.subject) else { return .void }
        return giveUpForNow(reading.subject, failed: failed, at: now)
    }

    /// Reads a table once more, because two readings of it differ; not without bound.
    mutating func repeatAtOnce(_ subject: DumpSubject) -> Bool {
        let attempt = attempts[subject, default: 0]
        guard attempt < Self.repetitions else { return false }
        attempts[subject] = attempt + 1
        if !queue.contains(subject) { queue.insert(subject, at: 0) }
        return true
    }

    private mutating func giveUpForNow(_ subject: DumpSubject, failed: Bool, at now: Instant) -> Outcome {
        let due = now.advanced(by: retry.failed())
        guard !failed else {
            request([subject], .doubt)
            groundworkPause.hold(until: due)
            otherPause.hold(until: due)
            return .void
        }
        deferred = .init(subjects: (deferred?.subjects ?? []) + [subject], due: due)
        return .completeForNow
    }

    private mutating func takeDeferred(at now: Instant) {
        guard let waiting = deferred, waiting.due <= now else { return }
        deferred = nil
        request(waiting.subjects, .doubt)
    }

    private mutating func finish() {
        rest()
        pauseFactor = 0
        attempts = [:]
    }

    private mutating func rest() {
        groundworkPause.rest(pauseFactor)
        otherPause.rest(pauseFactor)
    }

    private func pause(before subject: DumpSubject) -> ReadingPause {
        Self.groundwork.contains(subject) ? groundworkPause : otherPause
    }
}
