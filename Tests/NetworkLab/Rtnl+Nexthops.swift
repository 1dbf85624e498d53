package import ReachabilityCore

// MARK: - Nexthop objects (ip-nexthop(8))

extension Rtnl {
    /// Makes a nexthop object through a link.
    package func addNexthop(_ id: UInt32, via gateway: String, on interface: String) throws(LabError) {
        var message = NexthopMessage(id: id)
        let address = try IPPrefix(labText: gateway).address
        message.nextHop = .init(interface: try index(of: interface), gateway: address)
        try addNexthop(message)
    }

    /// Makes a group of nexthop objects, each with weight 1.
    package func addNexthopGroup(_ id: UInt32, members: UInt32...) throws(LabError) {
        var message = NexthopMessage(id: id)
        message.group = members.map { .init(id: $0) }
        try addNexthop(message)
    }

    /// Makes a nexthop object: a next hop, a group or a blackhole.
    package func addNexthop(_ nexthop: NexthopMessage) throws(LabError) {
        try perform(.nexthop(nexthop, flags: [.create, .exclusive], "add"))
    }

    /// Makes or replaces a nexthop object.
    package func replaceNexthop(_ nexthop: NexthopMessage) throws(LabError) {
        try perform(.nexthop(nexthop, flags: [.create, .replace], "replace"))
    }

    /// Removes a nexthop object; the kernel removes its routes with it, the IPv4 ones in silence.
    package func deleteNexthop(_ id: UInt32) throws(LabError) {
        try perform(
            RtnlRequest("delete nexthop \(id)", type: RTM.delNexthop) { builder in
                builder.nexthopHeader(family: 0)
                builder.attribute(NHA.id, id)
            }
        )
    }
}

extension RtnlRequest {
    /// `RTM_NEWNEXTHOP`.
    fileprivate static func nexthop(_ message: NexthopMessage, flags: NetlinkFlags, _ verb: String) -> Self {
        RtnlRequest("\(verb) nexthop \(message.id)", type: RTM.newNexthop, flags: flags) { builder in
            let family = message.family ?? message.nextHop?.gateway?.family
            // A group has no family, a next hop or a blackhole needs one.
            let needed = message.group.isEmpty ? family ?? .ipv4 : nil
            builder.nexthopHeader(family: needed?.rawValue ?? 0, flags: message.nextHop?.flags ?? [])
            builder.attribute(NHA.id, message.id)
            if message.isForwardingDatabase { builder.attribute(NHA.fdb) }
            if message.isBlackhole { builder.attribute(NHA.blackhole) }
            if let nextHop = message.nextHop {
                if nextHop.interface != 0 { builder.attribute(NHA.oif, index: nextHop.interface) }
                if let gateway = nextHop.gateway { builder.attribute(NHA.gateway, gateway) }
            }
            if !message.group.isEmpty { builder.members(message.group) }
        }
    }
}

extension NetlinkMessageBuilder {
    /// `struct nhmsg`.
    fileprivate mutating func nexthopHeader(family: UInt8, flags: NextHopFlags = []) {
        append(family)
        append(UInt8(0))
        append(UInt8(0))
        append(UInt8(0))
        append(flags.rawValue)
    }

    /// `NHA_GROUP`: an array of `struct nexthop_grp`.
    fileprivate mutating func members(_ members: [NexthopGroupMember]) {
        nested(NHA.group, flagged: false) { builder in
            for member in members {
                builder.append(member.id)
                builder.append(UInt8(truncatingIfNeeded: member.weight &- 1))
                builder.append(UInt8(truncatingIfNeeded: (member.weight &- 1) >> 8))
                builder.append(UInt16(0))
            }
        }
    }
}
