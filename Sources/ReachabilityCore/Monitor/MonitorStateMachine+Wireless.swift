extension MonitorStateMachine {
    /// Learns that a family of generic netlink has come: the drivers that speak it may have brought interfaces.
    public mutating func receiveNew(_ family: GenericFamily) {
        counters.events += 1
        if family.name == GenericFamilies.wirelessName { lookAtDevicesAgain() }
    }

    /// Learns that the kernel dropped messages about WiFi because the socket's buffer was full.
    ///
    /// What was told of associations counts no more until nl80211 tells anew: the links alone count. What the
    /// interfaces are is asked again.
    public mutating func overrunWireless(at now: Instant) {
        counters.overruns += 1
        forgetAssociations(at: now)
        lookAtDevicesAgain()
    }

    /// Tells of interfaces that went over to another access point, if the path leads through one of them.
    ///
    /// Where a loss between was told, the path that was told last leads through none, and there is no need.
    mutating func report(_ roams: [InterfaceIndex]) {
        guard reportsRoams, let path = publisher.published,
            path.carriers.contains(where: { roams.contains($0.index) }),
            let notice = publisher.announce(.roam, .roamed)
        else { return }
        notices.append(notice)
    }

    /// Lets the links alone count.
    mutating func forgetAssociations(at now: Instant) {
        var effect = SnapshotEffect()
        snapshot.forgetAssociations(&effect)
        absorb(effect, at: now)
    }

    /// Asks for the links, each of which leads to a look at its device.
    private mutating func lookAtDevicesAgain() {
        devices.forgetAll()
        if confirms { reading.request([.links], .doubt) }
    }
}
