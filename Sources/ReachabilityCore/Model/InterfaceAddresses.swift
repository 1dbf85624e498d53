/// The addresses of one interface: IPv4's in the order of `in_dev->ifa_list`, then IPv6's in that of `idev->addr_list`.
extension [AddressMessage] {
    /// Inserts a new address where the kernel puts it; replies to a dump arrive in order.
    mutating func insert(_ message: AddressMessage, asReply isReply: Bool) {
        let ipv6Start = firstIndex { $0.address.family == .ipv6 } ?? count
        if message.address.family == .ipv6 {
            insert(message, at: isReply ? count : ipv6Position(for: message, from: ipv6Start))
        } else {
            insert(message, at: isReply ? ipv6Start : ipv4Position(for: message, before: ipv6Start))
        }
    }

    /// Removes an address, and returns whether another one of its subnet was promoted in its place.
    ///
    /// The kernel removes a primary IPv4 address's secondaries before it, unless `promote_secondaries` is set: if any
    /// is left, it is set, and the first becomes a primary (`__inet_del_ifa`).
    mutating func removeAndPromote(_ position: Int) -> Bool {
        let removed = self[position]
        guard removed.address.family == .ipv4, !removed.flags.contains(.secondary) else {
            remove(at: position)
            return false
        }
        let successor = self[position...].firstIndex { $0.isSecondary(of: removed) }
        guard let successor else {
            remove(at: position)
            return false
        }
        promote(successor, inPlaceOf: position)
        return true
    }

    /// Moves a promoted address behind the last primary after the removed one whose scope is no wider.
    ///
    /// If there is none, it takes the removed one's place. It stays where it is if it directly follows that.
    private mutating func promote(_ successor: Int, inPlaceOf position: Int) {
        let removed = self[position]
        var promoted = self[successor]
        promoted.flags.remove(.secondary)
        let primary = self[position + 1..<successor].lastIndex {
            !$0.flags.contains(.secondary) && removed.scope <= $0.scope
        }
        remove(at: successor)
        insert(promoted, at: (primary ?? position) + 1)
        remove(at: position)
    }

    /// `inet_insert_ifa`: primaries behind the last whose scope is no wider, secondaries last.
    private func ipv4Position(for message: AddressMessage, before end: Int) -> Int {
        guard !message.flags.contains(.secondary) else { return end }
        let last = self[..<end].lastIndex { !$0.flags.contains(.secondary) && message.scope <= $0.scope }
        return last.map { $0 + 1 } ?? 0
    }

    /// `ipv6_link_dev_addr`: before the first whose scope is no wider.
    private func ipv6Position(for message: AddressMessage, from start: Int) -> Int {
        let scope = message.address.ipv6Scope
        return self[start...].firstIndex { scope >= $0.address.ipv6Scope } ?? count
    }
}

extension AddressMessage {
    /// Whether this is about the same address of the interface as another message.
    ///
    /// IPv4 distinguishes addresses by prefix and network too (`find_matching_ifa`), IPv6 by the address alone.
    func isSame(_ other: Self) -> Bool {
        guard address == other.address else { return false }
        if address.family == .ipv6 { return true }
        return prefixLength == other.prefixLength && isSameSubnet(other)
    }

    /// `inet_ifa_match` with equal masks: whether two IPv4 addresses lie in one subnet.
    func isSameSubnet(_ other: Self) -> Bool {
        prefixLength == other.prefixLength
            && IPPrefix(peer ?? address, length: prefixLength)
                .contains(other.peer ?? other.address)
    }

    /// Whether this is equal to another message for the evaluation: lifetimes do not count.
    ///
    /// Router advertisements and DHCP renewals send addresses again that did not change.
    func means(_ other: Self) -> Bool {
        prefixLength == other.prefixLength && scope == other.scope && peer == other.peer
            && flags.intersection(.evaluated) == other.flags.intersection(.evaluated)
    }

    /// Adds the reasons of the difference from an earlier state of the same address.
    func noteDifference(from old: Self, _ effect: inout SnapshotEffect) {
        guard !means(old) else { return }
        effect.add(isUsable && !old.isUsable ? .addressAdded : .addressChanged)
    }

    /// Whether packets may be sent from the address (RFC 4862, 5.4; RFC 4429).
    package var isUsable: Bool {
        if flags.contains(.duplicate) { return false }
        return !flags.contains(.tentative) || flags.contains(.optimistic)
    }

    fileprivate func isSecondary(of primary: Self) -> Bool {
        address.family == .ipv4 && flags.contains(.secondary) && isSameSubnet(primary)
    }

    /// Whether `keep_addr_on_down` keeps it: permanent, and neither link-local nor loopback.
    var isKeptWhenDown: Bool {
        address.family == .ipv6 && flags.contains(.permanent) && !address.isLinkLocal && !address.isLoopback
    }
}

extension AddressFlags {
    /// The flags that decide whether, and with which preference, an address is selected.
    static let evaluated: Self = [.secondary, .optimistic, .duplicate, .deprecated, .tentative]
}
