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
