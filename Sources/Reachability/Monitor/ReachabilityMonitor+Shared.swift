extension ReachabilityMonitor {
    /// A monitor of the current network namespace for the whole program; made and started by the first use, never
    /// released.
    ///
    /// Where netlink can't be opened, as in a service whose unit has `RestrictAddressFamilies` without `AF_NETLINK`,
    /// its state is `unknown` for the reason `netlink.failed`, ``startError`` tells more, and ``start()`` tries again.
    public static let shared = started { MonitorEngine(.init(), sink: $0) }

    /// Makes a monitor that exists even if it can't be started.
    static func started(
        source makeSource: (@escaping @Sendable (StateChange) -> Void) -> any MonitorSource
    ) -> ReachabilityMonitor {
        let monitor = ReachabilityMonitor(source: makeSource)
        do {
            try monitor.start()
        } catch {
            // Nobody else has the monitor yet, and its source does not run: this is the first notice.
            monitor.broadcaster.publish(.unknown(for: .netlinkFailed))
        }
        return monitor
    }
}
