/// The kernel's number of a network interface (`ifindex`), unique in its namespace while the interface exists.
public typealias InterfaceIndex = Int32

/// What one `RTM_NEWLINK` or `RTM_DELLINK` said (rtnetlink(7), `include/uapi/linux/if_link.h`).
///
/// What a message did not carry is nil: messages for wireless events carry little more than the name, and what is
/// missing must not overwrite what is known (``isPartial``).
public struct LinkMessage: Sendable, Hashable {
    /// `ifi_index`.
    public var index: InterfaceIndex
    /// `ifi_family`: `AF_UNSPEC` for a link of its own; `AF_BRIDGE` messages are about a bridge's ports.
    public var family: UInt8 = 0
    /// `ifi_type`, an `ARPHRD_*`.
    public var hardwareType: HardwareType = .none
    /// `ifi_flags`, `IFF_*`.
    public var flags: LinkFlags = []
    /// `ifi_change`.
    public var changeMask: UInt32 = 0
    /// `IFLA_IFNAME`.
    public var name: String?
    /// `IFLA_MTU`, in bytes.
    public var mtu: UInt32?
    /// `IFLA_GROUP`.
    public var group: UInt32?
    /// `IFLA_CARRIER`, often true on interfaces that are down: test ``LinkFlags/up`` first.
    public var carrier: Bool?
    /// `IFLA_OPERSTATE` (RFC 2863, `Documentation/networking/operstates.rst`).
    public var operationalState: OperationalState?
    /// `IFLA_LINK`: the interface below (a VLAN's device, a veth's peer); an index in ``lowerNamespace`` if that is set.
    public var lowerIndex: InterfaceIndex?
    /// `IFLA_LINK_NETNSID`: the namespace of ``lowerIndex`` when it is another one.
    public var lowerNamespace: Int32?
    /// `IFLA_MASTER`: the bridge, bond, team or VRF that this interface belongs to.
    public var masterIndex: InterfaceIndex?
    /// `IFLA_LINKINFO` / `IFLA_INFO_KIND`.
    public var kind: String?
    /// `IFLA_LINKINFO` / `IFLA_INFO_SLAVE_KIND`.
    public var portKind: String?
    /// `IFLA_VRF_TABLE` of a VRF device.
    public var vrfTable: UInt32?
    /// `IFLA_BOND_ACTIVE_SLAVE` of a bond.
    public var bondActivePort: InterfaceIndex?
    /// Whether a bond looks at its ports, and replaces an active one that has lost its carrier: `miimon` or
    /// `arp_interval` is set (`Documentation/networking/bonding.rst`).
    public var bondReplacesPorts = false
    /// Where a tunnel's packets go, if the kernel keeps that with the link: `IFLA_GRE_REMOTE`, `IFLA_IPTUN_REMOTE`,
    /// `IFLA_VTI_REMOTE`, `IFLA_VXLAN_GROUP`, `IFLA_GENEVE_REMOTE`; nil for none and for a group of hosts.
    public var tunnelRemote: IPAddress?
    /// The address that a tunnel sends from, if it is given one (ip-link(8) `local`); nil if the kernel selects it.
    public var tunnelSource: IPAddress?
    /// The mark of a tunnel's own packets (ip-link(8) `fwmark`); 0 for none.
    public var tunnelMark: UInt32 = 0
    /// The TOS field of a tunnel's own packets; with bit 0 set, that of the packets inside.
    public var tunnelTOS: UInt8 = 0
    /// Whether this port of a bond carries traffic: `IFLA_BOND_SLAVE_STATE` is `BOND_STATE_ACTIVE`.
    public var bondPortIsActive: Bool?
    /// `IFLA_AF_SPEC` / `AF_INET6` / `IFLA_INET6_CONF`, `DEVCONF_USE_TEMPADDR` at least 2: temporary addresses are preferred.
    public var prefersTemporaryAddresses: Bool?
    /// The same, `DEVCONF_USE_OIF_ADDRS_ONLY`.
    public var usesOwnAddressesOnly: Bool?
    /// The same, `DEVCONF_USE_OPTIMISTIC`.
    public var usesOptimisticAddresses: Bool?
    /// `IFLA_PARENT_DEV_BUS_NAME`: `usb`, `pci`, `gadget` or another.
    public var parentBus: String?
    /// Whether the message carried `IFLA_WIRELESS`: an event of the driver, not a description of the link.
    public var isWirelessEvent = false

    /// Makes a message about one interface; the fields are set afterwards.
    public init(index: InterfaceIndex) { self.index = index }

    /// Whether this is an event with few attributes that must not erase what is known.
    ///
    /// Wireless events have `ifi_change` 0 and neither `IFLA_MTU` nor `IFLA_OPERSTATE`.
    public var isPartial: Bool { isWirelessEvent || (mtu == nil && operationalState == nil) }
}

/// `IFF_*` (netdevice(7), `include/uapi/linux/if.h`).
public struct LinkFlags: OptionSet, Sendable, Hashable {
    /// The bits as the kernel writes them.
    public let rawValue: UInt32
    /// Takes the kernel's bits as they are.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `IFF_UP`: set up by its administrator.
    public static let up = Self(rawValue: 1 << 0)
    /// `IFF_LOOPBACK`.
    public static let loopback = Self(rawValue: 1 << 3)
    /// `IFF_POINTOPOINT`.
    public static let pointToPoint = Self(rawValue: 1 << 4)
    /// `IFF_RUNNING`.
    public static let running = Self(rawValue: 1 << 6)
    /// `IFF_NOARP`.
    public static let noARP = Self(rawValue: 1 << 7)
    /// `IFF_LOWER_UP`: the driver sees a carrier.
    public static let lowerUp = Self(rawValue: 1 << 16)
    /// `IFF_DORMANT`.
    public static let dormant = Self(rawValue: 1 << 17)
}

/// `IFLA_OPERSTATE`'s values (RFC 2863, ifOperStatus).
public enum OperationalState: UInt8, Sendable, Hashable {
    /// `IF_OPER_UNKNOWN`: the driver does not say; the flags decide.
    case unknown = 0
    /// `IF_OPER_NOTPRESENT`.
    case notPresent = 1
    /// `IF_OPER_DOWN`.
    case down = 2
    /// `IF_OPER_LOWERLAYERDOWN`.
    case lowerLayerDown = 3
    /// `IF_OPER_TESTING`.
    case testing = 4
    /// `IF_OPER_DORMANT`: waits for an event of its own, such as 802.1X.
    case dormant = 5
    /// `IF_OPER_UP`.
    case up = 6
}

/// `ARPHRD_*`: the hardware type of an interface (`include/uapi/linux/if_arp.h`).
public struct HardwareType: RawRepresentable, Sendable, Hashable {
    /// The number that the kernel writes in `ifi_type`.
    public let rawValue: UInt16
    /// Takes the kernel's number as it is.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// `ARPHRD_ETHER`.
    public static let ethernet = Self(rawValue: 1)
    /// `ARPHRD_PPP`.
    public static let ppp = Self(rawValue: 512)
    /// `ARPHRD_RAWIP`.
    public static let rawIP = Self(rawValue: 519)
    /// `ARPHRD_RAWIP` in Qualcomm's own kernels, before mainline had one.
    public static let vendorRawIP = Self(rawValue: 530)
    /// `ARPHRD_TUNNEL` (IP in IP).
    public static let tunnel = Self(rawValue: 768)
    /// `ARPHRD_TUNNEL6`.
    public static let tunnel6 = Self(rawValue: 769)
    /// `ARPHRD_LOOPBACK`.
    public static let loopback = Self(rawValue: 772)
    /// `ARPHRD_SIT` (IPv6 in IPv4).
    public static let sit = Self(rawValue: 776)
    /// `ARPHRD_IPGRE`.
    public static let gre = Self(rawValue: 778)
    /// `ARPHRD_IEEE80211_RADIOTAP`: a WiFi interface in monitor mode.
    public static let wirelessMonitor = Self(rawValue: 803)
    /// `ARPHRD_IP6GRE`.
    public static let gre6 = Self(rawValue: 823)
    /// `ARPHRD_NONE`: no hardware header (tun, WireGuard, raw-ip modems).
    public static let none = Self(rawValue: 0xFFFE)

    /// Whether it is a WiFi interface in monitor mode: `ARPHRD_IEEE80211`, without or with radio headers.
    public var isMonitor: Bool { (801...Self.wirelessMonitor.rawValue).contains(rawValue) }
}
