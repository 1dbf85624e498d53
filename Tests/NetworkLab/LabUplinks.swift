package import ReachabilityCore

/// A machine with two uplinks, Wi-Fi and a modem, and the same server's address behind each.
///
/// `wlan0` (192.0.2.2, 2001:db8:1::2) is preferred, with metric 600; `wwan0` (198.51.100.2, 2001:db8:2::2) has 700. Both
/// are veths, of which the program under test is told the kinds. The server's addresses are 203.0.113.7 and
/// 2001:db8:7::7, in each of the two far namespaces.
package final class LabUplinks: Sendable {
    /// The machine.
    package let home: LabNamespace
    /// The network behind Wi-Fi: `ap0` is the other end of `wlan0`.
    package let wifi: LabNamespace
    /// The network behind the modem: `tower0` is the other end of `wwan0`.
    package let cellular: LabNamespace

    /// The kinds that the links stand for.
    package static let kinds = [
        KindRule(pattern: "wlan*", kind: .wifi), KindRule(pattern: "wwan*", kind: .cellular),
    ]

    /// The server's address.
    package static let server = "203.0.113.7"
    /// The server's IPv6 address.
    package static let serverIPv6 = "2001:db8:7::7"

    /// Makes the namespaces and sets both uplinks up.
    package init() throws {
        home = try LabNamespace()
        wifi = try LabNamespace()
        cellular = try LabNamespace()
        try join("wlan0", index: 10, "ap0", index: 20, in: wifi, "192.0.2", "2001:db8:1")
        try join("wwan0", index: 11, "tower0", index: 21, in: cellular, "198.51.100", "2001:db8:2")
        try addWiFiRoutes()
        try addCellularRoutes()
    }

    private func join(
        _ name: String,
        index: InterfaceIndex,
        _ peer: String,
        index peerIndex: InterfaceIndex,
        in far: LabNamespace,
        _ ipv4: String,
        _ ipv6: String
    ) throws {
        try home.rtnl.createVeth(name, .init(index: index), peer: peer, .init(index: peerIndex, namespace: far))
        try home.rtnl.setUp(name)
        try far.rtnl.setUp(peer)
        try home.rtnl.addAddress("\(ipv4).2/24", on: name)
        try home.rtnl.addAddress("\(ipv6)::2/64", on: name)
        try far.rtnl.addAddress("\(ipv4).1/24", on: peer)
        try far.rtnl.addAddress("\(ipv6)::1/64", on: peer)
        try far.rtnl.addAddress("\(Self.server)/32", on: "lo")
        try far.rtnl.addAddress("\(Self.serverIPv6)/128", on: "lo")
    }

    /// Adds the default routes over Wi-Fi, which are removed when the link goes down.
    package func addWiFiRoutes() throws {
        try home.rtnl.addRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        try home.rtnl.addRoute("default", via: "2001:db8:1::1", on: "wlan0", metric: 600)
    }

    /// Adds the default routes over the modem.
    package func addCellularRoutes() throws {
        try home.rtnl.addRoute("default", via: "198.51.100.1", on: "wwan0", metric: 700)
        try home.rtnl.addRoute("default", via: "2001:db8:2::1", on: "wwan0", metric: 700)
    }

    /// Removes the carrier of Wi-Fi; the routes stay, and IPv4's are still preferred.
    package func loseWiFi() throws { try wifi.rtnl.setDown("ap0") }

    /// Restores the carrier of Wi-Fi.
    ///
    /// The far end's IPv6 addresses are removed with its link, and added again.
    package func regainWiFi() throws {
        try wifi.rtnl.setUp("ap0")
        try? wifi.rtnl.addAddress("2001:db8:1::1/64", on: "ap0")
    }

    /// The number of packets that an interface of the machine has sent.
    package func sentPackets(_ interface: String) throws -> UInt64 { try home.sentPackets(interface) }
}
