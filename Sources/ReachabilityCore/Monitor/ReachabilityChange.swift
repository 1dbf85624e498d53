/// A published change.
public struct ReachabilityChange: Sendable, Hashable {
    /// The kind of change.
    public var event: Event
    /// The state now.
    public var status: ReachabilityStatus
    /// The state before; nil for the first change.
    public var previous: ReachabilityStatus?
    /// The path now.
    public var path: NetworkPath
    /// The reasons of the change, in order and without repetition.
    public var reasons: [ReachabilityReason]
    /// The number of the change, counted from 1 for each monitor.
    public var sequence: UInt64
    /// The time for which the machine was suspended, by `CLOCK_BOOTTIME` and `CLOCK_MONOTONIC`; nil for any other
    /// event than ``Event/suspend``.
    public var suspended: Duration?

    /// Makes a change.
    public init(
        event: Event,
        status: ReachabilityStatus,
        previous: ReachabilityStatus?,
        path: NetworkPath,
        reasons: [ReachabilityReason],
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

    /// The kinds of changes, by their names in the tool's JSON.
    public enum Event: String, Sendable, Hashable, CaseIterable {
        /// The first: the state at the start.
        case state
        /// The state or the path changed.
        case change
        /// Messages were lost, and everything is being read again; status and path stay as they were until then.
        case resync
        /// The machine was suspended and has resumed.
        case suspend
        /// Netlink cannot be read for now.
        case error
        /// A Wi-Fi interface of the path roamed to another access point; status and path stay as they were.
        ///
        /// Published only on request (`MonitorConfiguration.reportsRoams`).
        case roam
    }
}
