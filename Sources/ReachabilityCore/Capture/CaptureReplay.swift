/// Goes through a capture record by record and says what a monitor would have published.
///
/// ```swift
/// var replay = CaptureReplay(context: .init(user: 0))
/// while let changes = try replay.next(bytes) { … }
/// let rest = replay.finish()
/// ```
/// It is pure: the capture's own times are the clock. What a capture says is judged and not confirmed, since there is no
/// kernel to ask. The capture may be anybody's: dumps are told by their requests, and without any the notifications
/// alone make the model.
public struct CaptureReplay: Sendable {
    private var machine: MonitorStateMachine
    private var reader = CaptureReader()
    private var now = Instant(nanoseconds: 0)
    /// The families of generic netlink by the numbers that the capture told.
    private var families = GenericFamilies()
    /// Whether there was a record, and none that could not be read.
    private var canJudge = false

    /// Stands before the first record.
    ///
    /// - Parameters:
    ///   - context: Whose sockets are judged, and the user's own rules for kinds.
    ///   - settle: How long a path must stay the same before a change is published.
    ///   - settleGoingDown: The same for changes from reachable to not reachable; nil takes `settle`.
    ///   - reportsRoams: Whether notices tell of WiFi interfaces that go over to another access point.
    public init(
        context: EvaluationContext,
        settle: Duration = .zero,
        settleGoingDown: Duration? = nil,
        reportsRoams: Bool = false
    ) {
        machine = .replaying(context: context, settle: settle, settleGoingDown: settleGoingDown)
        machine.reportsRoams = reportsRoams
    }

    /// Reads one record.
    ///
    /// - Parameter bytes: The whole capture, the same at each call.
    /// - Returns: What it led to, often nothing; nil behind the last record.
    /// - Throws: Why the capture can't be read any further.
    public mutating func next(_ bytes: RawSpan) throws(ReplayError) -> [ReplayedChange]? {
        do throws(ReplayError) {
            guard let record = try read(bytes) else { return nil }
            canJudge = true
            return try take(record, bytes)
        } catch {
            canJudge = false
            throw error
        }
    }

    private mutating func take(_ record: CaptureRecord, _ bytes: RawSpan) throws(ReplayError) -> [ReplayedChange] {
        guard record.originalLength <= record.payload.count else { throw .cut(record) }
        // Clocks are set back, and captures are merged; time only goes on here.
        now = max(now, .init(nanoseconds: record.time))
        var changes = changesDue()
        try decode(record, bytes)
        changes += take(at: now)
        return changes
    }

    /// Learns that there is nothing more to read, and gives what was held back until then.
    ///
    /// Nothing comes of a capture without records, or behind a fault: half a table is no state of the network.
    public mutating func finish() -> [ReplayedChange] {
        guard canJudge else { return [] }
        machine.finishReplay(at: now)
        return take(at: now)
    }

    /// The model as it is behind the records read so far.
    public var snapshot: NetworkSnapshot { machine.snapshot }

    private mutating func read(_ bytes: RawSpan) throws(ReplayError) -> CaptureRecord? {
        do throws(CaptureError) { return try reader.next(bytes) } catch { throw .capture(error) }
    }

    private mutating func decode(_ record: CaptureRecord, _ bytes: RawSpan) throws(ReplayError) {
        let decoder = NetlinkDecoder(
            byteOrder: record.byteOrder,
            protocolNumber: record.netlinkProtocol,
            defaultLikeRoutesOnly: true,
            families: families
        )
        do throws(NetlinkDecodeError) {
            try decoder.decode(bytes.extracting(record.payload)) { header, event in
                if case .family(let family) = event { families.note(family) }
                // The numbers of these requests are counted apart from those of rtnetlink's dumps.
                guard record.netlinkProtocol != NetlinkDecoder.generic || !event.endsAnswer else { return }
                machine.replay(event, header, at: now)
            }
        } catch {
            throw .message(error, record)
        }
    }

    /// What fell due before now, such as the end of a settling time.
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
            changes.append(.init(change: change, time: moment.nanoseconds))
        }
        return changes
    }
}

/// A notice of a replay, and when it would have been published.
public struct ReplayedChange: Sendable, Hashable {
    /// The notice.
    public var change: StateChange
    /// By the capture's times: nanoseconds since 1970-01-01 00:00 UTC.
    public var time: Int64
}

/// Why a capture can't be replayed any further.
public enum ReplayError: Error, Sendable, Hashable {
    /// The file is not a capture of netlink, or is damaged.
    case capture(CaptureError)
    /// A record holds something that is not a netlink message.
    case message(NetlinkDecodeError, CaptureRecord)
    /// A record does not hold the whole of its message.
    case cut(CaptureRecord)
}

extension ReplayError: CustomStringConvertible {
    /// What is wrong, with the record's number and the offset in the file, and what can be done.
    public var description: String {
        switch self {
        case .capture(let error): return error.description
        case .message(let error, let record):
            let offset = record.payload.lowerBound + error.offset
            let type = error.messageType.map { "message of type \($0)" } ?? "message"
            return "record \(record.number) at byte \(offset): \(type): \(error.fault)"
        case .cut(let record):
            return "record \(record.number) at byte \(record.offset): only \(record.payload.count) of "
                + "\(record.originalLength) bytes were captured; capture again with a larger snapshot length"
        }
    }
}

extension KernelEvent {
    /// Whether it says of a request that nothing more comes.
    fileprivate var endsAnswer: Bool {
        switch self {
        case .done, .error: true
        default: false
        }
    }
}
