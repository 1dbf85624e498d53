/// Whether a subscriber wants every event.
package enum ReadMode: String, Sendable, CaseIterable {
    /// Every event, in order.
    case all
    /// The newest state, whenever there is more than one event to deliver; there are no gaps then.
    case latest
}

/// The position from which a subscriber starts.
package enum ReadStart: Hashable, Sendable {
    /// With the state.
    case now
    /// With what follows an event; nil for an id that could not be read.
    case after(EventID?)
}

/// Something that a subscriber receives next.
package enum EventDelivery<Event: Sendable>: Sendable {
    /// The event that follows the last one; preceded by the report of a gap if events between them are lost.
    case event(EventID, Event, EventGap?)
    /// The state as of the newest event, preceded by the report of a gap if there is one.
    ///
    /// Both are one delivery, so that nothing can be published between them.
    case state(EventID, EventGap?)
    /// Nothing yet: the events after this one are to be read from the journal, and given to
    /// ``EventCursor/receive(_:in:)``.
    case page(after: EventID)
}

extension EventDelivery: Equatable where Event: Equatable {}

/// A subscriber's position in the log, or in the journal as long as the log does not reach back that far.
///
/// Deliveries are made when they are asked for. A subscriber that cannot take any has nothing prepared for it but the rest of
/// a page of the journal: however much it misses meanwhile, there is one gap afterwards.
package struct EventCursor<Event: Sendable>: Sendable {
    @usableFromInline
    enum Position {
        /// The number of the last event that was delivered.
        case delivered(UInt64)
        /// The last event of the run before the log's was delivered; the first event of the log follows it.
        case beginning(after: EventID)
        /// The state is due, and with it the report of what was lost.
        case stateDue(lost: EventID?, EventGap.Reason?)
        /// The events that follow are to be read from the journal.
        case pageDue(after: EventID)
        /// They are being read.
        case reading(after: EventID)
        /// Events of the journal, not all of which were delivered.
        case page(JournalPage<Event>, next: Int)
    }

    @usableFromInline
    let mode: ReadMode
    @usableFromInline
    let hasJournal: Bool
    @usableFromInline
    var position: Position

    /// Creates a cursor at a position in a log.
    ///
    /// - Parameters:
    ///   - start: The position.
    ///   - mode: Whether every event is wanted.
    ///   - log: The log.
    ///   - hasJournal: Whether older events can be read from a journal.
    package init(_ start: ReadStart, mode: ReadMode = .all, in log: EventLog<Event>, hasJournal: Bool = false) {
        self.mode = mode
        self.hasJournal = hasJournal && mode == .all
        switch start {
        case .now: position = .stateDue(lost: nil, nil)
        case .after(let id?) where id.run == log.run && id.sequence <= log.newest:
            position = log.has(after: id) ? .delivered(id.sequence) : .stateDue(lost: id, .expired)
        case .after(let id): position = .stateDue(lost: id, .unknown)
        }
        // An event of the future was not published.
        guard self.hasJournal, case .stateDue(let id?, let reason?) = position else { return }
        if reason == .expired || id.run != log.run { position = .pageDue(after: id) }
    }

    /// Returns what the subscriber receives next, and moves past it; nil if it has everything, or a page is being read.
    @inlinable
    package mutating func next(in log: EventLog<Event>) -> EventDelivery<Event>? {
        guard log.newest > 0 else { return nil }
        switch position {
        case .stateDue(let lost, let reason):
            return state(in: log, gap: reason.map { Self.gap(after: lost, $0, in: log) })
        case .delivered(let sequence): return next(after: sequence, in: log)
        case .beginning(let id):
            position = log.oldest == 1 ? .delivered(0) : .pageDue(after: id)
            return next(in: log)
        case .pageDue(let id):
            position = .reading(after: id)
            return .page(after: id)
        case .reading: return nil
        case .page(let page, let next): return entry(next, of: page, in: log)
        }
    }

    /// Takes the page that ``EventDelivery/page(after:)`` has asked for.
    package mutating func receive(_ page: JournalPage<Event>, in log: EventLog<Event>) {
        guard case .reading(let id) = position else { return }
        if !page.entries.isEmpty {
            position = .page(page, next: 0)
        } else if let reason = page.failure {
            position = .stateDue(lost: id, reason)
        } else {
            // The journal ends here; the log continues if it has the event that follows.
            position = continuation(after: id, page, in: log) ?? .stateDue(lost: id, .lost)
        }
    }

    @usableFromInline
    mutating func entry(
        _ index: Int,
        of page: JournalPage<Event>,
        in log: EventLog<Event>
    ) -> EventDelivery<Event> {
        let entry = page.entries[index]
        if index + 1 < page.entries.count {
            position = .page(page, next: index + 1)
        } else {
            position = continuation(after: entry.id, page, in: log) ?? .pageDue(after: entry.id)
        }
        return .event(entry.id, entry.event, entry.gap)
    }

    /// The position in the log after an event; nil if the log does not have what follows.
    private func continuation(after id: EventID, _ page: JournalPage<Event>, in log: EventLog<Event>) -> Position? {
        if id.run == log.run { return log.has(after: id) ? .delivered(id.sequence) : nil }
        return page.successor == log.run && log.oldest == 1 ? .beginning(after: id) : nil
    }

    @inlinable
    mutating func next(after sequence: UInt64, in log: EventLog<Event>) -> EventDelivery<Event>? {
        guard sequence < log.newest else { return nil }
        if mode == .latest, log.newest - sequence > 1 { return state(in: log, gap: nil) }
        guard let event = log.event(sequence + 1) else {
            guard !hasJournal else {
                position = .reading(after: log.id(sequence))
                return .page(after: log.id(sequence))
            }
            return state(in: log, gap: Self.gap(after: log.id(sequence), .slow, in: log))
        }
        position = .delivered(sequence + 1)
        return .event(log.id(sequence + 1), event, nil)
    }

    @usableFromInline
    mutating func state(in log: EventLog<Event>, gap: EventGap?) -> EventDelivery<Event> {
        position = .delivered(log.newest)
        return .state(log.id(log.newest), mode == .latest ? nil : gap)
    }

    @usableFromInline
    static func gap(after id: EventID?, _ reason: EventGap.Reason, in log: EventLog<Event>) -> EventGap {
        let isOfThisRun = id?.run == log.run && reason != .unknown
        return .init(from: id, missed: isOfThisRun ? id.map { log.newest - $0.sequence } : nil, reason: reason)
    }
}

extension EventLog {
    /// Returns whether everything that follows an event of this run is kept.
    fileprivate func has(after id: EventID) -> Bool { id.sequence <= newest && id.sequence + 1 >= oldest }
}
