extension NetworkSnapshot {
    /// `RTM_NEWADDR`: a new address, or what changed of a known one.
    mutating func insert(_ message: AddressMessage, _ flags: NetlinkFlags, _ effect: inout SnapshotEffect) {
        let known = addresses[message.index]?.firstIndex { $0.isSame(message) }
        if let known {
            guard let old = addresses[message.index]?[known], old != message else { return }
            addresses[message.index]?[known] = message
            message.noteDifference(from: old, &effect)
        } else {
            addresses[message.index, default: []].insert(message, asAnswer: flags.contains(.multi))
            effect.add(.addressAdded)
            // `fib_inetaddr_event`: an address makes IPv4 usable again on a device that had lost its last.
            if message.address.family == .ipv4, isUp(message.index) { reviveNextHops(.ipv4, through: message.index) }
        }
    }

    /// `RTM_DELADDR`, and what the kernel does to routes when an address is gone.
    ///
    /// That is done for an address that is not known, too: it may be missing because the addresses were read after it
    /// was removed, and the routes before.
    mutating func remove(_ message: AddressMessage, _ effect: inout SnapshotEffect) {
        let index = message.index
        if let known = addresses[index]?.firstIndex(where: { $0.isSame(message) }) {
            effect.add(.addressRemoved)
            if addresses[index]?.removeAndPromote(known) == true { effect.add(.addressChanged) }
            if addresses[index]?.isEmpty == true { addresses[index] = nil }
        }
        followRemoval(of: message.address, from: index, &effect)
    }

    /// Does to routes what the kernel does when an address is gone.
    mutating func followRemoval(of address: IPAddress, from index: InterfaceIndex, _ effect: inout SnapshotEffect) {
        if address.family == .ipv6 { return removeIPv6(address, from: index, &effect) }
        if !isLocalIPv4(address) { removeRoutes(preferring: address, goneFrom: index, &effect) }
        if !hasIPv4Address(index) {
            removeRoutes(leaving: index, .withoutIPv4, &effect)
        }
    }

    /// Marks what `keep_addr_on_down` keeps when a device is set down: such addresses are silently tentative again.
    ///
    /// The others are announced as removed.
    mutating func markKeptAddresses(of index: InterfaceIndex) {
        guard let count = addresses[index]?.count else { return }
        for position in 0..<count {
            guard let address = addresses[index]?[position], address.isKeptWhenDown,
                address.flags.isDisjoint(with: [.tentative, .noDuplicateDetection])
            else { continue }
            addresses[index]?[position].flags.insert(.tentative)
        }
    }

    /// `rt6_remove_prefsrc` is called for an address that is deleted, not for one that goes because its link is down.
    ///
    /// The messages don't tell these apart, nor from the loss of all IPv6 (`disable_ipv6`, a small MTU).
    private mutating func removeIPv6(
        _ address: IPAddress,
        from index: InterfaceIndex,
        _ effect: inout SnapshotEffect
    ) {
        // Routes are few, and hardly any names a source; addresses may be thousands.
        let isPreferred = routes.values.contains { $0.contains { $0.message.preferredSource == address } }
        guard isPreferred, !isUsableElsewhere(address, than: index) else { return }
        for (key, table) in routes where table.contains(where: { $0.message.preferredSource == address }) {
            effect.doubt(.routes(.ipv6, table: key.table))
        }
        if isUp(index) { removePreference(for: address, &effect) }
    }

    /// Whether an interface has any IPv4 address; without one, the kernel ends IPv4 on it.
    func hasIPv4Address(_ index: InterfaceIndex) -> Bool {
        addresses[index]?.contains { $0.address.family == .ipv4 } ?? false
    }

    private func isUp(_ index: InterfaceIndex) -> Bool { link(index)?.flags.contains(.up) ?? true }

    /// Whether the local table still has an IPv4 address; a loopback device's prefixes are local as a whole.
    private func isLocalIPv4(_ address: IPAddress) -> Bool {
        addresses.contains { index, list in
            list.contains { entry in
                if entry.address == address { return true }
                guard entry.address.family == .ipv4, link(index)?.flags.contains(.loopback) == true
                else { return false }
                return IPPrefix(entry.peer ?? entry.address, length: entry.prefixLength).contains(address)
            }
        }
    }

    private func isUsableElsewhere(_ address: IPAddress, than index: InterfaceIndex) -> Bool {
        addresses.contains { other, list in
            other != index
                && list.contains { $0.address == address && !$0.flags.contains(.tentative) }
        }
    }
}
