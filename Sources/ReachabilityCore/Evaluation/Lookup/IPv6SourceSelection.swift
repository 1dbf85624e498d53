/// The selection of an IPv6 source address (RFC 6724, section 5; `ipv6_dev_get_saddr`).
extension LookupModel {
    /// The best source for a destination.
    ///
    /// - Parameters:
    ///   - destination: An IPv6 address of global scope.
    ///   - index: The interface that packets leave through; nil if no route says.
    /// - Returns: The address, or nil if there is none that may be used.
    func ipv6Source(to destination: IPAddress, through index: InterfaceIndex?) -> IPAddress? {
        var choice = SourceChoice(destination, through: index)
        guard let index, let position = snapshot.linkPosition(index) else {
            considerDomain(nil, &choice)
            return choice.best
        }
        if snapshot.links[position].usesOwnAddressesOnly {
            consider(position, &choice)
            return choice.best
        }
        let domain = layer3Domain(ofLinkAt: position)
        if let domain {
            consider(position, &choice)
            if let master = snapshot.linkPosition(domain) { consider(master, &choice) }
        }
        considerDomain(domain, &choice)
        return choice.best
    }

    /// All interfaces of one domain lend their addresses.
    private func considerDomain(_ domain: InterfaceIndex?, _ choice: inout SourceChoice) {
        for position in snapshot.links.indices where layer3Domain(ofLinkAt: position) == domain {
            consider(position, &choice)
        }
    }

    private func consider(_ position: Int, _ choice: inout SourceChoice) {
        guard let addresses = snapshot.addresses[snapshot.links[position].index] else { return }
        for index in addresses.indices where addresses[index].address.family == .ipv6 {
            choice.consider(addresses[index], snapshot.links[position])
        }
    }
}

/// The comparison of source addresses, rule by rule.
struct SourceChoice {
    /// The best address so far.
    private(set) var best: IPAddress?
    private var bestRank: UInt32 = 0
    private let destination: IPAddress
    private let interface: InterfaceIndex?
    private let label: UInt8
    private let scope: UInt8

    init(_ destination: IPAddress, through interface: InterfaceIndex?) {
        self.destination = destination
        self.interface = interface
        self.label = destination.policyLabel
        self.scope = destination.ipv6Scope
    }

    /// Compares an address with the best so far; of equal ones the first stays.
    mutating func consider(_ candidate: AddressMessage, _ link: Link) {
        if candidate.flags.contains(.tentative), !candidate.flags.contains(.optimistic) { return }
        if candidate.address.isUnspecified || candidate.address.bits >> 120 == 0xFF { return }
        let rank = rank(of: candidate, link)
        guard rank > bestRank else { return }
        bestRank = rank
        best = candidate.address
    }

    /// The rules' verdicts from the most to the least significant bit; above all one bit, so that any rank beats none.
    private func rank(of candidate: AddressMessage, _ link: Link) -> UInt32 {
        var rank: UInt32 = 1
        rank = rank << 1 | (candidate.address == destination ? 1 : 0)
        rank = rank << 8 | UInt32(scopeRank(candidate.address.ipv6Scope))
        rank = rank << 1 | (isPreferred(candidate, link) ? 1 : 0)
        rank = rank << 1 | (interface == nil || interface == candidate.index ? 1 : 0)
        rank = rank << 1 | (candidate.address.policyLabel == label ? 1 : 0)
        rank = rank << 1 | (candidate.flags.contains(.temporary) == link.prefersTemporaryAddresses ? 1 : 0)
        rank = rank << 1 | (candidate.address.isORCHID == destination.isORCHID ? 1 : 0)
        rank = rank << 8 | UInt32(commonPrefix(candidate))
        return rank << 1 | (candidate.flags.contains(.optimistic) ? 0 : 1)
    }

    /// Rule 2: a scope that is wide enough beats one that is not; of those, the narrower; of these, the wider.
    private func scopeRank(_ candidate: UInt8) -> UInt8 {
        candidate >= scope ? 255 - candidate : candidate
    }

    /// Rule 3: neither deprecated nor, unless `use_optimistic` says so, optimistic.
    private func isPreferred(_ candidate: AddressMessage, _ link: Link) -> Bool {
        if candidate.address.isAlwaysPreferred { return true }
        if candidate.flags.contains(.deprecated) { return false }
        return !candidate.flags.contains(.optimistic) || link.usesOptimisticAddresses
    }

    /// Rule 8: how many leading bits agree, no more than the prefix has.
    private func commonPrefix(_ candidate: AddressMessage) -> UInt8 {
        min(UInt8((candidate.address.bits ^ destination.bits).leadingZeroBitCount), candidate.prefixLength)
    }
}
