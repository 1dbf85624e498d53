extension NexthopMessage {
    /// `sizeof(struct nhmsg)`.
    static let bodySize = 8

    /// Reads the payload of an `RTM_NEWNEXTHOP` or `RTM_DELNEXTHOP`.
    init(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(Self.bodySize)
        self.init(id: 0)
        family = .init(rawValue: body.byte(0, bytes))
        var foundID: UInt32?
        var interface: InterfaceIndex?
        var gateway: IPAddress?
        var cursor = body.attributes(behind: Self.bodySize)
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
        leg = .init(interface: interface ?? 0, gateway: gateway, flags: .init(rawValue: body.load(4, bytes)))
    }
}

extension NexthopGroupMember {
    /// `sizeof(struct nexthop_grp)`.
    static let size = 8

    /// Reads `NHA_GROUP`: entries of id, weight - 1, and since Linux 6.12 the weight's upper byte.
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
