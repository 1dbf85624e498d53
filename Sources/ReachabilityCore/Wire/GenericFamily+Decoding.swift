extension GenericFamily {
    /// Reads the payload of a `CTRL_CMD_NEWFAMILY`; nil if it names no family.
    init?(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        self.init(name: "", id: 0)
        var cursor = body.attributes(behind: GENL.headerSize)
        while let attribute = try cursor.next(bytes) {
            switch attribute.type {
            case CTRL.familyID: id = try attribute.integer(bytes, "CTRL_ATTR_FAMILY_ID")
            case CTRL.familyName: name = attribute.text(bytes)
            case CTRL.multicastGroups: try readGroups(attribute, bytes)
            default: break
            }
        }
        guard !name.isEmpty, id >= NLMSG.minType else { return nil }
    }

    private mutating func readGroups(_ list: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        var groups = list.nested
        while let group = try groups.next(bytes) {
            var name: String?
            var number: UInt32?
            var cursor = group.nested
            while let attribute = try cursor.next(bytes) {
                switch attribute.type {
                case CTRL.groupName: name = attribute.text(bytes)
                case CTRL.groupID: number = try attribute.integer(bytes, "CTRL_ATTR_MCAST_GRP_ID")
                default: break
                }
            }
            if let name, let number { self.groups[name] = number }
        }
    }
}
