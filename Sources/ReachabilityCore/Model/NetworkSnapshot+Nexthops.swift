extension NetworkSnapshot {
    /// `RTM_NEWNEXTHOP`: a new object, or another content of a known one; routes through it follow.
    mutating func insert(_ message: NexthopMessage, _ effect: inout SnapshotEffect) {
        guard !message.isForwardingDatabase else { return }
        var nexthop = message
        // Flags of the next hop follow from its device.
        nexthop.nextHop?.flags.formIntersection(.onLink)
        guard nexthops.updateValue(nexthop, forKey: message.id) != nexthop else { return }
        effect.add(.nexthopChanged)
    }

    /// Does what the kernel does when a device is set down, loses its carrier or goes (`nexthop_flush_dev`).
    ///
    /// It announces neither the objects that it removes then, nor the groups that lose a member.
    mutating func removeNexthops(leaving index: InterfaceIndex, _ effect: inout SnapshotEffect) {
        guard !nexthops.isEmpty else { return }
        let lost = nexthops.values.filter { $0.nextHop?.interface == index && !$0.isBlackhole }
        if !lost.isEmpty { removeNexthops(lost.map(\.id), &effect) }
    }

    /// Removes objects, takes them out of their groups, removes groups left empty, and the routes through all these.
    ///
    /// The kernel announces the objects when it was asked to remove them; their IPv4 routes never.
    mutating func removeNexthops(_ ids: [UInt32], _ effect: inout SnapshotEffect) {
        var gone = ids.filter { nexthops.removeValue(forKey: $0) != nil }
        guard !gone.isEmpty else { return removeRoutes(through: ids, &effect) }
        effect.add(.nexthopChanged)
        for group in nexthops.values where group.group.contains(where: { gone.contains($0.id) }) {
            let members = group.group.filter { !gone.contains($0.id) }
            if members.isEmpty {
                nexthops[group.id] = nil
                gone.append(group.id)
            } else {
                nexthops[group.id]?.group = members
            }
        }
        removeRoutes(through: gone, &effect)
    }
}
