/// Tells what an interface is, from what is known of it.
///
/// The evidence in the order in which it counts: the user's rules, `IFLA_INFO_KIND`, the hardware type, nl80211, the
/// driver's name, `DEVTYPE`; Ethernet that none of these says anything of is wired.
struct KindClassifier {
    /// The user's own rules, first match wins.
    let rules: [KindRule]

    /// What an interface is, and how that is known.
    ///
    /// - Parameters:
    ///   - link: The interface.
    ///   - snapshot: What nl80211, uevents and a look at the device said of it.
    /// - Returns: The kind; ``InterfaceKind/other`` where it could be a modem for all that is known.
    func classify(_ link: Link, in snapshot: NetworkSnapshot) -> (kind: InterfaceKind, source: KindSource) {
        if !rules.isEmpty, let rule = rules.first(where: { $0.matches(link.name) }) { return (rule.kind, .rule) }
        if let kind = link.kind { return (Self.kind(ofInfoKind: kind), .infoKind) }
        if link.flags.contains(.loopback) { return (.loopback, .arphrd) }
        if let kind = Self.kind(of: link.hardwareType) { return (kind, .arphrd) }
        if !snapshot.wireless.isEmpty, snapshot.wireless[link.index] != nil { return (.wifi, .nl80211) }
        let device = snapshot.devices.isEmpty ? nil : snapshot.devices[link.index]
        if let driver = device?.driver, DeviceDriver(driver) == .modem { return (.cellular, .driver) }
        if let type = device?.deviceType, let kind = Self.kind(ofDeviceType: type) { return (kind, .devtype) }
        if link.isModemByName { return (.cellular, .arphrd) }
        guard link.hardwareType == .ethernet else { return (.other, .arphrd) }
        return snapshot.identifies(link.index, device) ? (.wired, .plain) : (.other, .plain)
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
            "vti", "vti6", "xfrm", "vxlan", "geneve", "bareudp", "gtp", "pfcp", "amt", "ovpn", "ovpn-dco", "l2tp",
            "l2tpeth":
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
        case "wireguard", "vxlan", "geneve", "bareudp", "gtp", "pfcp", UeventMessage.l2tpType: .tunnel
        case "bluetooth", "ppp": .other
        default: nil
        }
    }
}

extension Link {
    /// Whether this is a modem as Qualcomm's and MediaTek's own kernels have them: raw IP without any device type.
    fileprivate var isModemByName: Bool {
        switch hardwareType {
        case .ethernet, .rawIP, .vendorRawIP:
            name.hasPrefix("rmnet") || name.hasPrefix("rev_rmnet") || name.hasPrefix("ccmni")
        default: false
        }
    }
}

extension NetworkSnapshot {
    /// Whether enough is known of an interface's device to say that it is no modem.
    ///
    /// Where nobody looked, in recordings of others, what the kernel's messages do not say is taken not to be.
    fileprivate func identifies(_ index: InterfaceIndex, _ device: UeventMessage?) -> Bool {
        if case .failed = device?.probe { return false }
        return awaitedDevices.isEmpty || !awaitedDevices.contains(index)
    }

    /// What is wrong with what is known of an interface, if that leaves open whether it is a modem.
    func doubt(about interface: NetworkInterface) -> Reason? {
        guard interface.kind == .other, interface.kindSource != .rule, interface.kindSource != .infoKind else {
            return nil
        }
        if awaitedDevices.contains(interface.index) { return .deviceProbing }
        if case .failed = devices[interface.index]?.probe { return .deviceUnidentified }
        return nil
    }
}
