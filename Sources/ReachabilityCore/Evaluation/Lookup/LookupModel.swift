/// Everything that a lookup reads: the model, and the moment of the lookup.
///
/// A class, because it is passed around a lot: one reference is counted where a snapshot would have many.
final class LookupModel: Sendable {
    /// The model of the machine.
    let snapshot: NetworkSnapshot
    /// The moment at which the expiry of routes is checked.
    let now: Instant
    /// The interfaces that the lookup must not lead through: the tunnels whose carrier is being searched.
    let excluded: [InterfaceIndex]

    init(_ snapshot: NetworkSnapshot, at now: Instant, excluding excluded: [InterfaceIndex] = []) {
        self.snapshot = snapshot
        self.now = now
        self.excluded = excluded
    }

    /// `LOOPBACK_IFINDEX`: what every namespace's loopback interface has.
    static let loopbackIndex: InterfaceIndex = 1

    /// The name of the loopback interface, which `iif` rules compare with.
    var loopbackName: String {
        guard let first = snapshot.links.first, first.index == Self.loopbackIndex else { return "lo" }
        return first.name
    }

    /// Returns the VRF to whose domain an interface belongs (`l3mdev_master_ifindex`); nil for the ordinary domain.
    func layer3Domain(of index: InterfaceIndex) -> InterfaceIndex? {
        guard let position = snapshot.linkPosition(index) else { return nil }
        return layer3Domain(ofLinkAt: position)
    }

    /// Returns the same for an interface whose position in ``NetworkSnapshot/links`` is known.
    func layer3Domain(ofLinkAt position: Int) -> InterfaceIndex? {
        if snapshot.links[position].isVRF { return snapshot.links[position].index }
        guard let master = snapshot.links[position].masterIndex else { return nil }
        guard let above = snapshot.linkPosition(master), snapshot.links[above].isVRF else { return nil }
        return master
    }

    // MARK: Next hops

    /// Whether the kernel skips a next hop of a route: it is dead, or without carrier where such routes are ignored.
    ///
    /// The flags of the next hop describe its device as of the last message about its route. So the link is read, whose
    /// changes are announced. `RTNH_F_DEAD` stays for what the link does not show: a device that has lost its last IPv4
    /// address.
    ///
    /// - Parameters:
    ///   - nextHop: The next hop.
    ///   - family: The route's family.
    ///   - needsCarrier: False for IPv6 routes of type local and anycast, which are never marked to lack it.
    /// - Returns: Whether the kernel skips it.
    func isOut(_ nextHop: NextHop, _ family: AddressFamily, needsCarrier: Bool = true) -> Bool {
        if !excluded.isEmpty, excluded.contains(nextHop.interface) { return true }
        guard let position = snapshot.linkPosition(nextHop.interface) else { return true }
        guard snapshot.links[position].flags.contains(.up), !nextHop.flags.contains(.dead) else { return true }
        guard needsCarrier, snapshot.links[position].lacksCarrier(family), !nextHop.flags.contains(.carried) else {
            return false
        }
        return snapshot.ignoresRoutesWithLinkDown(family, nextHop.interface)
    }

    /// Returns the next hops of a nexthop object; nil without an object, and for one that has no next hops.
    func nextHops(ofObject id: UInt32?) -> [NextHop]? {
        guard let id, case .nextHops(let nextHops)? = snapshot.nexthops.object(id) else { return nil }
        return nextHops
    }

    /// Returns the members of a group that the kernel chooses among: those whose neighbour entry is valid or missing.
    ///
    /// If there are none, the first member is chosen (`nexthop_select_path`). Unlike routes with several next hops of
    /// their own, groups follow the neighbours' state without a setting.
    func choices(ofGroup nextHops: [NextHop]) -> [NextHop] {
        let good = nextHops.filter { neighbour(of: $0)?.isDisjoint(with: .valid) != true }
        return good.isEmpty ? Array(nextHops.prefix(1)) : good
    }

    /// Returns the state of a next hop's gateway in the neighbour table; nil without a gateway or an entry.
    func neighbour(of nextHop: NextHop) -> NeighbourState? {
        guard !snapshot.neighbours.isEmpty, let gateway = nextHop.gateway else { return nil }
        return snapshot.neighbours[.init(index: nextHop.interface, address: gateway)]
    }

    /// Whether an interface exists and can carry packets now.
    func canCarry(_ index: InterfaceIndex) -> Bool {
        snapshot.linkPosition(index).map { snapshot.canCarry(linkAt: $0) } ?? false
    }
}
