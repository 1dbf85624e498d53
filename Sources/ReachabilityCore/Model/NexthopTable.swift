/// The nexthop objects (ip-nexthop(8)) by their ids, and what routes through them resolve to.
package struct NexthopTable: Sendable, Hashable {
    private var objects: [UInt32: NexthopMessage] = [:]

    /// The ids of the objects.
    package var keys: Dictionary<UInt32, NexthopMessage>.Keys { objects.keys }

    /// The objects.
    package var values: Dictionary<UInt32, NexthopMessage>.Values { objects.values }

    /// The object with an id.
    package internal(set) subscript(id: UInt32) -> NexthopMessage? {
        get { objects[id] }
        set { objects[id] = newValue }
    }

    /// Takes `RTM_NEWNEXTHOP`: a new object, or another content of a known one; routes through it follow.
    mutating func insert(_ message: NexthopMessage, _ effect: inout SnapshotEffect) {
        guard !message.isForwardingDatabase else { return }
        var nexthop = message
        // Flags of the next hop follow from its device.
        nexthop.nextHop?.flags.formIntersection(.onLink)
        guard objects.updateValue(nexthop, forKey: message.id) != nexthop else { return }
        effect.add(.nexthopChanged)
    }

    /// Removes objects, takes them out of their groups, and removes groups left empty.
    ///
    /// - Returns: The ids of everything that was removed; routes through these go.
    mutating func remove(_ ids: [UInt32], _ effect: inout SnapshotEffect) -> [UInt32] {
        var gone = ids.filter { objects.removeValue(forKey: $0) != nil }
        guard !gone.isEmpty else { return ids }
        effect.add(.nexthopChanged)
        for group in objects.values where group.group.contains(where: { gone.contains($0.id) }) {
            let members = group.group.filter { !gone.contains($0.id) }
            if members.isEmpty {
                objects[group.id] = nil
                gone.append(group.id)
            } else {
                objects[group.id]?.group = members
            }
        }
        return gone
    }

    /// Returns the ids of the objects that use a device.
    func ids(leaving index: InterfaceIndex) -> [UInt32] {
        guard !objects.isEmpty else { return [] }
        return objects.values.filter { $0.nextHop?.interface == index && !$0.isBlackhole }.map(\.id)
    }

    /// Returns the type of a route: blackhole if its nexthop object has become one, otherwise its own.
    func type(of message: RouteMessage) -> RouteType {
        guard let id = message.nexthopID, let nexthop = objects[id] else { return message.type }
        let isBlackhole =
            nexthop.isBlackhole || (nexthop.group.count == 1 && objects[nexthop.group[0].id]?.isBlackhole == true)
        if isBlackhole { return .blackhole }
        // Messages contain the object's type of then; a route proper through an object is a unicast one.
        return message.type == .blackhole ? .unicast : message.type
    }

    /// Returns what the nexthop object of a route stands for.
    ///
    /// - Returns: Nil if the object is not known; then the next hops of the route's own message count.
    func object(_ id: UInt32) -> NexthopObject? {
        guard let message = objects[id] else { return nil }
        if message.isBlackhole { return .blackhole }
        if let nextHop = message.nextHop { return .nextHops([nextHop]) }
        let members = message.group.compactMap { objects[$0.id] }
        if members.count == 1, members[0].isBlackhole { return .blackhole }
        return .nextHops(members.compactMap(\.nextHop))
    }
}

extension NexthopTable: ExpressibleByDictionaryLiteral {
    /// Makes a table of objects.
    package init(dictionaryLiteral elements: (UInt32, NexthopMessage)...) {
        objects = .init(uniqueKeysWithValues: elements)
    }
}

/// The meaning of a nexthop object, with its group resolved.
enum NexthopObject {
    /// Packets are dropped.
    case blackhole
    /// The next hops: one, or those of a group in its order.
    case nextHops([NextHop])
}
