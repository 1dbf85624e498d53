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
