import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// The carriers of a tunnel on the real kernel.
@Suite struct TunnelWatchTests {
    /// A default route through a VXLAN tunnel, a second one through a Wi-Fi uplink, and a modem.
    private func lab(remote: String) throws -> LabNamespace {
        let lab = try LabNamespace()
        try lab.makeUplink("wlan0", index: 10, address: "192.0.2.2/24")
        try lab.makeUplink("wwan0", index: 11, address: "203.0.113.2/24")
        try lab.rtnl.createVXLAN("vx0", id: 7, remote: IPAddress(remote))
        try lab.rtnl.setUp("vx0")
        try lab.rtnl.addAddress("10.9.0.2/24", on: "vx0")
        try lab.rtnl.addRoute("default", via: "10.9.0.1", on: "vx0")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        return lab
    }

    private func probe(_ lab: LabNamespace) throws -> EngineProbe {
        var configuration = MonitorConfiguration()
        configuration.kindRules = [.init(pattern: "wlan*", kind: .wifi), .init(pattern: "wwan*", kind: .cellular)]
        return try EngineProbe(in: lab, configuration)
    }

    @Test func `the route to the endpoint decides, in the first state and when it changes`() throws {
        let lab = try lab(remote: "198.51.100.7")
        try lab.rtnl.addRoute("198.51.100.7", via: "203.0.113.1", on: "wwan0")
        let probe = try probe(lab)
        defer { probe.engine.stop() }
        let first = try probe.wait(for: .cellular)
        #expect(first.event == .state)
        #expect(first.path.interface?.name == "vx0")
        #expect(first.path.carriers.map(\.name) == ["wwan0"])
        // Without it the default route leads into the tunnel, and the kernel drops what the tunnel sends.
        try lab.rtnl.deleteRoute("198.51.100.7", via: "203.0.113.1", on: "wwan0")
        let lost = try probe.wait(for: .notReachable)
        #expect(lost.path.reasons.contains(.tunnelLoop))
        try lab.rtnl.addRoute("198.51.100.7", via: "192.0.2.1", on: "wlan0")
        try probe.wait(for: .wifi)
        #expect(probe.changes.all.last?.path.carriers.map(\.name) == ["wlan0"])
    }

    @Test func `the carrier below a tunnel is the tunnel's carrier`() throws {
        let lab = try lab(remote: "198.51.100.7")
        try lab.rtnl.addRoute("198.51.100.7", via: "192.0.2.1", on: "wlan0")
        let probe = try probe(lab)
        defer { probe.engine.stop() }
        try probe.wait(for: .wifi)
        try lab.rtnl.setDown("far-wlan0")
        let lost = try probe.wait(for: .notReachable)
        #expect(lost.path.reasons.contains(.noCarrier))
        try lab.rtnl.setUp("far-wlan0")
        try probe.wait(for: .wifi)
        #expect(probe.engine.counters.mismatches == 0)
    }

    @Test func `a tunnel over IPv6 follows the IPv6 routes`() throws {
        let lab = try lab(remote: "2001:db8:7::7")
        try lab.rtnl.addAddress("2001:db8::2/64", on: "wwan0")
        try lab.rtnl.addRoute("2001:db8:7::/48", via: "2001:db8::1", on: "wwan0", family: .ipv6)
        let probe = try probe(lab)
        defer { probe.engine.stop() }
        let first = try probe.wait(for: .cellular)
        #expect(first.path.carriers.map(\.name) == ["wwan0"])
    }
}
