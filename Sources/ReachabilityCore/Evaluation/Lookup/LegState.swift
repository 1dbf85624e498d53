/// Whether the kernel still chooses a leg, as far as links and settings tell.
///
/// What a leg's own flags say of its device is as old as the last message about its route; so it is read from the
/// link, whose changes are announced. `RTNH_F_DEAD` stays for what the link does not show: a device that has lost its
/// last IPv4 address.
extension LookupModel {
    /// Whether a leg of a route is not usable: dead, or without carrier where such routes are ignored.
    ///
    /// - Parameters:
    ///   - leg: The leg.
    ///   - family: The route's family.
    ///   - needsCarrier: False for IPv6 routes of type local and anycast, which are never marked to lack it.
    /// - Returns: Whether the kernel passes it over.
    func isOut(_ leg: RouteLeg, _ family: AddressFamily, needsCarrier: Bool = true) -> Bool {
        if !excluded.isEmpty, excluded.contains(leg.interface) { return true }
        guard let position = snapshot.linkPosition(leg.interface) else { return true }
        guard snapshot.links[position].flags.contains(.up), !leg.flags.contains(.dead) else { return true }
        guard needsCarrier, snapshot.links[position].lacksCarrier(family), !leg.flags.contains(.carried) else {
            return false
        }
        return snapshot.ignoresRoutesWithLinkDown(family, leg.interface)
    }
}
