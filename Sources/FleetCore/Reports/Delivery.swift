package import NetwatchCore

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
