/// The newest events of a run, which all subscribers share.
///
/// A ring: when it is full, each event takes the place of the oldest one. Subscribers have no queues of their own, only
/// a position in the log (``EventCursor``), so that one that reads nothing costs no memory.
///
/// The members that each delivery needs are inlinable, so that the server's code is specialized for its events.
package struct EventLog<Event: Sendable>: Sendable {
    /// The run whose events these are.
    package let run: UInt64
    /// The number of events that are kept.
    package let capacity: Int
    /// The number of the newest event; 0 if there is none.
    package private(set) var newest: UInt64 = 0
    @usableFromInline
    var ring: [Event] = []

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
    @inlinable
    package var oldest: UInt64 { newest - UInt64(ring.count) + 1 }

    /// The id of the newest event; nil if there is none.
    package var newestID: EventID? { newest == 0 ? nil : id(newest) }

    /// Returns the id of the event with a number.
    @inlinable
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
    @inlinable
    package func event(_ sequence: UInt64) -> Event? {
        guard sequence >= oldest, sequence <= newest, sequence > 0 else { return nil }
        return ring[index(sequence)]
    }

    @usableFromInline
    func index(_ sequence: UInt64) -> Int { Int((sequence - 1) % UInt64(capacity)) }
}
