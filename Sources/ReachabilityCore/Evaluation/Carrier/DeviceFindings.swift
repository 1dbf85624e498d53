/// What a look at an interface's device gave: each way by itself, and what follows from all.
///
/// Each way may fail: sysfs may show another network namespace, a sandbox may forbid ioctl(2). Only where none is left
/// that could tell a modem from Ethernet is the device unidentified.
public struct DeviceFindings: Sendable, Hashable {
    /// The interface's number.
    public var index: InterfaceIndex
    /// Its name.
    public var name: String
    /// Whether nl80211 knows it.
    public var isWireless = false
    /// The driver's name by ethtool (`ETHTOOL_GDRVINFO`); nil with ``driverFault`` if it can't be had.
    public var driver: String?
    /// Why there is no ``driver``, in words.
    public var driverFault: String?
    /// Whether sysfs shows this very interface.
    public var isInSysfs = false
    /// `DEVTYPE` by sysfs.
    public var deviceType: String?

    /// Makes findings of nothing.
    public init(index: InterfaceIndex, name: String) {
        self.index = index
        self.name = name
    }

    /// What was found, in the form of a uevent, for the model and for recordings.
    public var message: UeventMessage {
        var message = UeventMessage(action: .add, interface: name, index: index, deviceType: deviceType)
        message.driver = driver
        message.probe = fault.map(DeviceProbe.failed) ?? .answered
        return message
    }

    private var fault: String? {
        guard !isWireless, !isInSysfs else { return nil }
        let blindness = "sysfs does not show this interface"
        guard let driver, !driver.isEmpty else {
            return "\(blindness), and its driver can't be asked: \(driverFault ?? "it has no name")"
        }
        guard DeviceDriver(driver) == .tethering else { return nil }
        return "\(blindness), and its driver \(driver) serves modems and others alike"
    }
}

/// What a driver's name says of the device behind an interface, as ethtool and sysfs give it.
enum DeviceDriver: Sendable, Hashable {
    /// It drives modems of mobile networks and nothing else.
    case modem
    /// It drives tethered phones, and also Ethernet adapters or modems.
    case tethering
    /// It says nothing.
    case other

    /// Looks up a name: drivers/net/usb, drivers/net/wwan, drivers/net/mhi_net.c and their like in Linux 6.
    ///
    /// `cdc_ether`, `cdc_ncm` and `rndis_host` serve whatever speaks their standard: modems, phones and 2.5 Gbit/s
    /// Ethernet adapters alike; `DEVTYPE` tells the modems among them.
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
