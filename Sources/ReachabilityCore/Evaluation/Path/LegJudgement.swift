/// Whether one way out can be used, and if not why.
struct LegJudgement {
    /// What speaks against it; nil if nothing does.
    let fault: Reason?

    /// Judges an interface and a source.
    ///
    /// - Parameters:
    ///   - leg: The way out that the kernel selects.
    ///   - link: Its interface, or for a VRF the one that the VRF's table leads to; nil if the model has none.
    ///   - snapshot: The addresses.
    init(_ leg: SelectedLeg, through link: Link?, _ snapshot: NetworkSnapshot) {
        fault = Self.fault(of: link) ?? Self.fault(of: leg, snapshot)
    }

    private static func fault(of link: Link?) -> Reason? {
        guard let link else { return .interfaceDown }
        if link.flags.contains(.loopback) { return .loopbackPath }
        if link.canCarry { return nil }
        guard link.flags.contains(.up) else { return .interfaceDown }
        return link.operationalState == .dormant || link.flags.contains(.dormant) ? .dormant : .noCarrier
    }

    private static func fault(of leg: SelectedLeg, _ snapshot: NetworkSnapshot) -> Reason? {
        guard let source = leg.source, !source.isUnspecified else { return waiting(leg, snapshot) ?? .noSource }
        if source.isLoopback { return waiting(leg, snapshot) ?? .loopbackSource }
        if source.isLinkLocal { return waiting(leg, snapshot) ?? .linkLocalSource }
        return source.family == .ipv6 && isTentative(source, snapshot) ? .tentativeSource : nil
    }

    /// An address that would do is still being checked for duplicates: that is why another was taken.
    private static func waiting(_ leg: SelectedLeg, _ snapshot: NetworkSnapshot) -> Reason? {
        let isWaiting = snapshot.addresses[leg.interface]?.contains { $0.isWaiting && !$0.address.isLinkLocal }
        return isWaiting == true ? .tentativeSource : nil
    }

    private static func isTentative(_ source: IPAddress, _ snapshot: NetworkSnapshot) -> Bool {
        var isUsable = false
        for entries in snapshot.addresses.values {
            for entry in entries where entry.address == source {
                if !entry.isWaiting { return false }
                isUsable = true
            }
        }
        return isUsable
    }
}

extension AddressMessage {
    /// Whether duplicate address detection still forbids to use it (RFC 4862, 5.4; RFC 4429).
    fileprivate var isWaiting: Bool { flags.contains(.tentative) && !flags.contains(.optimistic) }
}
