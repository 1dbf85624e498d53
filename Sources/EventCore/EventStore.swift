package import ReachabilityCore

/// An event as a journal stores it.
package struct StoredEvent: Hashable, Sendable {
    /// The number in its run.
    package let sequence: UInt64
    /// The change.
    package let change: ReachabilityChange
    /// The kind of event, as JSON has it.
    package let kind: String
    /// Its line of JSON, with the line feed.
    package let line: [UInt8]
    /// When it was published.
    package let moment: EventMetrics.Moment
    /// The counters of its run after it.
    package let totals: EventTotals

    /// Creates an event.
    package init(
        sequence: UInt64,
        change: ReachabilityChange,
        line: [UInt8],
        moment: EventMetrics.Moment,
        totals: EventTotals,
        kind: String? = nil
    ) {
        self.sequence = sequence
        self.change = change
        self.kind = kind ?? change.event.rawValue
        self.line = line
        self.moment = moment
        self.totals = totals
    }
}

/// Whether a journal stores what is published.
package struct JournalHealth: Hashable, Sendable {
    /// Whether the last attempt to store events succeeded.
    package var isStoring: Bool
    /// The number of events that were published and are not stored.
    package var lost: UInt64

    /// Creates a health.
    package init(isStoring: Bool = true, lost: UInt64 = 0) {
        self.isStoring = isStoring
        self.lost = lost
    }
}

/// A place in which events outlive the service.
///
/// No function waits for the disk. Closures are called from any thread.
package protocol EventStore: AnyObject, Sendable {
    /// Whether events are stored.
    var health: JournalHealth { get }

    /// Calls a closure with the counters of earlier runs, once they are read; with nil while they cannot be read, in
    /// which case it is called again when they can.
    func restore(_ body: @escaping @Sendable (EventTotals?) -> Void)

    /// Stores an event of this run: immediately if the state changed, otherwise within 5 s.
    func append(_ event: StoredEvent)

    /// Stores the counters of this run.
    func save(_ totals: EventTotals, at moment: EventMetrics.Moment)

    /// Reads the events that follow one.
    func page(after id: EventID, limit: Int, _ body: @escaping @Sendable (JournalPage<[UInt8]>) -> Void)

    /// Finds the event after which a period begins, with the state that it begins with; nil if nothing is stored.
    func start(since age: Duration, at now: EventMetrics.Moment, _ body: @escaping @Sendable (EventID?) -> Void)

    /// Reports the availability in a period that ends now, as an object of JSON with a line feed; nil if the journal cannot
    /// be read.
    func report(since age: Duration, at now: EventMetrics.Moment, _ body: @escaping @Sendable ([UInt8]?) -> Void)
}
