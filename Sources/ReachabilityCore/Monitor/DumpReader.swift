/// The dumps of the kernel's tables: what is being read, and when the result replaces that part of the model.
struct DumpReader: Sendable {
    private var scheduler = DumpScheduler()
    private var assembly = DumpAssembly()
    /// Whether dumps have ended whose result is not yet in the model.
    private var hasResult = false
    /// Whether everything was read once.
    private(set) var hasReadEverything = false
    /// The previous dumps of tables that are accepted once two dumps agree.
    private var previous: [DumpSubject: DumpReading] = [:]

    /// The meaning of a reply for the monitor.
    enum Reply: Sendable, Hashable {
        /// The reply belongs to another request.
        case ignored
        /// The reply is an entry of the table.
        case entry
        /// The dump has ended.
        ///
        /// - `wasInterrupted`: Whether changes interrupted it.
        /// - `isUsable`: Whether its result can be used.
        /// - `completes`: Whether a result can now be committed.
        case end(wasInterrupted: Bool, isUsable: Bool, completes: Bool)
    }

    /// Whether nothing is left to read.
    var isDone: Bool { scheduler.isDone }

    /// Whether the prerequisites of the kernel's own lookups have been read.
    var hasPrerequisites: Bool { scheduler.hasPrerequisites }

    /// When to ask for the next dump, or to check the progress of the dump under way.
    var deadline: Instant? { scheduler.deadline }

    /// As ``DumpScheduler/checkProgress(at:)``.
    mutating func checkProgress(at now: Instant) -> Bool { scheduler.checkProgress(at: now) }

    /// As ``DumpScheduler/noteQueuedReplies()``.
    mutating func noteQueuedReplies() { scheduler.noteQueuedReplies() }

    /// Reads tables again that the messages do not fully describe, or that differ from the kernel's lookups.
    mutating func request(_ subjects: [DumpSubject], _ trigger: DumpScheduler.Trigger) {
        scheduler.request(subjects, trigger)
    }

    /// Reads everything for the first time.
    mutating func start() { scheduler.restart(.start) }

    /// Reads everything again because messages were lost; what is being read cannot be used.
    mutating func restart(with extra: [DumpSubject]) {
        discard()
        previous = [:]
        scheduler.restart(.loss, with: extra)
    }

    /// Gives up because the sockets failed.
    mutating func abandon() {
        scheduler.abandon()
        discard()
    }

    private mutating func discard() {
        assembly.cancel()
        hasResult = false
    }

    /// Returns the next dump to request, if one is due.
    mutating func next(at now: Instant) -> DumpScheduler.Dump? {
        guard let dump = scheduler.next(at: now) else { return nil }
        assembly.begin(dump.subject)
        return dump
    }

    /// Records a notification: it is newer than what was read before it.
    mutating func note(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) {
        assembly.note(event, header, at: now)
    }

    /// Records a datagram of replies; its messages follow.
    mutating func progress(at now: Instant) { scheduler.progress(at: now) }

    /// Takes a message that may be a reply to the dump under way.
    mutating func take(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) -> Reply {
        guard let current = scheduler.current, header.sequence == current.sequence else { return .ignored }
        if header.flags.contains(.dumpInterrupted) { scheduler.interrupt() }
        switch event {
        case .done(let errno), .error(let errno): return end(errno: errno, at: now)
        default:
            scheduler.noteEntry()
            assembly.take(event, header, of: current.subject, at: now)
            return .entry
        }
    }

    private mutating func end(errno: Int32, at now: Instant) -> Reply {
        guard let ended = scheduler.current else { return .ignored }
        let hadPrerequisites = scheduler.hasPrerequisites
        let wasInterrupted = ended.isInterrupted && !ended.isVoid
        guard scheduler.end(failed: DumpErrno.isTemporary(errno), at: now) != .void else {
            // Other tables may be read, and committed, before this one is read again.
            assembly.cancel(ended.subject)
            return .end(wasInterrupted: wasInterrupted, isUsable: false, completes: false)
        }
        compareWithPrevious(ended)
        let completes = scheduler.isDone || scheduler.hasPrerequisites != hadPrerequisites
        if completes { hasResult = true }
        return .end(wasInterrupted: wasInterrupted, isUsable: true, completes: completes)
    }

    /// Repeats a long dump in which the kernel may have omitted entries, until two agree or the limit is reached.
    private mutating func compareWithPrevious(_ ended: DumpScheduler.Dump) {
        guard ended.subject.mayLoseEntries, ended.datagrams > 1, let new = assembly.reading(of: ended.subject) else {
            return
        }
        let agrees = previous[ended.subject].map { new.agrees(with: $0) } ?? false
        previous[ended.subject] = new
        if !agrees { _ = scheduler.repeatAtOnce(ended.subject) }
    }

    /// Puts the result of ended dumps into the model: when the prerequisites are complete, and when everything is.
    ///
    /// Call it after all notifications have been received that came before the end of the dump: one that is older than
    /// the result must not be applied to it.
    ///
    /// - Parameter snapshot: The model.
    /// - Returns: The net difference; nil if there is no result.
    mutating func commit(to snapshot: inout NetworkSnapshot) -> SnapshotEffect? {
        guard hasResult else { return nil }
        hasResult = false
        return assembly.commit(to: &snapshot)
    }

    /// Records that the model holds everything that was to be read.
    mutating func markComplete() {
        hasReadEverything = true
        previous = [:]
    }
}

extension DumpSubject {
    /// Whether the kernel may omit entries of a long dump, without a word, while others change.
    fileprivate var mayLoseEntries: Bool {
        switch self {
        case .routes(.ipv6, _), .addresses: true
        default: false
        }
    }
}

/// The errnos with which the kernel ends or refuses a dump (Linux, `asm-generic/errno.h`).
enum DumpErrno {
    /// Returns whether the dump may succeed another time.
    ///
    /// Any other errno means that there is nothing to read: no such table, a kernel without the family or the subject.
    static func isTemporary(_ errno: Int32) -> Bool {
        switch errno {
        // EINTR, EIO, EAGAIN, ENOMEM, EBUSY, ENOBUFS.
        case 4, 5, 11, 12, 16, 105: true
        default: false
        }
    }
}
