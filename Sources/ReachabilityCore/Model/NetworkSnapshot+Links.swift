/// `AF_UNSPEC`: the family of messages that describe a link itself; others are about bridge ports or IPv6 settings.
private let unspecifiedFamily: UInt8 = 0

extension NetworkSnapshot {
    /// `RTM_NEWLINK`: a new interface, or what changed of a known one.
    ///
    /// Messages of other families (`AF_BRIDGE`: a bridge's port) don't describe the link. A wireless event is built
    /// when it happens and sent later from a work queue, so what it carries of the link may be out of date: it is
    /// passed over, as the state that it announces comes in a full message.
    mutating func insert(_ message: LinkMessage, _ effect: inout SnapshotEffect) {
        guard message.family == unspecifiedFamily, !message.isWirelessEvent else { return }
        let position = linkInsertion(message.index)
        guard position < links.count, links[position].index == message.index else {
            guard !message.isPartial else { return }
            links.insert(Link(message), at: position)
            // What was told of an interface of the same number before is about another one.
            wireless[message.index]?.association = .unknown
            effect.add(.linkAdded)
            return markDetached(nil, message.name, &effect)
        }
        let old = links[position]
        links[position].merge(message)
        noteCarrier(from: old, to: links[position])
        links[position].noteDifference(from: old, &effect)
        // A message about a change of IFF_UP tells of one, even if the state before it is not known.
        let isSetUp = !old.flags.contains(.up) || message.changeMask & LinkFlags.up.rawValue != 0
        followKernel(old, links[position], isSetUp: isSetUp, &effect)
    }

    /// `RTM_DELLINK`: the interface and all that the kernel kept for it are gone.
    ///
    /// Of family `AF_BRIDGE` it says that a port left its bridge, and the interface is still there.
    mutating func remove(_ message: LinkMessage, _ effect: inout SnapshotEffect) {
        guard message.family == unspecifiedFamily, let position = linkPosition(message.index) else { return }
        let link = links.remove(at: position)
        effect.add(.linkRemoved)
        removeRoutes(leaving: link.index, .unregistered, &effect)
        removeNexthops(leaving: link.index, &effect)
        forget(link.index)
        markDetached(link.name, nil, &effect)
    }

    /// Drops what is kept by an interface's index, which the kernel may give to another interface.
    mutating func forget(_ index: InterfaceIndex) {
        addresses[index] = nil
        devices[index] = nil
        awaitedDevices.remove(index)
        wireless[index] = nil
        wireGuard[index] = nil
        teams[index] = nil
        l2tp[index] = nil
        mastersWithUplink.remove(index)
        for family in AddressFamily.allCases { settings[.init(family, index)] = nil }
        if neighbours.contains(where: { $0.key.index == index }) {
            neighbours = neighbours.filter { $0.key.index != index }
        }
    }

    /// Does to routes, nexthops and addresses what the kernel does when a link's state changes.
    ///
    /// Loss is followed whenever a message shows it, not only when it is new: routes may have been read meanwhile.
    private mutating func followKernel(
        _ old: Link,
        _ new: Link,
        isSetUp: Bool,
        _ effect: inout SnapshotEffect
    ) {
        if old.name != new.name { markDetached(old.name, new.name, &effect) }
        if !old.means(new) { forgetCarriedLegs(through: new.index) }
        guard new.flags.contains(.up) else {
            removeRoutes(leaving: new.index, .down, &effect)
            removeNexthops(leaving: new.index, &effect)
            return markKeptAddresses(of: new.index)
        }
        // The kernel deletes nexthop objects with the carrier of their device (`nexthop_flush_dev`).
        if new.lacksCarrier(.ipv4) { removeNexthops(leaving: new.index, &effect) }
        if isSetUp {
            reviveLegs(.ipv4, through: new.index)
        } else if old.lacksCarrier(.ipv4), !new.lacksCarrier(.ipv4) {
            doubtDeadLegs(through: new.index, &effect)
        }
        if !new.lacksCarrier(.ipv6), isSetUp || old.lacksCarrier(.ipv6) { reviveLegs(.ipv6, through: new.index) }
    }

    /// Where an interface stands, or would stand, in ``links``.
    private func linkInsertion(_ index: InterfaceIndex) -> Int {
        // New interfaces have the highest index: the usual case needs no search.
        guard let last = links.last, last.index >= index else { return links.count }
        var low = 0
        var high = links.count
        while low < high {
            let middle = (low + high) / 2
            if links[middle].index < index { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
