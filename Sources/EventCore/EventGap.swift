/// A report that a subscriber does not receive events which were published.
package struct EventGap: Hashable, Sendable {
    /// The reasons for a gap, by their names in JSON.
    package enum Reason: String, Sendable, CaseIterable {
        /// The subscriber resumes after an event that the service does not know.
        case unknown
        /// The subscriber resumes after an event that is older than those that are kept.
        case expired
        /// The subscriber read so slowly that the log went past it.
        case slow
        /// The journal lacks events: the service was killed before it stored them, or could not store them.
        case lost
    }

    /// The last event that the subscriber has; nil if it named none that could be read.
    package let from: EventID?
    /// The number of events between that one and what follows; nil if it is not known.
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
