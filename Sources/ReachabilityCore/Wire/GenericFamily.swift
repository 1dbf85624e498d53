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
    /// The team driver.
    public private(set) var team: UInt16 = 0
    /// L2TP.
    public private(set) var l2tp: UInt16 = 0

    /// `NL80211_GENL_NAME`.
    public static let wirelessName = "nl80211"
    /// `WG_GENL_NAME`.
    public static let wireGuardName = "wireguard"
    /// `TEAM_GENL_NAME`.
    public static let teamName = "team"
    /// `L2TP_GENL_NAME`.
    public static let l2tpName = "l2tp"

    /// Whether messages of a family are read.
    public static func reads(_ family: GenericFamily) -> Bool {
        [wirelessName, wireGuardName, teamName, l2tpName].contains(family.name)
    }

    /// Knows none.
    public init() {}

    /// Takes what `nlctrl` says of a family; of others than those above nothing is kept.
    public mutating func note(_ family: GenericFamily) {
        switch family.name {
        case Self.wirelessName: nl80211 = family.id
        case Self.wireGuardName: wireGuard = family.id
        case Self.teamName: team = family.id
        case Self.l2tpName: l2tp = family.id
        default: break
        }
    }
}
