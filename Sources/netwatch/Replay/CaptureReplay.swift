import ReachabilityCore

/// Goes through a capture record by record and says what a monitor would have published.
///
/// Pure: the capture's own times are the clock.
struct CaptureReplay {
    private var machine: MonitorStateMachine
    private var reader = CaptureReader()
    private var now = Instant(nanoseconds: 0)

    /// Stands before the first record.
    ///
    /// - Parameters:
    ///   - context: Whose sockets are judged, and the user's own rules for kinds.
    ///   - settle: How long a path must stay the same before a change is published.
    init(context: EvaluationContext, settle: Duration) {
        machine = .replaying(context: context, settle: settle)
    }

    /// What came of one record.
    enum Step: Hashable {
        /// What it led to, often nothing.
        case changes([ReplayedChange])
        /// There is no further one, or none that can be read.
        case end(ReplayError?)
    }

    /// Reads one record.
    ///
    /// - Parameter bytes: The whole capture, the same at each call.
    /// - Returns: What came of it; ``finish()`` has the rest after the end.
    mutating func step(_ bytes: RawSpan) -> Step {
        do throws(ReplayError) {
            guard let changes = try next(bytes) else { return .end(nil) }
            return .changes(changes)
        } catch {
            return .end(error)
        }
    }

    private mutating func next(_ bytes: RawSpan) throws(ReplayError) -> [ReplayedChange]? {
        guard let record = try read(bytes) else { return nil }
        guard record.originalLength <= record.payload.count else { throw .cut(record) }
        // Clocks are set back, and captures are merged; time only goes on here.
        now = max(now, .init(nanoseconds: record.time))
        var changes = changesDue()
        try decode(record, bytes)
        changes += take(at: now)
        return changes
    }

    /// What was held back when the capture ended.
    mutating func finish() -> [ReplayedChange] {
        machine.finishReplay(at: now)
        return take(at: now)
    }

    private mutating func read(_ bytes: RawSpan) throws(ReplayError) -> CaptureRecord? {
        do throws(CaptureError) { return try reader.next(bytes) } catch { throw .capture(error) }
    }

    private mutating func decode(_ record: CaptureRecord, _ bytes: RawSpan) throws(ReplayError) {
        let decoder = NetlinkDecoder(
            byteOrder: record.byteOrder,
            protocolNumber: record.netlinkProtocol,
            defaultLikeRoutesOnly: true
        )
        do throws(NetlinkDecodeError) {
            try decoder.decode(bytes.extracting(record.payload)) { header, event in
                machine.replay(event, header, at: now)
            }
        } catch {
            throw .message(error, record)
        }
    }

    /// What falls due before now: an expired route, the end of a settling time.
    private mutating func changesDue() -> [ReplayedChange] {
        var changes: [ReplayedChange] = []
        var last = Instant(nanoseconds: .min)
        while let deadline = machine.deadline, deadline < now, deadline > last {
            last = deadline
            changes += take(at: deadline)
        }
        return changes
    }

    private mutating func take(at moment: Instant) -> [ReplayedChange] {
        var changes: [ReplayedChange] = []
        while let action = machine.next(at: moment) {
            // A machine that replays wants nothing else done.
            guard case .publish(let change) = action else { continue }
            changes.append(.init(change: change, time: moment))
        }
        return changes
    }
}

/// A notice, and when it would have been published.
struct ReplayedChange: Hashable {
    /// The notice.
    var change: StateChange
    /// By the capture's times: nanoseconds since 1970.
    var time: Instant

    /// The time as lines are stamped.
    var timestamp: Timestamp {
        let (seconds, nanoseconds) = time.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return .init(seconds: seconds, nanoseconds: nanoseconds)
    }
}
