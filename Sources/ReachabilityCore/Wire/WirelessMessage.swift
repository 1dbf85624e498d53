/// What one message of nl80211 said of an interface (`include/uapi/linux/nl80211.h`), as an answer or unasked.
public struct WirelessMessage: Sendable, Hashable {
    /// What it is about.
    public var command: Command
    /// `NL80211_ATTR_IFINDEX`.
    public var index: InterfaceIndex
    /// `NL80211_ATTR_IFTYPE`; nil where the message does not say.
    public var mode: WirelessMode?
    /// `NL80211_ATTR_WIPHY`: the radio's number.
    public var radio: UInt32?
    /// `NL80211_ATTR_SSID`: up to 32 bytes, often text; of an interface only while it is associated.
    public var ssid: [UInt8]?
    /// `NL80211_ATTR_MAC`, or the frame's: the access point's address (BSSID), 6 bytes; of an interface its own.
    public var address: [UInt8]?
    /// `NL80211_ATTR_WIPHY_FREQ`, in MHz.
    public var frequency: UInt32?
    /// `NL80211_ATTR_STATUS_CODE`, or the status in the frame: why a step failed (IEEE 802.11, 9.4.1.9); 0 if it did not.
    public var status: UInt16?
    /// `NL80211_ATTR_TIMED_OUT`: the access point did not answer.
    public var hasTimedOut = false
    /// `NL80211_STA_INFO_SIGNAL` of an answer about a station, or `NL80211_BSS_SIGNAL_MBM` of one about a scan, in dBm.
    public var signal: Int8?
    /// `NL80211_BSS_STATUS` of an answer about a scan: whether this is the access point that the interface is with.
    public var isOwnNetwork = false

    /// Makes a message; the fields are set afterwards.
    public init(_ command: Command, index: InterfaceIndex) {
        self.command = command
        self.index = index
    }

    /// `IEEE80211_MAX_SSID_LEN`.
    static let longestSSID = 32

    /// The commands that tell something of an interface: `NL80211_CMD_*`.
    public enum Command: UInt8, Sendable, Hashable {
        /// `SET_INTERFACE`: its mode changed.
        case setInterface = 6
        /// `NEW_INTERFACE`: it appeared, or an answer.
        case newInterface = 7
        /// `DEL_INTERFACE`.
        case deleteInterface = 8
        /// `NEW_STATION`: as an answer, what is known of the access point.
        case newStation = 19
        /// `DEL_STATION`.
        case deleteStation = 20
        /// `NEW_SCAN_RESULTS`: as an answer, one access point of the last scan.
        case scanResult = 34
        /// `AUTHENTICATE`: an association begins.
        case authenticate = 37
        /// `ASSOCIATE`.
        case associate = 38
        /// `DEAUTHENTICATE`.
        case deauthenticate = 39
        /// `DISASSOCIATE`.
        case disassociate = 40
        /// `CONNECT`: an association succeeded, or failed with a status.
        case connect = 46
        /// `ROAM`: to another access point without loss of the connection.
        case roam = 47
        /// `DISCONNECT`.
        case disconnect = 48
    }
}

/// `NL80211_IFTYPE_*`: what an interface does on the air.
public struct WirelessMode: RawRepresentable, Sendable, Hashable {
    /// The kernel's number.
    public let rawValue: UInt32
    /// Takes the kernel's number as it is.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `NL80211_IFTYPE_ADHOC`.
    public static let adHoc = Self(rawValue: 1)
    /// `NL80211_IFTYPE_STATION`.
    public static let station = Self(rawValue: 2)
    /// `NL80211_IFTYPE_AP`.
    public static let accessPoint = Self(rawValue: 3)
    /// `NL80211_IFTYPE_AP_VLAN`: some of an access point's clients.
    public static let accessPointVLAN = Self(rawValue: 4)
    /// `NL80211_IFTYPE_MONITOR`.
    public static let monitor = Self(rawValue: 6)
    /// `NL80211_IFTYPE_MESH_POINT`.
    public static let mesh = Self(rawValue: 7)
    /// `NL80211_IFTYPE_P2P_CLIENT`.
    public static let peerClient = Self(rawValue: 8)
    /// `NL80211_IFTYPE_P2P_GO`: the access point of a group of WiFi Direct.
    public static let peerGroupOwner = Self(rawValue: 9)

    /// Whether the interface serves clients, instead of being one.
    public var isAccessPoint: Bool { [.accessPoint, .accessPointVLAN, .peerGroupOwner].contains(self) }
}
