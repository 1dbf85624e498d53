import NetworkLab
import ReachabilityCore

/// A fault that cuts a machine off, set up in the real kernel, with the expected diagnosis.
///
/// The machine's eth0 leads to sw0, and wwan0 to tower0, both in another namespace.
enum BrokenSetup: String, CaseIterable {
    // The seven most common faults.
    case noCarrier
    case noAddress
    case noDefaultRoute
    case unreachableOnTop
    case deadPreferredLink
    case sourceRule
    case expiredAdvertisement
    // Others.
    case noInterface
    case switchedOff
    case linkLocalOnly
    case dormant
    case ruleThatRefuses
    case half
    case bridgeWithoutCarrier
    case tunnelWithoutCarrier

    /// The options that tell the tool the interfaces' kinds.
    static let kinds = ["--kind", "eth0=wired", "--kind", "wwan0=cellular"]

    /// The sentence.
    var text: String {
        switch self {
        case .noCarrier: "eth0 has no carrier"
        case .noAddress: "eth0 has a carrier but no address"
        case .noDefaultRoute: "there is no default route, though eth0 has the address 192.0.2.2"
        case .unreachableOnTop: "an unreachable route hides the default route through eth0"
        case .deadPreferredLink: "eth0 has no carrier, yet the kernel prefers its route to wwan0's"
        case .sourceRule:
            "rule 100 sends what comes from 192.0.2.2 to table 100, which has only an unreachable route"
        case .expiredAdvertisement:
            "the default route through eth0 has expired, as the router fe80::1 advertises it no more"
        case .noInterface: "there is no network interface but loopback"
        case .switchedOff: "eth0 is switched off (down)"
        case .linkLocalOnly: "no DHCP server answered eth0, which gave itself 169.254.7.9"
        case .dormant: "eth0 waits for the network to let it in (802.1X)"
        case .ruleThatRefuses: "rule 50 refuses all packets (prohibit)"
        case .half: "the routes cover only a part of IPv4: none leads to 215.0.0.1"
        case .bridgeWithoutCarrier: "br0 has no carrier, as none of its ports has one: eth0"
        case .tunnelWithoutCarrier: "vx0 cannot carry packets, as eth0 has no carrier"
        }
    }

    /// The fix.
    var fix: String {
        switch self {
        case .noCarrier, .bridgeWithoutCarrier, .tunnelWithoutCarrier:
            "plug in the cable, and look at what is at its other end"
        case .noAddress: "'dhclient eth0', or 'ip address add ADDRESS/LENGTH dev eth0'"
        case .noDefaultRoute: "'ip route add default via GATEWAY dev eth0'"
        case .unreachableOnTop: "'ip route del unreachable default'"
        case .deadPreferredLink: "'sysctl net.ipv4.conf.eth0.ignore_routes_with_linkdown=1'"
        case .sourceRule: "'ip rule del priority 100'"
        case .expiredAdvertisement: "see whether the router still advertises itself: 'rdisc6 eth0'"
        case .noInterface: "plug in an adapter; 'lspci -k' and 'lsusb' show those that have no driver"
        case .switchedOff: "'ip link set dev eth0 up'"
        case .linkLocalOnly: "check the DHCP server, then 'dhclient eth0'"
        case .dormant: "check the credentials: 'wpa_cli -i eth0 status'"
        case .ruleThatRefuses: "'ip rule del priority 50'"
        case .half: "'ip route add default via 192.0.2.1 dev eth0'"
        }
    }
}
