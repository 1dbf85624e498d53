package import NetwatchCore

/// Limits of what a fleet's machines can make a reader keep.
package struct FleetLimits: Hashable, Sendable {
    /// The number of machines; messages of further ones are refused.
    package var nodes = 100_000
    /// The number of changes of the state that are kept for all machines together; each has at least 64.
    package var changes = 500_000
    /// The number of changes that are kept for one machine.
    package var changesOfNode = 2_048
    /// How long a lost connection may last without counting as a silence.
    ///
    /// A broker with MQTT 3.1.1 reports a machine that connects again as lost first.
    package var grace = Duration.seconds(5)

    package init() {}
}

/// The outcome of a message.
package enum FleetUpdate: Hashable, Sendable {
    /// It is new; an event is to be stored.
    case new
    /// The event is known already.
    case duplicate
    /// It is of an earlier connection, or of a run that is older than those that are kept.
    case outdated
    /// There are as many machines as ``FleetLimits/nodes`` allows.
    case refused
}

/// The circumstances in which a message was received.
package struct Delivery: Hashable, Sendable {
    /// When, by the reader's clock.
    package var time: Timestamp
    /// Whether the broker had kept the message, rather than received it now.
    package var isRetained: Bool
    /// The rest of the message's expiry in seconds, with MQTT 5; it says when the message was published.
    package var expiry: UInt32?

    package init(time: Timestamp, isRetained: Bool = false, expiry: UInt32? = nil) {
        self.time = time
        self.isRetained = isRetained
        self.expiry = expiry
    }
}
