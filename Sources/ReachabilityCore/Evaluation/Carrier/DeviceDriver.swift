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
