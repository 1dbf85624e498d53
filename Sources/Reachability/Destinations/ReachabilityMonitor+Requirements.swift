public import ReachabilityCore

extension ReachabilityMonitor {
    /// Asks the kernel for the way of a socket that may only use paths which meet a requirement.
    ///
    /// ```swift
    /// let path = try monitor.path(to: address, requiring: .notCellular)
    /// if path.isReachable, !path.staysOnThisMachine { bind(socket, to: path.interface) }
    /// ```
    ///
    /// That an interface is allowed holds for packets only as long as the socket is bound to it (`SO_BINDTOIFINDEX`,
    /// socket(7)): an unbound socket's packets go another way as soon as the kernel prefers one. If the way of an unbound
    /// socket meets the requirement, it is that way; else, of all interfaces that meet it, are up and carry, the one that
    /// leads to the destination and that the kernel would prefer: the more specific route, then the lower metric, then
    /// the lower index. A way around a VPN is such a way too, if the VPN's own does not meet the requirement.
    ///
    /// Nothing is sent to the address. It takes some microseconds of the caller's thread and of the monitor's.
    ///
    /// - Parameters:
    ///   - destination: The address.
    ///   - requirement: What the path must be; for ``PathRequirement/any`` the answer is that of ``path(to:)``.
    /// - Returns: The way. ``DestinationPath/interface`` is what a socket must be bound to, unless
    ///   ``DestinationPath/staysOnThisMachine``: an address of this machine needs no way out. Where there is none,
    ///   ``DestinationPath/ruledOut`` tells what speaks against which interface.
    /// - Throws: ``MonitorError`` if the monitor does not run, or the kernel does not answer.
    public func path(
        to destination: IPAddress,
        requiring requirement: PathRequirement
    ) throws(MonitorError) -> DestinationPath {
        try source.path(to: destination, requiring: requirement)
    }

    /// Calls a closure whenever a look-up may give another answer than before.
    ///
    /// That is: when the monitor heard of a link, an address, a rule, a default route, a nexthop object, a device, or a
    /// route that could cover one of the destinations; when its state became another; when it read everything anew, or
    /// ended. The first call comes as soon as that has begun, so that nothing is missed in between, and every
    /// change is followed by a call. ``path(to:requiring:)``, asked from the closure, knows of the change.
    ///
    /// - Parameters:
    ///   - destinations: Addresses whose own routes matter, beside the default paths.
    ///   - body: Called on the monitor's thread, in a storm of changes at most once in 5 ms; must not block. It keeps
    ///     what it captures until the subscription ends.
    /// - Returns: The subscription, which ends when it is released: keep it.
    public func subscribeToChanges(
        affecting destinations: [IPAddress],
        _ body: @escaping @Sendable () -> Void
    ) -> Subscription {
        let watch = source.watch(destinations, body)
        return Subscription { [self] in
            watch.cancel()
            withExtendedLifetime(self) {}
        }
    }
}
