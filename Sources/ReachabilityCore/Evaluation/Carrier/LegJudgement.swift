/// Whether one way out can be used, and if not why.
enum Usability {
    /// What speaks against an interface, or nil if it can carry.
    static func fault(ofLinkAt position: Int, _ model: LookupModel) -> Reason? {
        let flags = model.snapshot.links[position].flags
        if flags.contains(.loopback) { return .loopbackPath }
        if model.snapshot.canCarry(linkAt: position) { return nil }
        guard flags.contains(.up) else { return .interfaceDown }
        let index = model.snapshot.links[position].index
        if model.snapshot.isAssociating(index) { return .associating }
        if model.snapshot.mayBeAssociating(index) { return .deviceProbing }
        // A supplicant that has lost its network may say dormant before the kernel says down, or after.
        guard flags.contains(.lowerUp), !model.snapshot.isBarred(index) else { return .noCarrier }
        return model.snapshot.links[position].operationalState == .dormant || flags.contains(.dormant)
            ? .dormant : .noCarrier
    }

    /// What speaks against the source that the kernel selected, or nil if it can be used.
    static func fault(ofSourceOf nextHop: SelectedNextHop, _ model: LookupModel) -> Reason? {
        guard let source = nextHop.source, !source.isUnspecified else { return waiting(nextHop, model) ?? .noSource }
        if nextHop.hasMappedSource { return .noSource }
        if source.isLoopback { return waiting(nextHop, model) ?? .loopbackSource }
        if source.isLinkLocal { return waiting(nextHop, model) ?? .linkLocalSource }
        return source.family == .ipv6 && isTentative(source, nextHop.interface, model) ? .tentativeSource : nil
    }

    /// An address that would do is still being checked for duplicates: that is why another was taken.
    private static func waiting(_ nextHop: SelectedNextHop, _ model: LookupModel) -> Reason? {
        let isWaiting = model.snapshot.addresses[nextHop.interface]?.contains {
            $0.isWaiting && !$0.address.isLinkLocal
        }
        return isWaiting == true ? .tentativeSource : nil
    }

    /// Whether a source is tentative, wherever it is found; most are on the interface itself.
    private static func isTentative(
        _ source: IPAddress,
        _ index: InterfaceIndex,
        _ model: LookupModel
    ) -> Bool {
        if let own = model.snapshot.addresses[index], let isWaiting = isWaiting(source, in: own) { return isWaiting }
        let others = model.snapshot.addresses.values.lazy.compactMap { isWaiting(source, in: $0) }
        return !others.isEmpty && !others.contains(false)
    }

    /// Whether an address is tentative; nil if it is not among an interface's.
    private static func isWaiting(_ address: IPAddress, in addresses: [AddressMessage]) -> Bool? {
        for index in addresses.indices where addresses[index].address == address { return addresses[index].isWaiting }
        return nil
    }
}

extension AddressMessage {
    /// Whether duplicate address detection still forbids to use it (RFC 4862, 5.4; RFC 4429).
    fileprivate var isWaiting: Bool { flags.contains(.tentative) && !flags.contains(.optimistic) }
}
