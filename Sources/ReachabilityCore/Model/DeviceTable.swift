/// The devices behind interfaces, as uevents, sysfs and nl80211 describe them.
package struct DeviceTable: Sendable, Hashable {
    private var findings: [InterfaceIndex: UeventMessage] = [:]
    /// The interfaces whose devices are being examined for the first time.
    package internal(set) var awaited: Set<InterfaceIndex> = []
    /// The state of each interface that nl80211 knows, which makes it a Wi-Fi interface; messages may arrive before the
    /// link's.
    package internal(set) var wireless: [InterfaceIndex: WirelessState] = [:]

    /// Whether nothing is known of any device but by nl80211.
    package var isEmpty: Bool { findings.isEmpty }

    /// The last description of each interface's device by sysfs or a uevent.
    package internal(set) subscript(index: InterfaceIndex) -> UeventMessage? {
        get { findings[index] }
        set { findings[index] = newValue }
    }

    /// Forgets an interface that is gone.
    mutating func remove(_ index: InterfaceIndex) {
        findings[index] = nil
        awaited.remove(index)
        wireless[index] = nil
    }

    /// Forgets the device of an interface whose index has been given to another interface.
    ///
    /// What was found out about the new interface under its own name is kept. The device of a virtual interface is not
    /// examined.
    ///
    /// - Parameter link: The new interface.
    mutating func removeDevice(replacedBy link: Link) {
        let own = link.kind == nil && findings[link.index]?.interface == link.name ? findings[link.index] : nil
        findings[link.index] = own
        // The device of an interface that is down is examined once that is set up.
        if link.kind != nil || !link.flags.contains(.up) { awaited.remove(link.index) }
        // A reply about the new interface ends with the result of the probe: what nl80211 knows of it came before.
        if own?.probe == nil {
            wireless[link.index] = nil
        } else {
            wireless[link.index]?.association = .unknown
        }
    }

    // MARK: Uevents and sysfs

    /// Takes a uevent, or what was found in sysfs: it is kept until the device or its interface goes.
    ///
    /// Either may lack what the other has: the kernel's uevents name no driver, and sysfs may not be visible. What was
    /// known under another name is kept only if the device was renamed (`move`); otherwise it was another device.
    ///
    /// - Parameters:
    ///   - message: The uevent, or what was found.
    ///   - isAskedForEgress: Whether the interface is queried for its egress interface, not for its device.
    ///   - effect: Takes what changed.
    mutating func apply(_ message: UeventMessage, isAskedForEgress: Bool, _ effect: inout SnapshotEffect) {
        let old = findings[message.index]
        guard message.action != .remove else {
            findings[message.index] = nil
            if old?.deviceType != nil || old?.driver != nil { effect.add(.deviceChanged) }
            return
        }
        let known = message.action == .move || old?.interface == message.interface ? old : nil
        var new = message
        new.deviceType = message.deviceType ?? known?.deviceType
        new.driver = message.driver ?? known?.driver
        new.probe = message.probe ?? known?.probe
        findings[message.index] = new
        let isReply = message.probe != nil && awaited.remove(message.index) != nil
        if isReply || new.deviceType != old?.deviceType || new.driver != old?.driver {
            effect.add(.deviceChanged)
        } else if new.probe != old?.probe {
            effect.add(isAskedForEgress ? .tunnelChanged : .deviceChanged)
        }
    }

    /// Records that a device is being examined; what is known of it already counts meanwhile.
    ///
    /// - Parameters:
    ///   - index: The interface.
    ///   - isReplacement: Whether another interface had the index before: what is known is about that one's device.
    mutating func expect(_ index: InterfaceIndex, isReplacement: Bool) {
        if isReplacement || findings[index]?.probe == nil { awaited.insert(index) }
    }

    /// Records that no device is being examined any more.
    mutating func awaitNothing() { awaited = [] }

    // MARK: nl80211

    /// Takes a message of nl80211.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - link: The interface's link, if it is known.
    ///   - effect: Takes what changed.
    mutating func apply(_ message: WirelessMessage, _ link: Link?, _ effect: inout SnapshotEffect) {
        let old = wireless[message.index]
        let before = usability(of: link)
        if message.command == .deleteInterface {
            // While the link exists, it is a Wi-Fi interface: its own end is to follow.
            if link == nil { wireless[message.index] = nil }
        } else if message.command.concernsInterface {
            wireless[message.index, default: .init()].take(message, linkCarries: link?.canCarry ?? false)
        }
        let new = wireless[message.index]
        if (new == nil) != (old == nil) { effect.add(.deviceChanged) }
        noteChange(of: link, from: before, &effect)
        let isElsewhere = old?.accessPoint.map { $0 != new?.accessPoint } ?? false
        if message.command == .roam || (message.isAssociation && isElsewhere) { effect.noteRoam(of: message.index) }
    }

    /// The effect of an interface's association on the paths through it.
    private enum StationState {
        case usable
        case associating
        case unusable
    }

    private func usability(of link: Link?) -> StationState {
        guard let link else { return .unusable }
        if link.canCarry, !isBarred(link.index) { return .usable }
        return isAssociating(link) ? .associating : .unusable
    }

    private func noteChange(of link: Link?, from old: StationState, _ effect: inout SnapshotEffect) {
        switch (old, usability(of: link)) {
        case (.usable, .usable), (.associating, .associating), (.unusable, .unusable): break
        case (.usable, _): effect.add(.carrierLost)
        case (_, .usable): effect.add(.carrierGained)
        case (.associating, _), (.unusable, _): effect.add(.linkChanged)
        }
    }

    /// Forgets an association because messages were lost: the link alone counts.
    mutating func forgetAssociation(of index: InterfaceIndex, _ link: Link?, _ effect: inout SnapshotEffect) {
        let before = usability(of: link)
        wireless[index]?.association = .unknown
        noteChange(of: link, from: before, &effect)
    }

    /// Records that a link regained or lost its carrier: what was reported of its association before is out of date.
    ///
    /// `IFF_LOWER_UP` is set by the driver; the operational state alone may be set by a program that is late.
    mutating func noteCarrier(from old: Link, to new: Link) {
        guard !wireless.isEmpty else { return }
        if new.flags.contains(.lowerUp) {
            if new.canCarry, !old.canCarry { wireless[new.index]?.noteCarrier() }
        } else if old.flags.contains(.lowerUp) {
            wireless[new.index]?.noteLostCarrier()
        }
    }

    // MARK: What the evaluation reads

    /// Whether nl80211 says that an interface cannot carry packets, whatever its link says.
    func isBarred(_ index: InterfaceIndex) -> Bool { !wireless.isEmpty && wireless[index]?.isBarred ?? false }

    /// Whether an interface cannot carry packets because an association is being made, or is made and not yet complete.
    ///
    /// That shows in nl80211's events, as long as the link has not followed; in the operational state, which is dormant
    /// until WPA's keys are agreed on; and in the first half second of an interface that was set up, when it claims to
    /// run without a carrier.
    func isAssociating(_ link: Link) -> Bool {
        guard link.flags.contains(.up), isStation(link) else { return false }
        switch wireless[link.index]?.association {
        case .associating: return true
        case .associated where !link.flags.contains(.lowerUp): return true
        case .disassociated: return false
        case .associated, .unknown, nil: return link.looksAssociating
        }
    }

    /// Whether an interface looks like a station that associates, and its device is being examined.
    func mayBeAssociating(_ link: Link) -> Bool {
        awaited.contains(link.index) && wireless[link.index] == nil && link.kind == nil && link.flags.contains(.up)
            && link.looksAssociating
    }

    private func isStation(_ link: Link) -> Bool {
        if let state = wireless[link.index] { return state.isStation }
        return link.kind == nil && findings[link.index]?.deviceType == Self.wirelessType
    }

    /// `DEVTYPE` of what cfg80211 registers.
    private static let wirelessType = "wlan"
}
