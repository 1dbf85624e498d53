/// Tells what an interface is, from what is known of it.
///
/// The evidence in the order in which it counts: the user's rules, `IFLA_INFO_KIND`, the hardware type, `DEVTYPE`;
/// Ethernet that none of these says anything of is wired. What sysfs, nl80211 or a driver says of a device reaches
/// this through ``NetworkSnapshot/devices``.
struct KindClassifier {
    /// The user's own rules, first match wins.
    let rules: [KindRule]

    /// What an interface is, and how that is known.
    func classify(_ link: Link, _ device: UeventMessage?) -> (kind: InterfaceKind, source: KindSource) {
        if !rules.isEmpty, let rule = rules.first(where: { $0.matches(link.name) }) { return (rule.kind, .rule) }
        if let kind = link.kind { return (Self.kind(ofInfoKind: kind), .infoKind) }
        if link.flags.contains(.loopback) { return (.loopback, .arphrd) }
        if let kind = Self.kind(of: link.hardwareType) { return (kind, .arphrd) }
        if let type = device?.deviceType, let kind = Self.kind(ofDeviceType: type) { return (kind, .devtype) }
        return link.hardwareType == .ethernet ? (.wired, .plain) : (.other, .arphrd)
    }

    /// `IFLA_INFO_KIND`, the `kind` of each driver's `rtnl_link_ops`.
    ///
    /// Point-to-point sessions (`ppp`) run over modems and over DSL alike, so they are of no kind by themselves.
    private static func kind(ofInfoKind kind: String) -> InterfaceKind {
        switch kind {
        case "veth", "bridge", "vlan", "bond", "team", "macvlan", "macvtap", "ipvlan", "ipvtap", "dummy", "ifb", "vrf",
            "netkit", "hsr", "macsec", "batadv", "netdevsim", "nlmon", "vcan", "vxcan", "vsockmon", "failover":
            .virtual
        case "wireguard", "tun", "gre", "gretap", "erspan", "ip6gre", "ip6gretap", "ip6erspan", "ipip", "ip6tnl", "sit",
            "vti", "vti6", "xfrm", "vxlan", "geneve", "bareudp", "gtp", "amt", "ovpn", "ovpn-dco", "l2tp":
            .tunnel
        case "wwan", "rmnet": .cellular
        case "virt_wifi": .wifi
        case "dsa", "ipoib": .wired
        default: .other
        }
    }

    /// The hardware types that leave no doubt.
    private static func kind(of hardware: HardwareType) -> InterfaceKind? {
        switch hardware {
        case .loopback: .loopback
        case .tunnel, .tunnel6, .sit, .gre, .gre6: .tunnel
        case .rawIP: .cellular
        default: nil
        }
    }

    /// `DEVTYPE`, the name of a device's `device_type`.
    private static func kind(ofDeviceType type: String) -> InterfaceKind? {
        switch type {
        case "wlan": .wifi
        case "wwan": .cellular
        case "gadget", "dsa": .wired
        case "bridge", "bond", "vlan", "macvlan", "hsr", "macsec": .virtual
        case "wireguard", "vxlan", "geneve", "bareudp", "gtp": .tunnel
        case "bluetooth", "ppp": .other
        default: nil
        }
    }
}

extension InterfaceKind {
    /// Whether such an interface carries packets by itself, over hardware of its own.
    var isPhysical: Bool {
        switch self {
        case .wifi, .cellular, .wired, .other: true
        case .loopback, .tunnel, .virtual: false
        }
    }
}
