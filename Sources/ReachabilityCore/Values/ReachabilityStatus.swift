/// Whether the machine can reach the network, and over which kind of carrier.
///
/// The raw values are those of AFNetworking's `AFNetworkReachabilityStatus`.
public enum ReachabilityStatus: Int8, Sendable, Hashable, CaseIterable {
    /// Not started, reading the kernel's tables for the first time, or unable to read netlink; the reasons say which.
    case unknown = -1
    /// There is no usable default path.
    case notReachable = 0
    /// The best default path leaves through a cellular modem.
    case cellular = 1
    /// The best default path leaves through Wi-Fi or another link that is not cellular.
    case wifi = 2

    /// Whether there is a usable default path.
    public var isReachable: Bool { self == .cellular || self == .wifi }

    /// The name in the tool's output and its JSON.
    public var name: String {
        switch self {
        case .unknown: "unknown"
        case .notReachable: "notReachable"
        case .cellular: "cellular"
        case .wifi: "wifi"
        }
    }
}

/// The index of a network interface (`ifindex`), unique in its network namespace while the interface exists.
public typealias InterfaceIndex = Int32

/// The kind of a network interface.
public enum InterfaceKind: String, Sendable, Hashable, CaseIterable {
    /// IEEE 802.11.
    case wifi
    /// A modem for a mobile network.
    case cellular
    /// Ethernet or another wired link.
    case wired
    /// The loopback interface, `lo`.
    case loopback
    /// An interface that encapsulates packets: WireGuard, tun, GRE and others.
    case tunnel
    /// An interface without hardware of its own: bridge, bond, VLAN, veth, dummy and others.
    case virtual
    /// Another kind, or not known.
    case other

    /// Whether interfaces of this kind have hardware of their own.
    var isPhysical: Bool {
        switch self {
        case .wifi, .cellular, .wired, .other: true
        case .loopback, .tunnel, .virtual: false
        }
    }
}

/// The source of an interface's kind.
public enum KindSource: String, Sendable, Hashable, CaseIterable {
    /// A rule given by the user (`--kind wwan*=cellular`).
    case rule
    /// `IFLA_INFO_KIND`.
    case infoKind
    /// The hardware type.
    case arphrd
    /// `DEVTYPE` of the device's uevent.
    case devtype
    /// nl80211 lists the interface.
    case nl80211
    /// The driver's name.
    case driver
    /// No other source: Ethernet without a kind and without a device type.
    case plain
}
