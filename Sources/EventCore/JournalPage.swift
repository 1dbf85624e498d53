/// The events of a journal that follow an event, up to a maximum number.
package struct JournalPage<Event: Sendable>: Sendable {
    /// An event, and the report of those that are lost before it.
    package struct Entry: Sendable {
        /// The id.
        package let id: EventID
        /// The event.
        package let event: Event
        /// The events between this one and the one before that the journal lacks.
        package let gap: EventGap?
    }

    /// The events, in order.
    package let entries: [Entry]
    /// Why there are none, although there may be later ones: the event is not known, or older than those that are kept.
    package let failure: EventGap.Reason?
    /// The run that follows the last of these events immediately, because its own run ended with it; nil if there is none.
    package let successor: UInt64?
    /// Whether the journal could be read; if not, it may have events all the same.
    package let isReadable: Bool

    /// Creates a page.
    package init(
        _ entries: [Entry],
        failure: EventGap.Reason? = nil,
        successor: UInt64? = nil,
        isReadable: Bool = true
    ) {
        self.entries = entries
        self.failure = failure
        self.successor = successor
        self.isReadable = isReadable
    }

    /// Returns the page with other events.
    package func map<Other>(_ transform: (EventID, Event) -> Other) -> JournalPage<Other> {
        let entries = entries.map {
            JournalPage<Other>.Entry(id: $0.id, event: transform($0.id, $0.event), gap: $0.gap)
        }
        return .init(entries, failure: failure, successor: successor, isReadable: isReadable)
    }
}

/// A run of the service, as a journal knows it.
package struct JournalRun: Hashable, Sendable {
    /// The position in the order of runs.
    package let ordinal: Int64
    /// The run in the ids of its events.
    package let run: UInt64
    /// The number of its last event; nil if the service was killed, or runs.
    package let last: UInt64?
    /// The number of its newest event that was removed because of its age or of the journal's size; 0 if there is none.
    package let removed: UInt64

    /// Creates a run.
    package init(ordinal: Int64, run: UInt64, last: UInt64?, removed: UInt64) {
        self.ordinal = ordinal
        self.run = run
        self.last = last
        self.removed = removed
    }
}

/// The order of the runs in a journal, by which its events are put together to pages.
///
/// The order is that in which runs were recorded, never the wall clock.
package struct JournalOrder: Sendable {
    private let runs: [JournalRun]

    /// Creates an order.
    ///
    /// - Parameter runs: The runs by their ordinals.
    package init(_ runs: [JournalRun]) { self.runs = runs }

    /// An event that was read from a journal.
    package struct Stored<Event: Sendable>: Sendable {
        let ordinal: Int64
        let sequence: UInt64
        let event: Event

        /// Creates an event.
        package init(ordinal: Int64, sequence: UInt64, event: Event) {
            self.ordinal = ordinal
            self.sequence = sequence
            self.event = event
        }
    }

    /// Returns the page after an event.
    ///
    /// - Parameters:
    ///   - id: The event.
    ///   - read: Returns stored events that follow a position, in order; not called if the event is not known.
    /// - Returns: The page.
    /// - Throws: The error of reading.
    package func page<Event>(
        after id: EventID,
        read: (_ ordinal: Int64, _ sequence: UInt64) throws -> [Stored<Event>]
    ) rethrows -> JournalPage<Event> {
        guard let run = runs.last(where: { $0.run == id.run }) else { return .init([], failure: .unknown) }
        // Journals number events with 63 bits.
        guard id.sequence <= UInt64(Int64.max) else { return .init([], failure: .unknown) }
        // An event after the last one was never published.
        if let last = run.last, id.sequence > last { return .init([], failure: .unknown) }
        let isExpired = id.sequence < run.removed || runs.contains { $0.ordinal > run.ordinal && $0.removed > 0 }
        guard !isExpired else { return .init([], failure: .expired) }
        var last = Position(run: run, sequence: id.sequence)
        var entries: [JournalPage<Event>.Entry] = []
        for stored in try read(run.ordinal, id.sequence) {
            guard let run = self.run(stored.ordinal) else { break }
            let position = Position(run: run, sequence: stored.sequence)
            entries.append(.init(id: position.id, event: stored.event, gap: gap(from: last, to: position)))
            last = position
        }
        return .init(entries, successor: successor(of: last)?.run)
    }

    private struct Position {
        let run: JournalRun
        let sequence: UInt64
        var id: EventID { .init(run: run.run, sequence: sequence) }
    }

    private func run(_ ordinal: Int64) -> JournalRun? { runs.first { $0.ordinal == ordinal } }

    /// The run that begins where another one ended; nil if that was killed, or has later events.
    private func successor(of position: Position) -> JournalRun? {
        guard position.run.last == position.sequence else { return nil }
        return runs.first { $0.ordinal > position.run.ordinal }
    }

    private func gap(from last: Position, to next: Position) -> EventGap? {
        if last.run.ordinal == next.run.ordinal {
            let missed = next.sequence - last.sequence - 1
            return missed == 0 ? nil : .init(from: last.id, missed: missed, reason: .lost)
        }
        let isSeamless = successor(of: last)?.ordinal == next.run.ordinal && next.sequence == 1
        return isSeamless ? nil : .init(from: last.id, missed: nil, reason: .lost)
    }
}
