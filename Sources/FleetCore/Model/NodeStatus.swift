package import EventCore
package import NetwatchCore
package import ReachabilityCore

/// Whether a machine of a fleet is connected to the broker.
package enum Presence: String, Hashable, Sendable, CaseIterable {
    /// It is connected.
    case online
    /// It is not connected; why may be known later, from its events.
    case silent
    /// No message of it says whether it is connected.
    case unknown
}

/// Why a machine was, or is, not connected.
package enum SilenceCause: Hashable, Sendable {
    /// The events that would say it did not arrive, or not yet.
    case unknown
    /// The machine had no path, for these reasons.
    case noPath([String])
    /// The machine had a path, and could not reach the broker over it.
    case brokerNotReachable
    /// The machine was off.
    case machineOff
    /// The machine was suspended.
    case suspended
    /// The machine was not restarted, but its event service was not running.
    case notRunning
    /// The forwarder was stopped, as by a shutdown, and has not returned.
    case stopped
}

/// A time in which a machine was not connected to the broker.
package struct Silence: Hashable, Sendable {
    /// When it was noticed, by the reader's clock.
    package var start: Timestamp
    /// When the machine returned; nil if it has not.
    package var end: Timestamp?
    package var cause: SilenceCause

    package init(start: Timestamp, end: Timestamp?, cause: SilenceCause) {
        (self.start, self.end, self.cause) = (start, end, cause)
    }
}

/// A machine's condition, as the table and JSON show it.
package struct NodeStatus: Hashable, Sendable {
    package var key: NodeKey
    package var labels: [String: String]
    package var presence: Presence
    /// The current silence or the last one of the last 24 h; nil if there was none.
    package var silence: Silence?
    /// The state in the newest event; `.unknown` if there is none, or if the machine is silent.
    package var state: ReachabilityStatus
    /// The state in the newest event, even if the machine is silent.
    package var lastState: ReachabilityStatus
    /// When the state began, by the machine's clock; nil if that is not known.
    package var since: Timestamp?
    package var path: NodePath?
    /// The verdict on the path in the newest event; nil if there is none.
    package var validation: NodeValidation?
    /// The reasons in the newest event, by their names.
    package var reasons: [String]
    /// The availability in the last 24 h in hundredths of a per cent, of the time that events cover; nil if they cover none.
    package var availability: Int?
    /// The time of the last 24 h that no events cover.
    package var uncovered: Duration
    /// The outages in the last 24 h.
    package var outages: Int
    /// Whether the state changed five times within an hour, and no 30 min without a change have passed since.
    package var isFlapping: Bool
    /// When the last message was received or, if it was retained, published; nil if there was none.
    package var lastSeen: Timestamp?
    /// The events that the newest one says are still to come.
    package var backlog: UInt64
    /// The number of events that are missing between others of the last 24 h.
    package var lost: UInt64
    /// The newest event; nil if there was none.
    package var newest: EventID?
    /// Whether the inventory has the machine.
    package var isExpected: Bool
    /// Whether any message of it was received.
    package var isKnown: Bool

    /// Whether it is connected, and its network reachable.
    package var isReachable: Bool { presence == .online && state.isReachable }

    /// Whether it is connected, and its path does not lead to the internet: the broker is on this side of a portal.
    package var isLimited: Bool { presence == .online && validation?.verdict.isLimited ?? false }
}
