import NetwatchCore
public import ReachabilityCore
public import ValidationCore

/// An event of the event service: a change of the machine's network, with its place in the order of events.
public struct NetwatchEvent: Sendable, Hashable {
    /// The identity of an event: the run of the service, and the number of the event in it.
    public struct ID: Sendable, Hashable, CustomStringConvertible {
        /// The text, such as `00f3a2b1c4d5e6f7.42`.
        public let description: String

        /// Creates the identity from its text.
        public init(_ text: String) { description = text }
    }

    /// A report of events that the program does not receive.
    public struct Gap: Sendable, Hashable {
        /// The last event before the gap; nil if it is not known.
        public let from: ID?
        /// The number of missing events; nil if it is not known.
        ///
        /// If a state follows, its own event is one of them.
        public let missed: UInt64?
        /// The reason: `unknown`, `expired`, `slow` or `lost` (docs/events.md).
        public let reason: String

        /// Creates a report.
        public init(from: ID?, missed: UInt64?, reason: String) {
            self.from = from
            self.missed = missed
            self.reason = reason
        }
    }

    /// Whether the path leads to the internet, as the service has found out (`netwatch serve --validate`).
    public struct Validation: Sendable, Hashable {
        /// The verdict.
        public let verdict: ValidationVerdict
        /// When the verdict began, since 1970 in UTC.
        public let since: Duration
        /// The time of the oldest answer on which the verdict rests, since 1970 in UTC; nil without an answer.
        public let checkedAt: Duration?

        /// Creates a verdict.
        public init(verdict: ValidationVerdict, since: Duration, checkedAt: Duration?) {
            self.verdict = verdict
            self.since = since
            self.checkedAt = checkedAt
        }
    }

    /// The identity.
    public let id: ID
    /// The change, with the state and the path after it.
    public let change: ReachabilityChange
    /// The events that are missing before this one; nil if there are none.
    public let gap: Gap?
    /// The verdict on the path of the change; nil if the service does not validate paths, or knows nothing of this one yet.
    ///
    /// A change of the verdict alone is an event of its own, whose change has the same status and path as the one before, and
    /// no reasons.
    public let validation: Validation?

    /// Creates an event.
    public init(id: ID, change: ReachabilityChange, gap: Gap? = nil, validation: Validation? = nil) {
        self.id = id
        self.change = change
        self.gap = gap
        self.validation = validation
    }
}

extension NetwatchEvent.Validation {
    /// Takes the report of a service.
    init(_ summary: ValidationSummary) {
        let time = { (time: Timestamp) in Duration.nanoseconds(time.nanosecondsSinceEpoch) }
        self.init(verdict: summary.verdict, since: time(summary.since), checkedAt: summary.checkedAt.map(time))
    }
}
