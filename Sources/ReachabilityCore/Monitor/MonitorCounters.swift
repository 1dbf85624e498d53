/// The counters of a monitor; they never decrease.
public struct MonitorCounters: Sendable, Hashable {
    /// Notifications of the kernel, without the replies to dumps and lookups.
    public var events: UInt64 = 0
    /// Times that the kernel dropped messages because the receive buffer was full (`ENOBUFS`).
    public var overruns: UInt64 = 0
    /// Times that everything was read again.
    public var resyncs: UInt64 = 0
    /// Dumps that were read to their end.
    public var dumps: UInt64 = 0
    /// Dumps that a change interrupted (`NLM_F_DUMP_INTR`), and that were read again.
    public var interruptedDumps: UInt64 = 0
    /// Evaluations that were compared with the kernel's own lookups.
    public var confirms: UInt64 = 0
    /// Comparisons that failed repeatedly, so that tables were read again.
    public var mismatches: UInt64 = 0
    /// Changes that were published.
    public var published: UInt64 = 0
    /// Times that the netlink sockets were opened again after a failure.
    public var reopened: UInt64 = 0
    /// Times that the machine was suspended and resumed.
    public var suspends: UInt64 = 0
    /// Interfaces whose device was examined in sysfs.
    public var probes: UInt64 = 0
    /// Datagrams that did not come from the kernel and were dropped.
    public var foreign: UInt64 = 0
    /// Messages that could not be decoded and were dropped.
    public var malformed: UInt64 = 0

    /// Makes counters that start at 0.
    public init() {}
}
