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
    static let version: UInt8 = 2
    static let familyID: UInt16 = 1
    static let familyName: UInt16 = 2
    static let multicastGroups: UInt16 = 7
    static let groupName: UInt16 = 1
    static let groupID: UInt16 = 2
}

/// `NL80211_*`: the commands and attributes of nl80211 that are asked for or read.
enum NL80211 {
    static let getInterface: UInt8 = 5
    static let getStation: UInt8 = 17
    static let getScan: UInt8 = 32

    static let radio: UInt16 = 1
    static let interfaceIndex: UInt16 = 3
    static let mode: UInt16 = 5
    static let address: UInt16 = 6
    static let stationInfo: UInt16 = 21
    static let frequency: UInt16 = 38
    static let network: UInt16 = 47
    static let frame: UInt16 = 51
    static let ssid: UInt16 = 52
    static let timedOut: UInt16 = 65
    static let status: UInt16 = 72

    /// `NL80211_BSS_*`, in `NL80211_ATTR_BSS`.
    enum Network {
        static let address: UInt16 = 1
        static let frequency: UInt16 = 2
        static let elements: UInt16 = 6
        static let signal: UInt16 = 7
        static let status: UInt16 = 9
        /// `NL80211_BSS_STATUS_ASSOCIATED`.
        static let isAssociated: UInt32 = 1
    }

    /// `NL80211_STA_INFO_SIGNAL`, in `NL80211_ATTR_STA_INFO`.
    static let signal: UInt16 = 7
    /// `NL80211_STA_INFO_SIGNAL_AVG`.
    static let averageSignal: UInt16 = 13
}

/// `WG_*`: WireGuard's command and attributes that are asked for and read.
enum WG {
    static let getDevice: UInt8 = 0
    static let version: UInt8 = 1

    /// `WGDEVICE_A_*`.
    enum Device {
        static let index: UInt16 = 1
        static let mark: UInt16 = 7
        static let peers: UInt16 = 8
    }

    /// `WGPEER_A_*`.
    enum Peer {
        static let endpoint: UInt16 = 4
        static let allowed: UInt16 = 9
    }

    /// `WGALLOWEDIP_A_*`.
    enum Allowed {
        static let family: UInt16 = 1
        static let address: UInt16 = 2
        static let length: UInt16 = 3
    }
}
