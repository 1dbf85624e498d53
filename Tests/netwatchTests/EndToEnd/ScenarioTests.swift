import CommandLineLab
import Glibc
import NetworkLab
import ReachabilityCore
import Testing

@Suite struct ScenarioTests {
    /// The long story: each step causes exactly one line.
    @Test func `each change of a machine with Wi-Fi and cellular is one line`() throws {
        let uplinks = try Uplinks()
        let lab = uplinks.lab
        let tool = try ToolProcess(["watch", "--json"] + Uplinks.kinds, in: lab)
        let story = Story(tool.output)
        try story.expect(.none.first, because: "monitor.initial", "path.noRoute")

        // A default route through Wi-Fi, and a cellular one with a higher metric.
        try uplinks.connectWiFi()
        try story.expect(.path("wifi", "wlan0"), because: "route.added")
        try uplinks.connectCellular()

        // The kernel keeps the dead route and prefers it.
        try lab.rtnl.setDown("ap0")
        try story.expect(.none, because: "link.carrier.lost", "path.noCarrier")
        try lab.rtnl.setUp("ap0")
        try story.expect(.path("wifi", "wlan0"), because: "link.carrier.gained")

        // Unless ignore_routes_with_linkdown is set.
        try lab.setSysctl("net.ipv4.conf.all.ignore_routes_with_linkdown", to: 1)
        try lab.rtnl.setDown("ap0")
        try story.expect(.path("cellular", "wwan0"), because: "link.carrier.lost")

        // The kernel flushes the routes silently, and they do not return with the link.
        try lab.rtnl.setUp("ap0")
        try story.expect(.path("wifi", "wlan0"), because: "link.carrier.gained")
        try lab.rtnl.setDown("wlan0")
        try story.expect(.path("cellular", "wwan0"), because: "link.down")
        try lab.rtnl.setUp("wlan0")

        // Nor with the addresses.
        try lab.rtnl.deleteAddress("198.51.100.2/24", on: "wwan0")
        try story.expect(.none, because: "address.removed", "path.noRoute")

        // IPv6 only.
        try lab.rtnl.addAddress("2001:db8::2/64", on: "wwan0")
        try lab.rtnl.addRoute("default", via: "2001:db8::1", on: "wwan0", metric: 1024)
        try story.expect(.path("cellular", "wwan0", ipv4: false, ipv6: true), because: "route.added")

        // An unreachable route with a lower metric.
        var unreachable = RouteMessage(destination: .all(.ipv6))
        unreachable.type = .unreachable
        unreachable.metric = 1
        try lab.rtnl.route(.add, unreachable)
        try story.expect(.none, because: "route.added", "path.unreachable")

        tool.send(SIGINT)
        try story.expectEnd()
        #expect(try tool.exitCode() == 0)
        #expect(try tool.errors.rest() == "")
    }

    @Test func `the first line of a connected machine has its path`() throws {
        let uplinks = try Uplinks()
        try uplinks.connectWiFi()
        try uplinks.connectCellular()
        let tool = try ToolProcess(["--json"] + Uplinks.kinds, in: uplinks.lab)
        let story = Story(tool.output)
        try story.expect(.path("wifi", "wlan0").first, because: "monitor.initial")
        try uplinks.lab.rtnl.deleteRoute("default", via: "192.0.2.1", on: "wlan0", metric: 600)
        try story.expect(.path("cellular", "wwan0"), because: "route.removed")
        tool.send(SIGTERM)
        try story.expectEnd()
        #expect(try tool.exitCode() == 0)
    }
}
