public import ReachabilityCore

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

    /// The identity.
    public let id: ID
    /// The change, with the state and the path after it.
    public let change: ReachabilityChange
    /// The events that are missing before this one; nil if there are none.
    public let gap: Gap?

    /// Creates an event.
    public init(id: ID, change: ReachabilityChange, gap: Gap? = nil) {
        self.id = id
        self.change = change
        self.gap = gap
    }
}
