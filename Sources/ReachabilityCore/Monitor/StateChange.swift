/// One published difference.
public struct StateChange: Sendable, Hashable {
    /// What kind of notice this is.
    public var event: Event
    /// The state now.
    public var status: ReachabilityStatus
    /// The state before; nil for the first notice.
    public var previous: ReachabilityStatus?
    /// The path now.
    public var path: NetworkPath
    /// What caused the change, in the order in which it was seen, without repetition.
    public var reasons: [Reason]
    /// Counts the notices of a monitor from 1.
    public var sequence: UInt64
    /// For how long the machine was suspended just before, by `CLOCK_BOOTTIME` and `CLOCK_MONOTONIC`; nil for any other
    /// notice than ``Event/suspend``.
    public var suspended: Duration?

    /// Makes a notice.
    public init(
        event: Event,
        status: ReachabilityStatus,
        previous: ReachabilityStatus?,
        path: NetworkPath,
        reasons: [Reason],
        sequence: UInt64,
        suspended: Duration? = nil
    ) {
        self.event = event
        self.status = status
        self.previous = previous
        self.path = path
        self.reasons = reasons
        self.sequence = sequence
        self.suspended = suspended
    }

    /// The kinds of notices, with the names that the tool's JSON gives them.
    public enum Event: String, Sendable, Hashable, CaseIterable {
        /// The first: what the state is.
        case state
        /// The state or the path is another.
        case change
        /// Messages were lost, everything is being read again; status and path are what they were until then.
        case resync
        /// The machine was suspended and has resumed.
        case suspend
        /// Netlink can't be read for now.
        case error
        /// A WiFi interface of the path went over to another access point; status and path are what they were.
        ///
        /// Told only to those who ask (`MonitorConfiguration.reportsRoams`).
        case roam
    }
}
