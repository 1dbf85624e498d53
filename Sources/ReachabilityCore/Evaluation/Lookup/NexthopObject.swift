/// What a nexthop object stands for, its group resolved (ip-nexthop(8)).
enum NexthopObject {
    /// Packets are dropped.
    case blackhole
    /// The legs: one, or those of a group in its order.
    case legs([RouteLeg])
}

extension NetworkSnapshot {
    /// What the nexthop object of a route stands for.
    ///
    /// - Returns: Nil if the object is not known; then the legs that the route's own message listed count.
    func nexthopObject(_ id: UInt32) -> NexthopObject? {
        guard let message = nexthops[id] else { return nil }
        if message.isBlackhole { return .blackhole }
        if let leg = message.leg { return .legs([leg]) }
        let members = message.group.compactMap { nexthops[$0.id] }
        if members.count == 1, members[0].isBlackhole { return .blackhole }
        return .legs(members.compactMap(\.leg))
    }
}

extension LookupModel {
    /// The legs of a group that the kernel chooses among: those whose neighbour entry is valid or missing.
    ///
    /// If there are none, the first member is chosen (`nexthop_select_path`). Unlike routes with several legs of their
    /// own, groups follow the neighbours' state without a setting.
    func choices(ofGroup legs: [RouteLeg]) -> [RouteLeg] {
        let good = legs.filter { neighbour(of: $0)?.isDisjoint(with: .valid) != true }
        return good.isEmpty ? Array(legs.prefix(1)) : good
    }

    /// The state of a leg's gateway in the neighbour table; nil without a gateway or an entry.
    func neighbour(of leg: RouteLeg) -> NeighbourState? {
        guard !snapshot.neighbours.isEmpty, let gateway = leg.gateway else { return nil }
        return snapshot.neighbours[.init(index: leg.interface, address: gateway)]
    }
}
