/// Replays a capture and returns the changes that a monitor would have published.
///
/// ```swift
/// var replay = CaptureReplay(context: .init(user: 0))
/// while let changes = try replay.next(bytes) { … }
/// let rest = replay.finish()
/// ```
/// The capture's timestamps are the clock. Verdicts are not confirmed by lookups, because there is no kernel to ask.
/// The capture may be written by any program: dumps are recognized by their requests; without dumps, the notifications
/// alone build the model.
package struct CaptureReplay: Sendable {
    private var machine: MonitorStateMachine
    private var reader = CaptureReader()
    private var now = Instant(nanoseconds: 0)
    /// The numbers of the generic netlink families, as the capture announced them.
    private var families = GenericFamilies()
    /// Whether there was a record and no error.
    private var canEvaluate = false

    /// The latest time that a record may have, in the year 2116: lifetimes of routes are added to it.
    private static let latestTime = Int64.max / 2

    /// Creates a replay at the first record.
    ///
    /// - Parameters:
    ///   - context: The user whose sockets are evaluated, and the user's rules.
    ///   - settle: How long a path must be unchanged before it is published.
    ///   - settleGoingDown: The same for changes from reachable to not reachable; nil means `settle`.
    ///   - reportsRoams: Whether Wi-Fi roams are published.
    package init(
        context: EvaluationContext,
        settle: Duration = .zero,
        settleGoingDown: Duration? = nil,
        reportsRoams: Bool = false
    ) {
        machine = .init(context: context, settle: settle, settleGoingDown: settleGoingDown, isReplay: true)
        machine.reportsRoams = reportsRoams
    }

    /// Replays the next record.
    ///
    /// - Parameter bytes: The whole capture, the same in each call.
    /// - Returns: The changes that it caused, often none; nil after the last record.
    /// - Throws: The error that ends the replay.
    package mutating func next(_ bytes: RawSpan) throws(ReplayError) -> [ReplayedChange]? {
        do throws(ReplayError) {
            guard let record = try read(bytes) else { return nil }
            canEvaluate = true
            return try replay(record, bytes)
        } catch {
            canEvaluate = false
            throw error
        }
    }

    private mutating func replay(_ record: CaptureRecord, _ bytes: RawSpan) throws(ReplayError) -> [ReplayedChange] {
        guard record.originalLength <= record.payload.count else { throw .cut(record) }
        // A clock may be set back and captures may be merged; time is monotonic here.
        now = max(now, .init(nanoseconds: min(record.time, Self.latestTime)))
        var changes = changesDue()
        try decode(record, bytes)
        changes += self.changes(at: now)
        return changes
    }

    /// Ends the replay and returns the changes that were held back.
    ///
    /// There are none for a capture without records or after an error: half a table is not a state of the network.
    package mutating func finish() -> [ReplayedChange] {
        guard canEvaluate else { return [] }
        machine.finishReplay(at: now)
        return changes(at: now)
    }

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
                // Their sequence numbers are independent of those of rtnetlink dumps.
                guard record.netlinkProtocol != NetlinkDecoder.generic || !event.endsReply else { return }
                machine.replay(event, header, at: now)
            }
        } catch {
            throw .message(error, record)
        }
    }

    /// Returns the changes that were due before now, such as at the end of the settle time.
    private mutating func changesDue() -> [ReplayedChange] {
        var changes: [ReplayedChange] = []
        var last = Instant(nanoseconds: .min)
        while let deadline = machine.deadline, deadline < now, deadline > last {
            last = deadline
            changes += self.changes(at: deadline)
        }
        return changes
    }

    private mutating func changes(at moment: Instant) -> [ReplayedChange] {
        var changes: [ReplayedChange] = []
        while let action = machine.next(at: moment) {
            // A replaying machine has no other actions.
            guard case .publish(let change) = action else { continue }
            changes.append(.init(change: change, time: moment.nanoseconds))
        }
        return changes
    }
}

/// A replayed change and its time.
package struct ReplayedChange: Sendable, Hashable {
    /// The change.
    package var change: ReachabilityChange
    /// The time in nanoseconds since 1970-01-01 00:00 UTC, by the capture's timestamps.
    package var time: Int64
}

/// An error that ends a replay.
package enum ReplayError: Error, Sendable, Hashable {
    /// The file is not a netlink capture or is damaged.
    case capture(CaptureError)
    /// A record contains an invalid netlink message.
    case message(NetlinkDecodeError, CaptureRecord)
    /// A record is truncated.
    case cut(CaptureRecord)
}

extension ReplayError: CustomStringConvertible {
    /// A description of the error, with the record's number, the offset in the file and the remedy.
    package var description: String {
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
    /// Whether the message ends the reply to a request.
    fileprivate var endsReply: Bool {
        switch self {
        case .done, .error: true
        default: false
        }
    }
}
