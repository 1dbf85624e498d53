/// Whether the kernel still chooses a leg, as far as links and settings tell.
///
/// The flags of a leg are as old as the last message about its route; a change of them is not announced. So they are
/// read from the link, which always is.
extension LookupModel {
    /// Whether a leg of an IPv4 route is not usable (`RTNH_F_DEAD`, or no carrier where such routes are ignored).
    func isOut(ipv4 leg: RouteLeg, isNexthopObject: Bool = false) -> Bool {
        if isExcluded(leg.interface) { return true }
        guard let position = snapshot.linkPosition(leg.interface) else { return true }
        let flags = snapshot.links[position].flags
        guard flags.contains(.up) else { return true }
        if flags.isDisjoint(with: [.running, .lowerUp]) { return ignoresLinkDown(ipv4: leg.interface) }
        return !isNexthopObject && leg.flags.contains(.dead) && !hasIPv4Address(leg.interface)
    }

    /// Whether a leg of an IPv6 route is not usable.
    func isOut(ipv6 leg: RouteLeg) -> Bool {
        if isExcluded(leg.interface) { return true }
        guard let position = snapshot.linkPosition(leg.interface) else { return true }
        guard snapshot.links[position].flags.contains(.up) else { return true }
        switch snapshot.links[position].operationalState {
        case .up, .unknown: return false
        default: return ignoresLinkDown(ipv6: leg.interface)
        }
    }

    /// `ip_ignore_linkdown`: set on the device or on all.
    func ignoresLinkDown(ipv4 index: InterfaceIndex) -> Bool {
        ignores(.init(.ipv4, index)) || ignores(.init(.ipv4, NetconfMessage.allInterfaces))
    }

    /// `ip6_ignore_linkdown`: set on the device; setting it on all sets it on each.
    func ignoresLinkDown(ipv6 index: InterfaceIndex) -> Bool { ignores(.init(.ipv6, index)) }

    private func ignores(_ key: SettingsKey) -> Bool {
        snapshot.settings[key]?.ignoresRoutesWithLinkDown ?? false
    }

    private func isExcluded(_ index: InterfaceIndex) -> Bool { !excluded.isEmpty && excluded.contains(index) }

    /// Removing the last address kills the legs of multipath routes, adding one revives them.
    private func hasIPv4Address(_ index: InterfaceIndex) -> Bool {
        snapshot.addresses[index]?.contains { $0.address.family == .ipv4 } ?? false
    }
}
