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
            reading.noteEntry()
            noteDevice(event)
            assembly.take(event, header, of: current.subject, at: now)
        }
    }

    /// Asks for the next table that is due.
    mutating func nextReading(at now: Instant) -> MonitorAction? {
        if reading.isStuck(at: now) {
            failed(at: now)
            return next(at: now)
        }
        guard confirms, let reading = reading.next(at: now) else { return nil }
        assembly.begin(reading.subject)
        return .dump(reading.subject, sequence: reading.sequence)
    }

    private mutating func endReading(errno: Int32, at now: Instant) {
        guard let ended = reading.current else { return }
        let hadGroundwork = reading.hasGroundwork
        if ended.isInterrupted, !ended.isVoid { counters.interruptedDumps += 1 }
        guard reading.end(failed: DumpErrno.isPassing(errno), at: now) != .void else { return }
        counters.dumps += 1
        compareReadings(of: ended)
        guard reading.isDone || reading.hasGroundwork != hadGroundwork else { return }
        hasFinishedReadings = true
        isDirty = true
    }

    /// Repeats a long dump from which the kernel may have left out entries, until two readings agree; not for ever.
    private mutating func compareReadings(of ended: ReadingSchedule.Reading) {
        guard ended.subject.isLossy, ended.datagrams > 1, let new = assembly.reading(of: ended.subject) else { return }
        let agrees = earlierReadings[ended.subject].map { new.agrees(with: $0) } ?? false
        earlierReadings[ended.subject] = new
        if !agrees { _ = reading.repeatAtOnce(ended.subject) }
    }

    /// Takes what was read into the model: when what is needed for a verdict has come, and when all has.
    ///
    /// Not with the last answer, but when all has been heard that was announced until then: a message that is older
    /// than what was read must not be applied to it.
    mutating func commitReadings(at now: Instant) {
        guard hasFinishedReadings else { return }
        hasFinishedReadings = false
        let effect = assembly.commit(to: &snapshot)
        noteUplinks()
        // What was not known before did not change now.
        absorb(effect, explains: hasModel, at: now)
        modelVerdict.invalidate()
        modelChanges &+= 1
        isDirty = true
        hasCurrentAnswers = false
        needsProof = true
        relevance.invalidate()
        tunnels.noteChange()
        guard reading.isDone else { return }
        hasModel = true
        earlierReadings = [:]
        questions.ask(at: now, inDetail: true)
    }
}

extension DumpSubject {
    /// Whether the kernel may leave out entries of a long dump, without a word, while others change.
    fileprivate var isLossy: Bool {
        switch self {
        case .routes(.ipv6, _), .addresses: true
        default: false
        }
    }
}

/// The errnos with which the kernel ends or refuses a dump (Linux, `asm-generic/errno.h`).
private enum DumpErrno {
    /// Whether another time the dump may succeed.
    ///
    /// Any other errno means that there is nothing to read: no such table, a kernel without the family or the subject.
    static func isPassing(_ errno: Int32) -> Bool {
        switch errno {
        // EINTR, EIO, EAGAIN, ENOMEM, EBUSY, ENOBUFS.
        case 4, 5, 11, 12, 16, 105: true
        default: false
        }
    }
}
