/// The content of an `RTM_NEWNEXTHOP` or `RTM_DELNEXTHOP` message (ip-nexthop(8), `include/uapi/linux/nexthop.h`).
package struct NexthopMessage: Sendable, Hashable {
    /// `NHA_ID`.
    package var id: UInt32
    /// `nh_family`; nil for a group and for a blackhole without a family.
    package var family: AddressFamily?
    /// `NHA_BLACKHOLE`.
    package var isBlackhole = false
    /// The next hop: `NHA_OIF`, `NHA_GATEWAY` and `nh_flags`; nil for a group.
    package var nextHop: NextHop?
    /// `NHA_GROUP`: the members and their weights; empty for a single next hop.
    package var group: [NexthopGroupMember] = []
    /// `NHA_FDB`: used by a bridge's forwarding database, not by routes.
    package var isForwardingDatabase = false

    /// Creates a message about a nexthop object.
    package init(id: UInt32) { self.id = id }
}

/// An entry of `NHA_GROUP`: `struct nexthop_grp`.
package struct NexthopGroupMember: Sendable, Hashable {
    /// The member's id.
    package var id: UInt32
    /// The weight: the value on the wire + 1, with `weight_high` as the upper byte.
    package var weight: UInt16

    /// Creates an entry.
    package init(id: UInt32, weight: UInt16 = 1) {
        self.id = id
        self.weight = weight
    }
}

// MARK: - Decoding

extension NexthopMessage {
    /// `sizeof(struct nhmsg)`.
    static let bodySize = 8

    /// Decodes the payload of an `RTM_NEWNEXTHOP` or `RTM_DELNEXTHOP` message.
    init(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(Self.bodySize)
        self.init(id: 0)
        family = .init(rawValue: body.byte(0, bytes))
        var foundID: UInt32?
        var interface: InterfaceIndex?
        var gateway: IPAddress?
        var cursor = body.attributes(after: Self.bodySize)
        while let attribute = try cursor.next(bytes) {
            switch attribute.type {
            case NHA.id: foundID = try attribute.integer(bytes, "NHA_ID")
            case NHA.oif: interface = try attribute.integer(bytes, "NHA_OIF")
            case NHA.gateway:
                gateway = try family.map { family throws(NetlinkDecodeError) in
                    try attribute.address(family, bytes, "NHA_GATEWAY")
                }
            case NHA.blackhole: isBlackhole = true
            case NHA.fdb: isForwardingDatabase = true
            case NHA.group: group = try NexthopGroupMember.list(attribute, bytes)
            default: break
            }
        }
        guard let foundID else { throw .init(.missingAttribute("NHA_ID"), at: body.start) }
        id = foundID
        guard interface != nil || gateway != nil else { return }
        nextHop = .init(interface: interface ?? 0, gateway: gateway, flags: .init(rawValue: body.load(4, bytes)))
    }
}

extension NexthopGroupMember {
    /// `sizeof(struct nexthop_grp)`.
    private static let size = 8

    /// Decodes `NHA_GROUP`: entries of id, weight - 1 and, since Linux 6.12, the weight's upper byte.
    fileprivate static func list(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) -> [Self] {
        let payload = attribute.payload
        guard payload.count % size == 0 else {
            let required = (payload.count / size + 1) * size
            throw .init(
                .shortAttribute("NHA_GROUP", required: required, available: payload.count),
                at: payload.start - 4
            )
        }
        return (0..<payload.count / size).map { position in
            let offset = position * size
            let weight = UInt16(payload.byte(offset + 5, bytes)) << 8 | UInt16(payload.byte(offset + 4, bytes))
            return .init(id: payload.load(offset, bytes), weight: weight == .max ? .max : weight + 1)
        }
    }
}

// MARK: - Encoding

extension NexthopMessage {
    /// Appends `struct nhmsg` and the attributes.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(family?.rawValue ?? AF.unspec)
        builder.append(bytes: [0, 0, 0])
        builder.append(nextHop?.flags.rawValue ?? 0)
        builder.attribute(NHA.id, id)
        if isBlackhole { builder.attribute(NHA.blackhole) }
        if isForwardingDatabase { builder.attribute(NHA.fdb) }
        if let nextHop {
            builder.attribute(NHA.oif, index: nextHop.interface)
            if let gateway = nextHop.gateway { builder.attribute(NHA.gateway, gateway) }
        }
        guard !group.isEmpty else { return }
        builder.nested(NHA.group, flagged: false) { list in
            for member in group { member.append(to: &list) }
        }
    }
}

extension NexthopGroupMember {
    /// Appends `struct nexthop_grp`, in which the weight is one less, its lower byte first.
    fileprivate func append(to list: inout NetlinkMessageBuilder) {
        let value = UInt16(clamping: Int(weight) - 1)
        list.append(id)
        list.append(UInt8(truncatingIfNeeded: value))
        list.append(UInt8(value >> 8))
        list.append(UInt16(0))
    }
}

// MARK: - Numbers

/// `NHA_*`: attributes of nexthop objects (`nexthop.h`).
private enum NHA {
    static let id: UInt16 = 1
    static let group: UInt16 = 2
    static let blackhole: UInt16 = 4
    static let oif: UInt16 = 5
    static let gateway: UInt16 = 6
    static let fdb: UInt16 = 11
}
