/// What follows for the parts of a model that were not read, from what was read of the others.
extension NetworkSnapshot {
    /// Brings the other parts in line with links, addresses and nexthop objects that are gone or down.
    ///
    /// - Parameters:
    ///   - old: The model before.
    ///   - subjects: What was read, and is thus known.
    /// - Returns: The tables that were not read, and were changed by prediction.
    mutating func reconcile(with old: Self, knowing subjects: [DumpSubject]) -> [RouteTableKey] {
        let known = self
        // What has changed is told by the net difference, in the end.
        var effect = SnapshotEffect()
        if subjects.contains(.links) { reconcileLinks(with: old, &effect) }
        for family in AddressFamily.allCases where subjects.contains(.addresses(family)) {
            reconcileAddresses(family, with: old, &effect)
        }
        if subjects.contains(.nexthops) {
            let gone = old.nexthops.keys.filter { nexthops[$0] == nil }
            if !gone.isEmpty { removeRoutes(through: gone, &effect) }
        }
        for subject in subjects { adopt(subject, from: known) }
        return effect.predictions.filter { key in
            !subjects.contains(.routes(key.family, table: key.table))
                && !subjects.contains(.routes(key.family, table: nil))
        }
    }

    private mutating func reconcileLinks(with old: Self, _ effect: inout SnapshotEffect) {
        for link in old.links where linkPosition(link.index) == nil {
            removeRoutes(leaving: link.index, .unregistered, &effect)
            removeNexthops(leaving: link.index, &effect)
            forget(link.index)
            markDetached(link.name, nil, &effect)
        }
        for link in links {
            if !link.flags.contains(.up) { removeRoutes(leaving: link.index, .down, &effect) }
            if link.flags.isDisjoint(with: .carrying) { removeNexthops(leaving: link.index, &effect) }
            if old.link(link.index)?.name != link.name { markDetached(nil, link.name, &effect) }
        }
    }

    private mutating func reconcileAddresses(
        _ family: AddressFamily,
        with old: Self,
        _ effect: inout SnapshotEffect
    ) {
        for (index, list) in old.addresses {
            for address in list where address.address.family == family {
                let isThere = addresses[index]?.contains { $0.isSame(address) } ?? false
                if !isThere { followRemoval(of: address.address, from: index, &effect) }
            }
        }
    }
}
