/// A family of generic netlink, as announced by `nlctrl` (`include/uapi/linux/genetlink.h`).
///
/// The kernel assigns the numbers of families and groups when it loads them, so they are looked up by name.
package struct GenericFamily: Sendable, Hashable {
    /// `CTRL_ATTR_FAMILY_NAME`, such as `nl80211`.
    package var name: String
    /// `CTRL_ATTR_FAMILY_ID`: the type of the family's messages.
    package var id: UInt16
    /// `CTRL_ATTR_MCAST_GROUPS`: the numbers of the family's multicast groups, by name.
    package var groups: [String: UInt32] = [:]

    /// Creates a family without groups.
    package init(name: String, id: UInt16) {
        self.name = name
        self.id = id
    }
}

/// The numbers of the families whose messages are decoded; 0 for a family that the kernel does not have.
package struct GenericFamilies: Sendable, Hashable {
    /// nl80211, the interface of cfg80211 drivers.
    package private(set) var nl80211: UInt16 = 0
    /// WireGuard.
    package private(set) var wireGuard: UInt16 = 0
    /// The team driver.
    package private(set) var team: UInt16 = 0
    /// L2TP.
    package private(set) var l2tp: UInt16 = 0

    /// `NL80211_GENL_NAME`.
    package static let wirelessName = "nl80211"
    /// `WG_GENL_NAME`.
    package static let wireGuardName = "wireguard"
    /// `TEAM_GENL_NAME`.
    package static let teamName = "team"
    /// `L2TP_GENL_NAME`.
    package static let l2tpName = "l2tp"

    /// Returns whether the messages of a family are decoded.
    package static func reads(_ family: GenericFamily) -> Bool {
        [wirelessName, wireGuardName, teamName, l2tpName].contains(family.name)
    }

    /// Creates a registry without families.
    package init() {}

    /// Creates a registry with one family.
    package init(_ name: String, _ id: UInt16) { note(.init(name: name, id: id)) }

    /// Stores the number of a family; families that are not decoded are ignored.
    package mutating func note(_ family: GenericFamily) {
        switch family.name {
        case Self.wirelessName: nl80211 = family.id
        case Self.wireGuardName: wireGuard = family.id
        case Self.teamName: team = family.id
        case Self.l2tpName: l2tp = family.id
        default: break
        }
    }
}

// MARK: - Decoding

extension GenericFamily {
    /// Decodes the payload of a `CTRL_CMD_NEWFAMILY` message, or returns nil if it names no family.
    init?(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        self.init(name: "", id: 0)
        var cursor = body.attributes(after: GENL.headerSize)
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

// MARK: - Encoding

extension GenericFamily {
    /// Appends `struct genlmsghdr` of a `CTRL_CMD_NEWFAMILY` and the attributes, with groups in the order of their names.
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

// MARK: - Requests

extension NetlinkRequests {
    /// Returns a request for all families of the kernel (`CTRL_CMD_GETFAMILY`); each is a ``KernelEvent/family(_:)``.
    ///
    /// Requesting a family by its name would load a module if the kernel lacks it (`genl_ctrl_getfamily` in
    /// `net/netlink/genetlink.c`).
    package static func families(sequence: UInt32) -> [UInt8] {
        NetlinkEncoder().encode(.familiesRequested, sequence: sequence)
    }
}

// MARK: - Numbers

/// `CTRL_*`: `nlctrl`, which announces the other families.
enum CTRL {
    static let newFamily: UInt8 = 1
    static let getFamily: UInt8 = 3
    static let version: UInt8 = 2
    static let familyID: UInt16 = 1
    static let familyName: UInt16 = 2
    static let multicastGroups: UInt16 = 7
    static let groupName: UInt16 = 1
    static let groupID: UInt16 = 2
}
