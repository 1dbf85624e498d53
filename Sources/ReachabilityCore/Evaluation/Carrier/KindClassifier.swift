/// Classifies an interface by what is known of it.
///
/// The evidence, in order of precedence: the user's rules, `IFLA_INFO_KIND`, the hardware type, nl80211, the
/// driver's name, `DEVTYPE`; Ethernet without any of these is wired.
struct KindClassifier {
    /// The user's own rules, first match wins.
    let rules: [KindRule]

    /// Returns the kind of an interface, and its source.
    ///
    /// - Parameters:
    ///   - link: The interface.
    ///   - snapshot: The model, with what nl80211, uevents and sysfs say of it.
    /// - Returns: The kind; ``InterfaceKind/other`` if it may be a modem.
    func classify(_ link: Link, in snapshot: NetworkSnapshot) -> (kind: InterfaceKind, source: KindSource) {
        if !rules.isEmpty, let rule = rules.first(where: { $0.matches(link.name) }) { return (rule.kind, .rule) }
        if let kind = link.kind { return (Self.kind(ofInfoKind: kind), .infoKind) }
        if link.flags.contains(.loopback) { return (.loopback, .arphrd) }
        if let kind = Self.kind(of: link.hardwareType) { return (kind, .arphrd) }
        if !snapshot.devices.wireless.isEmpty, snapshot.devices.wireless[link.index] != nil { return (.wifi, .nl80211) }
        let device = snapshot.devices.isEmpty ? nil : snapshot.devices[link.index]
        if let driver = device?.driver, DeviceDriver(driver) == .modem { return (.cellular, .driver) }
        if let type = device?.deviceType, let kind = Self.kind(ofDeviceType: type) { return (kind, .devtype) }
        if link.isModemByName { return (.cellular, .arphrd) }
        guard link.hardwareType == .ethernet else { return (.other, .arphrd) }
        return identifies(link.index, device, snapshot.devices) ? (.wired, .plain) : (.other, .plain)
    }

    /// `IFLA_INFO_KIND`, the `kind` of each driver's `rtnl_link_ops`.
    ///
    /// Point-to-point sessions (`ppp`) run over modems and over DSL, so `ppp` implies no kind.
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

    /// The hardware types that imply a kind.
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

    /// Whether enough is known of an interface's device to exclude a modem.
    ///
    /// In recordings of other programs, where no device was examined, what the messages do not say is assumed to be
    /// absent.
    private func identifies(_ index: InterfaceIndex, _ device: UeventMessage?, _ devices: DeviceTable) -> Bool {
        if case .failed = device?.probe { return false }
        return devices.awaited.isEmpty || !devices.awaited.contains(index)
    }

    /// Returns why it is not known whether an interface is a modem; nil if it is known.
    static func uncertainty(about interface: NetworkInterface, _ devices: DeviceTable) -> ReachabilityReason? {
        guard interface.kind == .other, interface.kindSource != .rule, interface.kindSource != .infoKind else {
            return nil
        }
        if devices.awaited.contains(interface.index) { return .deviceProbing }
        if case .failed = devices[interface.index]?.probe { return .deviceUnidentified }
        return nil
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

/// The findings about an interface's device, by source, and the conclusion from all of them.
///
/// Each source may fail: sysfs may show another network namespace, a sandbox may forbid ioctl(2). Only if no source is
/// left that distinguishes a modem from Ethernet is the device unidentified.
package struct DeviceFindings: Sendable, Hashable {
    /// The interface index.
    package var index: InterfaceIndex
    /// Its name.
    package var name: String
    /// Whether nl80211 knows it.
    package var isWireless = false
    /// The driver's name by ethtool (`ETHTOOL_GDRVINFO`); nil with ``driverFault`` if it is not available.
    package var driver: String?
    /// Why there is no ``driver``, in words.
    package var driverFault: String?
    /// Whether sysfs shows this very interface.
    package var isInSysfs = false
    /// `DEVTYPE` by sysfs.
    package var deviceType: String?

    /// Makes empty findings.
    package init(index: InterfaceIndex, name: String) {
        self.index = index
        self.name = name
    }

    /// The findings as a uevent, for the model and for recordings.
    package var message: UeventMessage {
        var message = UeventMessage(action: .add, interface: name, index: index, deviceType: deviceType)
        message.driver = driver
        message.probe = fault.map(DeviceProbe.failed) ?? .answered
        return message
    }

    private var fault: String? {
        guard !isWireless, !isInSysfs else { return nil }
        let missingSysfs = "sysfs does not show this interface"
        guard let driver, !driver.isEmpty else {
            return "\(missingSysfs), and its driver cannot be queried: \(driverFault ?? "it has no name")"
        }
        guard DeviceDriver(driver) == .tethering else { return nil }
        return "\(missingSysfs), and its driver \(driver) serves modems and others alike"
    }
}

/// The type of device that a driver's name implies, as ethtool and sysfs report it.
enum DeviceDriver: Sendable, Hashable {
    /// Modems of mobile networks only.
    case modem
    /// Tethered phones, but also Ethernet adapters or modems.
    case tethering
    /// The name implies nothing.
    case other

    /// Looks a name up: drivers/net/usb, drivers/net/wwan, drivers/net/mhi_net.c and similar in Linux 6.
    ///
    /// `cdc_ether`, `cdc_ncm` and `rndis_host` serve whatever speaks their standard: modems, phones and 2.5 Gbit/s
    /// Ethernet adapters; `DEVTYPE` distinguishes the modems among them.
    init(_ name: String) {
        self =
            switch name {
            case "qmi_wwan", "qmi_wwan_q", "GobiNet", "cdc_mbim", "huawei_cdc_ncm", "sierra_net", "hso", "lg-vl600",
                "kalmia", "cdc-phonet", "mhi_net", "mhi_wwan_mbim", "iosm", "mtk_t7xx", "t7xx", "bam-dmux", "ipa",
                "rmnet", "wwan":
                .modem
            case "rndis_host", "ipheth", "cdc_ether", "cdc_ncm", "cdc_eem", "cdc_subset": .tethering
            default: .other
            }
    }
}
