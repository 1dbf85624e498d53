/// The kernel's number of a network interface (`ifindex`), unique in its namespace while the interface exists.
public typealias InterfaceIndex = Int32

/// What an interface is.
public enum InterfaceKind: String, Sendable, Hashable, CaseIterable {
    /// IEEE 802.11.
    case wifi
    /// A mobile network's modem.
    case cellular
    /// Ethernet, or another cable.
    case wired
    /// `lo`.
    case loopback
    /// WireGuard, tun, GRE and others that carry packets within packets.
    case tunnel
    /// Bridge, bond, VLAN, veth, dummy and others that have no hardware of their own.
    case virtual
    /// None of these, or not known.
    case other

    /// Whether such an interface carries packets by itself, over hardware of its own.
    var isPhysical: Bool {
        switch self {
        case .wifi, .cellular, .wired, .other: true
        case .loopback, .tunnel, .virtual: false
        }
    }
}

/// How an interface's kind was found out.
public enum KindSource: String, Sendable, Hashable, CaseIterable {
    /// A rule of the user's (`--kind wwan*=cellular`).
    case rule
    /// `IFLA_INFO_KIND`.
    case infoKind
    /// The hardware type.
    case arphrd
    /// `DEVTYPE` of the device's uevent.
    case devtype
    /// nl80211 knows the interface.
    case nl80211
    /// The driver's name.
    case driver
    /// The kernel tells nothing special: Ethernet without kind and without device type.
    case plain
}
