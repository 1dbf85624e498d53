/// One interface's addresses: IPv4's in the order of `in_dev->ifa_list`, then IPv6's in that of `idev->addr_list`.
extension [AddressMessage] {
    /// Puts a new address where the kernel puts it; an answer to a dump comes in order.
    mutating func insert(_ message: AddressMessage, asAnswer isAnswer: Bool) {
        let ipv6Start = firstIndex { $0.address.family == .ipv6 } ?? count
        if message.address.family == .ipv6 {
            insert(message, at: isAnswer ? count : ipv6Position(for: message, from: ipv6Start))
        } else {
            insert(message, at: isAnswer ? ipv6Start : ipv4Position(for: message, before: ipv6Start))
        }
    }

    /// Removes an address; true if another one of its subnet was promoted in its place.
    ///
    /// The kernel removes a primary IPv4 address's secondaries before it, unless `promote_secondaries` is set: if any
    /// is left, it is set, and the first becomes a primary (`__inet_del_ifa`).
    mutating func removeAndPromote(_ position: Int) -> Bool {
        let removed = self[position]
        guard removed.address.family == .ipv4, !removed.flags.contains(.secondary) else {
            remove(at: position)
            return false
        }
        let heir = self[position...].firstIndex { $0.isSecondary(of: removed) }
        guard let heir else {
            remove(at: position)
            return false
        }
        promote(heir, inPlaceOf: position)
        return true
    }

    /// Moves a promoted address behind the last primary after the removed one whose scope is no wider.
    ///
    /// If there is none, it takes the removed one's place. It stays where it is if it directly follows that.
    private mutating func promote(_ heir: Int, inPlaceOf position: Int) {
        let removed = self[position]
        var promoted = self[heir]
        promoted.flags.remove(.secondary)
        let primary = self[position + 1..<heir].lastIndex {
            !$0.flags.contains(.secondary) && removed.scope <= $0.scope
        }
        remove(at: heir)
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
    fileprivate func isSecondary(of primary: Self) -> Bool {
        address.family == .ipv4 && flags.contains(.secondary) && isSameSubnet(primary)
    }
}
