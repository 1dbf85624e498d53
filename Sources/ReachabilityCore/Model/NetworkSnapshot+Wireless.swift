/// What nl80211 tells, joined with what links' messages tell, in whatever order they come.
extension NetworkSnapshot {
    /// A message of nl80211.
    mutating func apply(_ message: WirelessMessage, _ effect: inout SnapshotEffect) {
        let old = wireless[message.index]
        let wasUsable = usability(of: message.index)
        if message.command == .deleteInterface {
            // While there is the link, it is a WiFi one: its own end is to follow.
            if linkPosition(message.index) == nil { wireless[message.index] = nil }
        } else if message.command.tellsOfInterface {
            let linkCarries = link(message.index)?.canCarry ?? false
            wireless[message.index, default: .init()].take(message, linkCarries: linkCarries)
        }
        let new = wireless[message.index]
        if (new == nil) != (old == nil) { effect.add(.deviceChanged) }
        noteChange(of: message.index, from: wasUsable, &effect)
        let isElsewhere = old?.accessPoint.map { $0 != new?.accessPoint } ?? false
        if message.command == .roam || (message.isAssociation && isElsewhere) { effect.noteRoam(of: message.index) }
    }

    /// What an interface's association means for those whose path leads through it.
    private enum StationState {
        case usable
        case associating
        case without
    }

    private func usability(of index: InterfaceIndex) -> StationState {
        guard let position = linkPosition(index) else { return .without }
        if canCarry(linkAt: position) { return .usable }
        return isAssociating(index) ? .associating : .without
    }

    private func noteChange(of index: InterfaceIndex, from old: StationState, _ effect: inout SnapshotEffect) {
        switch (old, usability(of: index)) {
        case (.usable, .usable), (.associating, .associating), (.without, .without): break
        case (.usable, _): effect.add(.carrierLost)
        case (_, .usable): effect.add(.carrierGained)
        case (.associating, _), (.without, _): effect.add(.linkChanged)
        }
    }

    /// Forgets what was told of associations, as more was told and lost: the links alone count.
    mutating func forgetAssociations(_ effect: inout SnapshotEffect) {
        for index in wireless.keys.sorted() {
            let wasUsable = usability(of: index)
            wireless[index]?.association = .unknown
            noteChange(of: index, from: wasUsable, &effect)
        }
    }

    /// Notes that a link has its carrier back, which it had lost, or has lost it: what was told before is past.
    ///
    /// `IFF_LOWER_UP` is the driver's word; the operational state alone may be set by a program that is late.
    mutating func noteCarrier(from old: Link, to new: Link) {
        guard !wireless.isEmpty else { return }
        if new.flags.contains(.lowerUp) {
            if new.canCarry, !old.canCarry { wireless[new.index]?.noteCarrier() }
        } else if old.flags.contains(.lowerUp) {
            wireless[new.index]?.noteLostCarrier()
        }
    }
}

// MARK: - What the evaluation asks

extension NetworkSnapshot {
    /// Whether an interface can carry packets now, as its link says, and nl80211 does not know better.
    func canCarry(linkAt position: Int) -> Bool {
        links[position].canCarry && (wireless.isEmpty || !isBarred(links[position].index))
    }

    /// Whether an interface can't carry because an association is being made, or is made and not yet complete.
    ///
    /// That shows in nl80211's events, as long as the link has not followed; in the operational state, which is dormant
    /// until WPA's keys are agreed on; and in the first half second of an interface that was set up, when it claims to
    /// run without a carrier.
    func isAssociating(_ index: InterfaceIndex) -> Bool {
        guard let link = link(index), link.flags.contains(.up), isStation(link) else { return false }
        switch wireless[index]?.association {
        case .associating: return true
        case .associated where !link.flags.contains(.lowerUp): return true
        case .disassociated: return false
        case .associated, .unknown, nil: return link.looksAssociating
        }
    }

    /// Whether an interface stands as a station does that associates, and it is being found out what it is.
    func mayBeAssociating(_ index: InterfaceIndex) -> Bool {
        guard awaitedDevices.contains(index), wireless[index] == nil, let link = link(index), link.kind == nil else {
            return false
        }
        return link.flags.contains(.up) && link.looksAssociating
    }

    /// Whether nl80211 says that an interface can't carry, whatever its link says.
    func isBarred(_ index: InterfaceIndex) -> Bool { wireless[index]?.isBarred ?? false }

    private func isStation(_ link: Link) -> Bool {
        if let state = wireless[link.index] { return state.isStation }
        return link.kind == nil && devices[link.index]?.deviceType == UeventMessage.wirelessType
    }
}

extension Link {
    /// Whether a station that stood so would be associating.
    fileprivate var looksAssociating: Bool {
        // A supplicant that has lost its network may say dormant before the kernel says down, or after.
        guard flags.contains(.lowerUp) else { return operationalState == .unknown && flags.contains(.running) }
        return operationalState == .dormant || flags.contains(.dormant)
    }
}

extension UeventMessage {
    /// `DEVTYPE` of what cfg80211 registers.
    fileprivate static let wirelessType = "wlan"
}

extension WirelessMessage {
    /// Whether it says that there is an association.
    fileprivate var isAssociation: Bool { command == .connect && status ?? 0 == 0 && !hasTimedOut }
}

extension WirelessMessage.Command {
    /// Whether it is about the interface itself, not about stations and access points beside it.
    fileprivate var tellsOfInterface: Bool {
        switch self {
        case .newStation, .deleteStation, .scanResult: false
        default: true
        }
    }
}
