extension AddressMessage {
    /// Whether this is about the same address of the interface as another message.
    ///
    /// IPv4 tells addresses apart by prefix and network too (`find_matching_ifa`), IPv6 by the address alone.
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

    /// Whether this is, for the evaluation, what another message said: lifetimes do not count.
    ///
    /// Router advertisements and DHCP renewals send addresses again that did not change.
    func means(_ other: Self) -> Bool {
        prefixLength == other.prefixLength && scope == other.scope && peer == other.peer
            && flags.intersection(.evaluated) == other.flags.intersection(.evaluated)
    }

    /// Notes what tells this from an earlier state of the same address.
    func noteDifference(from old: Self, _ effect: inout SnapshotEffect) {
        guard !means(old) else { return }
        effect.add(isUsable && !old.isUsable ? .addressAdded : .addressChanged)
    }

    /// Whether a packet may be sent from the address: it exists, and no one else has it.
    var isUsable: Bool {
        if flags.contains(.duplicate) { return false }
        return !flags.contains(.tentative) || flags.contains(.optimistic)
    }

    /// Whether `keep_addr_on_down` keeps it: permanent, and neither link-local nor loopback.
    var isKeptWhenDown: Bool {
        address.family == .ipv6 && flags.contains(.permanent) && !address.isLinkLocal && !address.isLoopback
    }
}

extension AddressFlags {
    /// The flags that decide whether, and how gladly, an address is selected.
    static let evaluated: Self = [.secondary, .optimistic, .duplicate, .deprecated, .tentative]
}
