/// What a look-up reads: the model, and the moment at which it is made.
///
/// A class, because it is handed about much: one reference is counted where a snapshot would have nine.
final class LookupModel: Sendable {
    /// The model of the machine.
    let snapshot: NetworkSnapshot
    /// The moment at which routes' expiries are judged.
    let now: Instant
    /// Interfaces that the look-up must not leave through: the tunnels whose carrier is being sought.
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

    /// The VRF to whose domain an interface belongs (`l3mdev_master_ifindex`); nil for the ordinary domain.
    func layer3Domain(of index: InterfaceIndex) -> InterfaceIndex? {
        guard let position = snapshot.linkPosition(index) else { return nil }
        return layer3Domain(ofLinkAt: position)
    }

    /// The same, for an interface whose place in ``NetworkSnapshot/links`` is known.
    func layer3Domain(ofLinkAt position: Int) -> InterfaceIndex? {
        if snapshot.links[position].isVRF { return snapshot.links[position].index }
        guard let master = snapshot.links[position].masterIndex else { return nil }
        guard let above = snapshot.linkPosition(master), snapshot.links[above].isVRF else { return nil }
        return master
    }
}

extension Link {
    /// Whether the interface stands for a VRF, a routing domain of its own.
    var isVRF: Bool { vrfTable != nil }
}

/// Whether the kernel still chooses a next hop, as far as links and settings tell.
///
/// What a next hop's own flags say of its device is as old as the last message about its route; so it is read from the
/// link, whose changes are announced. `RTNH_F_DEAD` stays for what the link does not show: a device that has lost its
/// last IPv4 address.
extension LookupModel {
    /// Whether a next hop of a route is not usable: dead, or without carrier where such routes are ignored.
    ///
    /// - Parameters:
    ///   - nextHop: The next hop.
    ///   - family: The route's family.
    ///   - needsCarrier: False for IPv6 routes of type local and anycast, which are never marked to lack it.
    /// - Returns: Whether the kernel passes it over.
    func isOut(_ nextHop: NextHop, _ family: AddressFamily, needsCarrier: Bool = true) -> Bool {
        if !excluded.isEmpty, excluded.contains(nextHop.interface) { return true }
        guard let position = snapshot.linkPosition(nextHop.interface) else { return true }
        guard snapshot.links[position].flags.contains(.up), !nextHop.flags.contains(.dead) else { return true }
        guard needsCarrier, snapshot.links[position].lacksCarrier(family) else { return false }
        return snapshot.ignoresRoutesWithLinkDown(family, nextHop.interface)
    }
}

/// What a nexthop object stands for, its group resolved (ip-nexthop(8)).
enum NexthopObject {
    /// Packets are dropped.
    case blackhole
    /// The next hops: one, or those of a group in its order.
    case nextHops([NextHop])
}

extension NetworkSnapshot {
    /// What the nexthop object of a route stands for.
    ///
    /// - Returns: Nil if the object is not known; then the next hops that the route's own message listed count.
    func nexthopObject(_ id: UInt32) -> NexthopObject? {
        guard let message = nexthops[id] else { return nil }
        if message.isBlackhole { return .blackhole }
        if let nextHop = message.nextHop { return .nextHops([nextHop]) }
        let members = message.group.compactMap { nexthops[$0.id] }
        if members.count == 1, members[0].isBlackhole { return .blackhole }
        return .nextHops(members.compactMap(\.nextHop))
    }
}

extension LookupModel {
    /// The next hops of a group that the kernel chooses among: those whose neighbour entry is valid or missing.
    ///
    /// If there are none, the first member is chosen (`nexthop_select_path`). Unlike routes with several next hops of
    /// their own, groups follow the neighbours' state without a setting.
    func choices(ofGroup nextHops: [NextHop]) -> [NextHop] {
        let good = nextHops.filter { neighbour(of: $0)?.isDisjoint(with: .valid) != true }
        return good.isEmpty ? Array(nextHops.prefix(1)) : good
    }

    /// The state of a next hop's gateway in the neighbour table; nil without a gateway or an entry.
    func neighbour(of nextHop: NextHop) -> NeighbourState? {
        guard !snapshot.neighbours.isEmpty, let gateway = nextHop.gateway else { return nil }
        return snapshot.neighbours[.init(index: nextHop.interface, address: gateway)]
    }
}
