import CommandLineLab
import NetworkLab
import ReachabilityCore
import Testing

@Suite struct ExplainCandidatesTests {
    /// Runs the tool and returns its lines.
    private func explain(_ uplinks: Uplinks, _ options: [String] = [], exit code: Int32) throws -> [String] {
        let tool = try ToolProcess(["explain", "--timeout", "100s"] + options, in: uplinks.lab)
        let text = try tool.output.rest()
        #expect(try tool.exitCode() == code)
        #expect(try tool.errors.rest() == "")
        return text.split(separator: "\n").map(String.init)
    }

    @Test func `a path and a second one with a higher metric are explained`() throws {
        let uplinks = try Uplinks()
        try uplinks.connectWiFi()
        try uplinks.connectCellular()
        let lines = try explain(uplinks, Uplinks.kinds, exit: 0)
        let worse = "not taken: the chosen route's metric is lower; it would work by itself"
        #expect(lines.contains("      default via 192.0.2.1 dev wlan0 metric 600: chosen"))
        #expect(lines.contains("      default via 198.51.100.1 dev wwan0 metric 700: \(worse)"))
        #expect(lines.suffix(2) == ["interfaces:", "  wlan0 (wifi): as --kind says (rule)"])
    }

    @Test func `a lost carrier is explained with the other default route and the fix`() throws {
        let uplinks = try Uplinks()
        try uplinks.connectWiFi()
        try uplinks.connectCellular()
        try uplinks.lab.rtnl.setDown("ap0")
        let before = try explain(uplinks, exit: 1)
        let fix = "    fix: 'sysctl net.ipv4.conf.wlan0.ignore_routes_with_linkdown=1'"
        #expect(before.contains("  a further default would work: via 198.51.100.1 dev wwan0 source 198.51.100.2"))
        #expect(before.contains(fix))
        try uplinks.lab.setSysctl("net.ipv4.conf.wlan0.ignore_routes_with_linkdown", to: 1)
        let after = try explain(uplinks, exit: 0)
        #expect(after.contains("        wlan0 has no carrier, and ignore_routes_with_linkdown is set"))
        #expect(!after.contains(fix))
    }

    @Test func `an unreachable route with a lower metric is explained`() throws {
        let uplinks = try Uplinks()
        try uplinks.connectWiFi()
        var route = RouteMessage(destination: .all(.ipv4))
        route.type = .unreachable
        try uplinks.lab.rtnl.route(.add, route)
        #expect(try explain(uplinks, exit: 1).contains("      unreachable default metric 0: chosen; it refuses"))
    }

    @Test func `a path of IPv6 only, and a table that no rule names, are explained`() throws {
        let uplinks = try Uplinks()
        try uplinks.lab.rtnl.setUp("wwan0")
        try uplinks.lab.rtnl.addAddress("2001:db8::2/64", on: "wwan0")
        try uplinks.lab.rtnl.addRoute("default", via: "2001:db8::1", on: "wwan0", metric: 1024)
        let stray = RouteTableID(rawValue: 77)
        try uplinks.lab.rtnl.addRoute("default", via: "2001:db8::9", on: "wwan0", metric: 1, table: stray)
        let lines = try explain(uplinks, exit: 0)
        #expect(lines.contains("      default via 2001:db8::1 dev wwan0 metric 1024: chosen"))
        #expect(lines.contains("  no rule leads to table 77: an unmarked, unbound socket does not use it"))
    }
}
