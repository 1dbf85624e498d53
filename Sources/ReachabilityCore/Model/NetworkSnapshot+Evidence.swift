/// What decides between routes: neighbours and settings.
extension NetworkSnapshot {
    /// `RTM_NEWNEIGH`.
    mutating func insert(_ message: NeighbourMessage, _ effect: inout SnapshotEffect) {
        let key = NeighbourKey(index: message.index, address: message.address)
        if neighbours.updateValue(message.state, forKey: key) != message.state { effect.add(.neighbourChanged) }
    }

    /// `RTM_DELNEIGH`.
    mutating func remove(_ message: NeighbourMessage, _ effect: inout SnapshotEffect) {
        let key = NeighbourKey(index: message.index, address: message.address)
        if neighbours.removeValue(forKey: key) != nil { effect.add(.neighbourChanged) }
    }

    /// `RTM_NEWNETCONF`: a message about one setting leaves the others as they were.
    mutating func insert(_ message: NetconfMessage, _ effect: inout SnapshotEffect) {
        let key = SettingsKey(message.family, message.index)
        let old = settings[key] ?? .init()
        var new = old
        if let forwarding = message.forwarding { new.forwarding = forwarding }
        if let ignores = message.ignoresRoutesWithLinkDown { new.ignoresRoutesWithLinkDown = ignores }
        settings[key] = new
        guard old != new else { return }
        guard message.index == NetconfMessage.defaultInterface else { return effect.add(.settingChanged) }
        // `devinet_copy_dflt_conf` gives IPv4's default to all devices on which it was never set, and tells of none.
        if message.family == .ipv4, new.ignoresRoutesWithLinkDown != old.ignoresRoutesWithLinkDown {
            effect.doubt(.netconf(.ipv4))
        }
    }

    /// `RTM_DELNETCONF`.
    mutating func remove(_ message: NetconfMessage, _ effect: inout SnapshotEffect) {
        let old = settings.removeValue(forKey: .init(message.family, message.index)) ?? .init()
        if old != .init(), message.index != NetconfMessage.defaultInterface { effect.add(.settingChanged) }
    }
}
