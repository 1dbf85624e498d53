/// One family of generic netlink, as `nlctrl` tells of it (`include/uapi/linux/genetlink.h`).
///
/// The numbers of families and of their groups are given out as the kernel loads them, so they are asked for by name.
public struct GenericFamily: Sendable, Hashable {
    /// `CTRL_ATTR_FAMILY_NAME`, such as `nl80211`.
    public var name: String
    /// `CTRL_ATTR_FAMILY_ID`: the message type that its messages have.
    public var id: UInt16
    /// `CTRL_ATTR_MCAST_GROUPS`: its multicast groups' numbers by their names.
    public var groups: [String: UInt32] = [:]

    /// Makes a family without groups.
    public init(name: String, id: UInt16) {
        self.name = name
        self.id = id
    }
}

/// The families whose messages are read, by the numbers that they have on the machine at hand; 0 for one it lacks.
public struct GenericFamilies: Sendable, Hashable {
    /// nl80211, of every 802.11 driver that is not very old.
    public private(set) var nl80211: UInt16 = 0
    /// WireGuard.
    public private(set) var wireGuard: UInt16 = 0

    /// `NL80211_GENL_NAME`.
    public static let wirelessName = "nl80211"
    /// `WG_GENL_NAME`.
    public static let wireGuardName = "wireguard"

    /// Whether messages of a family are read.
    public static func reads(_ family: GenericFamily) -> Bool {
        family.name == wirelessName || family.name == wireGuardName
    }

    /// Knows none.
    public init() {}

    /// Takes what `nlctrl` says of a family; of others than those above nothing is kept.
    public mutating func note(_ family: GenericFamily) {
        switch family.name {
        case Self.wirelessName: nl80211 = family.id
        case Self.wireGuardName: wireGuard = family.id
        default: break
        }
    }
}

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

extension GenericFamily {
    /// Appends `struct genlmsghdr` of a `CTRL_CMD_NEWFAMILY` and the attributes; groups in the order of their names.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(bytes: [CTRL.newFamily, CTRL.version, 0, 0])
        builder.attribute(CTRL.familyName, string: name)
        builder.attribute(CTRL.familyID, id)
        guard !groups.isEmpty else { return }
        builder.nested(CTRL.multicastGroups) { list in
            for (position, group) in groups.sorted(by: { $0.key < $1.key }).enumerated() {
                list.nested(UInt16(clamping: position + 1)) { entry in
                    entry.attribute(CTRL.groupID, group.value)
                    entry.attribute(CTRL.groupName, string: group.key)
                }
            }
        }
    }
}
