// The numbers of generic netlink and its families, as include/uapi/linux/{genetlink,nl80211,wireguard}.h have them.

/// `struct genlmsghdr` and the families' management.
enum GENL {
    /// `GENL_ID_CTRL`: the message type of `nlctrl`, and the number of its group `notify`.
    static let control: UInt16 = 0x10
    /// `sizeof(struct genlmsghdr)`: command, version, two reserved bytes.
    static let headerSize = 4
}

/// `CTRL_*`: `nlctrl`, which tells of the other families.
enum CTRL {
    static let newFamily: UInt8 = 1
    static let getFamily: UInt8 = 3
    static let familyID: UInt16 = 1
    static let familyName: UInt16 = 2
    static let multicastGroups: UInt16 = 7
    static let groupName: UInt16 = 1
    static let groupID: UInt16 = 2
}
