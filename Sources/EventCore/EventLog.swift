/// The newest events of a run, which all subscribers share.
///
/// A ring: when it is full, each event takes the place of the oldest one. Subscribers have no queues of their own, only
/// a position in the log (``EventCursor``), so that one that reads nothing costs no memory.
package struct EventLog<Event: Sendable>: Sendable {
    /// The run whose events these are.
    package let run: UInt64
    /// The number of events that are kept.
    package let capacity: Int
    /// The number of the newest event; 0 if there is none.
    package private(set) var newest: UInt64 = 0
    private var ring: [Event] = []

    /// Creates an empty log.
    ///
    /// - Parameters:
    ///   - run: 64 random bits.
    ///   - capacity: The number of events that are kept, at least 1.
    package init(run: UInt64, capacity: Int = 1024) {
        self.run = run
        self.capacity = max(1, capacity)
    }

    /// The number of the oldest event that is kept; 1 if there is none.
    package var oldest: UInt64 { newest - UInt64(ring.count) + 1 }

    /// The id of the newest event; nil if there is none.
    package var newestID: EventID? { newest == 0 ? nil : id(newest) }

    /// Returns the id of the event with a number.
    package func id(_ sequence: UInt64) -> EventID { .init(run: run, sequence: sequence) }

    /// Appends an event.
    ///
    /// - Returns: Its id.
    @discardableResult
    package mutating func append(_ event: Event) -> EventID {
        if ring.count < capacity { ring.append(event) } else { ring[index(newest + 1)] = event }
        newest += 1
        return id(newest)
    }

    /// Returns the event with a number; nil if it is not kept any more, or was not published yet.
    package func event(_ sequence: UInt64) -> Event? {
        guard sequence >= oldest, sequence <= newest, sequence > 0 else { return nil }
        return ring[index(sequence)]
    }

    private func index(_ sequence: UInt64) -> Int { Int((sequence - 1) % UInt64(capacity)) }
}

/// A report that a subscriber does not receive events which were published.
package struct EventGap: Hashable, Sendable {
    /// The reasons for a gap, by their names in JSON.
    package enum Reason: String, Sendable, CaseIterable {
        /// The subscriber resumes after an event that this run of the service did not publish.
        case unknown
        /// The subscriber resumes after an event that is older than the log.
        case expired
        /// The subscriber read so slowly that the log went past it.
        case slow
    }

    /// The last event that the subscriber has; nil if it named none that could be read.
    package let from: EventID?
    /// The number of events between that one and the state that follows; nil if it is not known.
    package let missed: UInt64?
    /// The reason.
    package let reason: Reason

    /// Creates a report.
    package init(from: EventID?, missed: UInt64?, reason: Reason) {
        self.from = from
        self.missed = missed
        self.reason = reason
    }
}

/// Something that a subscriber receives next.
package enum EventDelivery<Event: Sendable>: Sendable {
    /// The event that follows the last one.
    case event(EventID, Event)
    /// The state as of the newest event, preceded by the report of a gap if there is one.
    ///
    /// Both are one delivery, so that nothing can be published between them.
    case state(EventID, EventGap?)
}

extension EventDelivery: Equatable where Event: Equatable {}

/// A subscriber's position in the log.
///
/// Deliveries are made when they are asked for. A subscriber that cannot take any has nothing prepared for it: however
/// much it misses meanwhile, there is one gap afterwards.
package struct EventCursor: Sendable {
    /// Whether a subscriber wants every event.
    package enum Mode: String, Sendable, CaseIterable {
        /// Every event, in order.
        case all
        /// The newest state, whenever there is more than one event to deliver; there are no gaps then.
        case latest
    }

    /// The position from which a subscriber starts.
    package enum Start: Hashable, Sendable {
        /// With the state.
        case now
        /// With what follows an event; nil for an id that could not be read.
        case after(EventID?)
    }

    private enum Position {
        /// The number of the last event that was delivered.
        case delivered(UInt64)
        /// The state is due, and with it the report of what was lost.
        case stateDue(lost: EventID?, EventGap.Reason?)
    }

    private let mode: Mode
    private var position: Position

    /// Creates a cursor at a position in a log.
    package init<Event>(_ start: Start, mode: Mode = .all, in log: EventLog<Event>) {
        self.mode = mode
        switch start {
        case .now: position = .stateDue(lost: nil, nil)
        case .after(let id?) where id.run == log.run && id.sequence <= log.newest:
            let isKept = id.sequence + 1 >= log.oldest
            position = isKept ? .delivered(id.sequence) : .stateDue(lost: id, .expired)
        case .after(let id): position = .stateDue(lost: id, .unknown)
        }
    }

    /// Returns what the subscriber receives next, and moves past it; nil if it has everything.
    package mutating func next<Event>(in log: EventLog<Event>) -> EventDelivery<Event>? {
        guard log.newest > 0 else { return nil }
        switch position {
        case .stateDue(let lost, let reason):
            return state(in: log, gap: reason.map { Self.gap(after: lost, $0, in: log) })
        case .delivered(let sequence):
            return next(after: sequence, in: log)
        }
    }

    private mutating func next<Event>(after sequence: UInt64, in log: EventLog<Event>) -> EventDelivery<Event>? {
        guard sequence < log.newest else { return nil }
        if mode == .latest, log.newest - sequence > 1 { return state(in: log, gap: nil) }
        guard let event = log.event(sequence + 1) else {
            return state(in: log, gap: Self.gap(after: log.id(sequence), .slow, in: log))
        }
        position = .delivered(sequence + 1)
        return .event(log.id(sequence + 1), event)
    }

    private mutating func state<Event>(in log: EventLog<Event>, gap: EventGap?) -> EventDelivery<Event> {
        position = .delivered(log.newest)
        return .state(log.id(log.newest), mode == .latest ? nil : gap)
    }

    private static func gap<Event>(
        after id: EventID?,
        _ reason: EventGap.Reason,
        in log: EventLog<Event>
    ) -> EventGap {
        let isOfThisRun = reason != .unknown
        return .init(from: id, missed: isOfThisRun ? id.map { log.newest - $0.sequence } : nil, reason: reason)
    }
}
