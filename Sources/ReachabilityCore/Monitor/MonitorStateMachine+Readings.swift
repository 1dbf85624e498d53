extension MonitorStateMachine {
    /// Learns that a datagram of answers has come; its messages follow.
    public mutating func beginReply(at now: Instant) { reading.progress(at: now) }

    /// Takes a message that answers the dump under way.
    public mutating func receiveReply(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) {
        guard let current = reading.current, header.sequence == current.sequence else { return }
        if header.flags.contains(.dumpInterrupted) { reading.interrupt() }
        switch event {
        case .done(let errno), .error(let errno): endReading(errno: errno, at: now)
        default:
            devices.note(event, known: snapshot.devices)
            assembly?.add(event, header, at: now)
        }
    }

    /// Asks for the next table that is due.
    mutating func nextReading(at now: Instant) -> MonitorAction? {
        if reading.isStuck(at: now) {
            failed(at: now)
            return next(at: now)
        }
        guard confirms, let reading = reading.next(at: now) else { return nil }
        assembly = DumpAssembly(reading.subject)
        return .dump(reading.subject, sequence: reading.sequence)
    }

    private mutating func endReading(errno: Int32, at now: Instant) {
        guard let ended = reading.current else { return }
        let hadGroundwork = reading.hasGroundwork
        let outcome = reading.end(failed: DumpErrno.isPassing(errno), at: now)
        let assembly = assembly.take()
        guard outcome != .void, let assembly else { return }
        counters.dumps += 1
        if outcome == .completeForNow || ended.isInterrupted { counters.interruptedDumps += 1 }
        let effect = assembly.install(in: &snapshot, at: now)
        absorb(effect, at: now)
        if effect.changed, ended.datagrams > 1, ended.subject.isLossy { _ = reading.repeatAtOnce(ended.subject) }
        noteProgress(hadGroundwork: hadGroundwork, at: now)
    }

    /// Asks the kernel anew when what is needed for a verdict has come, and when all has.
    private mutating func noteProgress(hadGroundwork: Bool, at now: Instant) {
        guard reading.isDone || reading.hasGroundwork != hadGroundwork else { return }
        modelEvaluation = nil
        isDirty = true
        hasCurrentAnswers = false
        if reading.isDone { questions.ask(at: now, inDetail: true) }
    }
}

extension DumpSubject {
    /// Whether the kernel may leave out entries of a long dump, without a word, while others change.
    ///
    /// Such a dump is believed when it agrees with what is known, else it is repeated.
    fileprivate var isLossy: Bool {
        switch self {
        case .routes(.ipv6, _), .addresses: true
        default: false
        }
    }
}

/// The errnos with which the kernel ends or refuses a dump (Linux, `asm-generic/errno.h`).
private enum DumpErrno {
    /// EINTR, EIO, EAGAIN, ENOMEM, EBUSY, ENOBUFS: another time the dump may succeed.
    ///
    /// Any other means that there is nothing to read: no such table, a kernel without the family or the subject.
    private static let passing: Set<Int32> = [4, 5, 11, 12, 16, 105]

    static func isPassing(_ errno: Int32) -> Bool { passing.contains(errno) }
}
