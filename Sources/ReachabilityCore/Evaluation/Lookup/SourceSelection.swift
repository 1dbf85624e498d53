/// The selection of an IPv4 source address (`inet_select_addr`).
extension LookupModel {
    /// Returns the source for an interface; if it has none that fits, that of another interface.
    ///
    /// - Parameters:
    ///   - index: The interface that packets leave through.
    ///   - gateway: The next hop's left-aligned bits; 0 if there is none.
    ///   - scope: The route's scope: no address of a narrower one is used.
    /// - Returns: The address, or nil if there is none that may be used.
    func ipv4Source(through index: InterfaceIndex, gateway: UInt128, scope: RouteScope) -> IPAddress? {
        own(of: index, gateway, scope) ?? borrowed(for: index, scope)
    }

    /// Whether an IPv4 address is this host's, as a source must be (`__ip_dev_find`).
    ///
    /// The subnets of a loopback interface are local as a whole while it is up.
    func isOwn(_ source: IPAddress) -> Bool {
        for (index, entries) in snapshot.addresses {
            let isLoopback = snapshot.link(index)?.flags.isSuperset(of: [.loopback, .up]) ?? false
            for entry in entries where entry.address.family == .ipv4 {
                if entry.address == source || (isLoopback && entry.subnet.contains(source)) { return true }
            }
        }
        return false
    }

    /// The primary address whose subnet the gateway lies in, else the first.
    private func own(of index: InterfaceIndex, _ gateway: UInt128, _ scope: RouteScope) -> IPAddress? {
        guard let addresses = snapshot.addresses[index] else { return nil }
        var first: IPAddress?
        for entry in addresses where entry.isPrimaryIPv4 {
            guard min(entry.scope, .host) <= scope else { continue }
            if gateway == 0 || entry.subnet.contains(.init(family: .ipv4, bits: gateway)) { return entry.address }
            if first == nil { first = entry.address }
        }
        return first
    }

    /// The first address of the domain's interfaces whose scope is wide enough; a VRF's own come first.
    private func borrowed(for index: InterfaceIndex, _ scope: RouteScope) -> IPAddress? {
        let domain = layer3Domain(of: index)
        if let domain, let address = lendable(of: domain, scope) { return address }
        for position in snapshot.links.indices where layer3Domain(ofLinkAt: position) == domain {
            if let address = lendable(of: snapshot.links[position].index, scope) { return address }
        }
        return nil
    }

    private func lendable(of index: InterfaceIndex, _ scope: RouteScope) -> IPAddress? {
        snapshot.addresses[index]?.first { $0.isPrimaryIPv4 && $0.scope != .link && $0.scope <= scope }?.address
    }
}

extension AddressMessage {
    fileprivate var isPrimaryIPv4: Bool { address.family == .ipv4 && !flags.contains(.secondary) }

    /// `inet_ifa_match`: of a point-to-point interface, the subnet of the other end.
    fileprivate var subnet: IPPrefix { .init(peer ?? address, length: prefixLength) }
}

/// The selection of an IPv6 source address (RFC 6724, section 5; `ipv6_dev_get_saddr`).
extension LookupModel {
    /// The best source for a destination.
    ///
    /// - Parameters:
    ///   - destination: An IPv6 address of global scope.
    ///   - index: The interface that packets leave through; nil if no route says.
    /// - Returns: The address, or nil if there is none that may be used.
    func ipv6Source(to destination: IPAddress, through index: InterfaceIndex?) -> IPAddress? {
        ipv6SourceChoice(to: destination, through: index).best
    }

    /// Returns the best source for a destination, and how it was chosen.
    func ipv6SourceChoice(to destination: IPAddress, through index: InterfaceIndex?) -> SourceChoice {
        var choice = SourceChoice(destination, through: index)
        guard let index, let position = snapshot.linkPosition(index) else {
            considerDomain(nil, &choice)
            return choice
        }
        if snapshot.links[position].usesOwnAddressesOnly {
            consider(position, &choice)
            return choice
        }
        let domain = layer3Domain(ofLinkAt: position)
        if let domain {
            consider(position, &choice)
            if let master = snapshot.linkPosition(domain) { consider(master, &choice) }
        }
        considerDomain(domain, &choice)
        return choice
    }

    /// Compares the addresses of all interfaces of a domain.
    private func considerDomain(_ domain: InterfaceIndex?, _ choice: inout SourceChoice) {
        for position in snapshot.links.indices where layer3Domain(ofLinkAt: position) == domain {
            consider(position, &choice)
        }
    }

    private func consider(_ position: Int, _ choice: inout SourceChoice) {
        guard let addresses = snapshot.addresses[snapshot.links[position].index] else { return }
        for index in addresses.indices where addresses[index].address.family == .ipv6 {
            choice.consider(
                addresses[index],
                prefersTemporary: snapshot.links[position].prefersTemporaryAddresses,
                usesOptimistic: snapshot.links[position].usesOptimisticAddresses
            )
        }
    }
}

/// The comparison of source addresses, rule by rule.
struct SourceChoice {
    /// The best address so far.
    private(set) var best: IPAddress?
    private var bestRank: UInt32 = 0
    /// Whether only the length of the common prefix, or the order, distinguishes the best from another address.
    private(set) var dependsOnDestination = false
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
    ///
    /// - Parameters:
    ///   - candidate: The address.
    ///   - prefersTemporary: `use_tempaddr` of its interface is 2.
    ///   - usesOptimistic: `use_optimistic` of its interface is set.
    mutating func consider(_ candidate: AddressMessage, prefersTemporary: Bool, usesOptimistic: Bool) {
        if candidate.flags.contains(.tentative), !candidate.flags.contains(.optimistic) { return }
        if candidate.address.isUnspecified || candidate.address.bits >> 120 == 0xFF { return }
        let rank = rank(of: candidate, prefersTemporary, usesOptimistic)
        let (level, bestLevel) = (rank >> Self.prefixBits, bestRank >> Self.prefixBits)
        if level >= bestLevel { dependsOnDestination = level == bestLevel }
        guard rank > bestRank else { return }
        bestRank = rank
        best = candidate.address
    }

    /// How many of a rank's lowest bits come from the common prefix and what follows it.
    private static let prefixBits: UInt32 = 9

    /// The results of the rules from the most to the least significant bit; above all one bit, so that any rank beats none.
    private func rank(of candidate: AddressMessage, _ prefersTemporary: Bool, _ usesOptimistic: Bool) -> UInt32 {
        var rank: UInt32 = 1
        rank = rank << 1 | (candidate.address == destination ? 1 : 0)
        rank = rank << 8 | UInt32(scopeRank(candidate.address.ipv6Scope))
        rank = rank << 1 | (isPreferred(candidate, usesOptimistic) ? 1 : 0)
        rank = rank << 1 | (interface == nil || interface == candidate.index ? 1 : 0)
        rank = rank << 1 | (candidate.address.policyLabel == label ? 1 : 0)
        rank = rank << 1 | (candidate.flags.contains(.temporary) == prefersTemporary ? 1 : 0)
        rank = rank << 1 | (candidate.address.isORCHID == destination.isORCHID ? 1 : 0)
        rank = rank << 8 | UInt32(commonPrefix(candidate))
        return rank << 1 | (candidate.flags.contains(.optimistic) ? 0 : 1)
    }

    /// Rule 2: a scope that is wide enough beats one that is not; of those, the narrower; of these, the wider.
    private func scopeRank(_ candidate: UInt8) -> UInt8 {
        candidate >= scope ? 255 - candidate : candidate
    }

    /// Rule 3: neither deprecated nor, unless `use_optimistic` says so, optimistic.
    private func isPreferred(_ candidate: AddressMessage, _ usesOptimistic: Bool) -> Bool {
        if candidate.address.isAlwaysPreferred { return true }
        if candidate.flags.contains(.deprecated) { return false }
        return !candidate.flags.contains(.optimistic) || usesOptimistic
    }

    /// Rule 8: how many leading bits agree, no more than the prefix has.
    private func commonPrefix(_ candidate: AddressMessage) -> UInt8 {
        min(UInt8((candidate.address.bits ^ destination.bits).leadingZeroBitCount), candidate.prefixLength)
    }
}
