import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// The path as it is read once, from the interfaces that the kernel's lookups name.
@Suite struct EgressQueryTests {
    /// A machine with two uplinks and further interfaces.
    private static func lab() throws -> LabNamespace {
        let lab = try LabNamespace()
        try lab.setSysctl("net.ipv6.conf.default.accept_dad", to: 0)
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        try lab.makeUplink("wwan0", index: 11, address: "2001:db8::2/64")
        try lab.makeUplink("other0", index: 12, address: "198.51.100.2/24")
        return lab
    }

    private static func configuration(_ lab: LabNamespace) -> MonitorConfiguration {
        .init(namespace: .path(lab.path), kindRules: [.init(pattern: "wwan*", kind: .cellular)])
    }

    private static func path(_ lab: LabNamespace) -> NetworkPath? {
        EgressQuery(configuration(lab)).path(within: .seconds(60))
    }

    /// The path as a monitor evaluates it once it has read everything.
    private static func monitoredPath(_ lab: LabNamespace) throws -> NetworkPath {
        let engine = MonitorEngine(configuration(lab)) { _ in }
        try engine.start()
        defer { engine.stop() }
        let view = try engine.view()
        #expect(view.isSettled)
        return view.evaluation.path
    }

    @Test func `the path is that of a monitor`() throws {
        let lab = try Self.lab()
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0", metric: 7)
        #expect(try #require(Self.path(lab)) == Self.monitoredPath(lab))
        #expect(Self.path(lab)?.ipv4?.metric == 7)
        try lab.rtnl.addRoute("default", via: "2001:db8::1", on: "wwan0", family: .ipv6)
        let both = try #require(Self.path(lab))
        #expect(try both == Self.monitoredPath(lab))
        #expect(both.status == .cellular)
        #expect(both.ipv6?.interface.name == "wwan0")
    }

    @Test func `what only a monitor can evaluate is left to it`() throws {
        let lab = try Self.lab()
        #expect(Self.path(lab) == nil)
        try lab.rtnl.createBridge("br0", .init(index: 30))
        try lab.rtnl.setMaster("other0", to: "br0")
        try lab.rtnl.setUp("br0")
        try lab.rtnl.addAddress("203.0.113.2/24", on: "br0")
        try lab.rtnl.addRoute("default", via: "203.0.113.1", on: "br0", metric: 1)
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0", metric: 2)
        #expect(try Self.monitoredPath(lab).interface?.name == "br0")
        #expect(Self.path(lab) == nil)
        try lab.rtnl.deleteLink("br0")
        #expect(Self.path(lab)?.interface?.name == "wan0")
    }

    @Test func `a source that one of several next hops selects is left to a monitor`() throws {
        let lab = try Self.lab()
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0", table: .init(rawValue: 100))
        for source in ["192.0.2.2", "198.51.100.2"] {
            var rule = RuleMessage(family: .ipv4)
            (rule.priority, rule.table) = (100, .init(rawValue: 100))
            rule.source = IPPrefix(try #require(IPAddress(source)), length: 32)
            try lab.rtnl.addRule(rule)
        }
        #expect(Self.path(lab) == nil)
        var route = RouteMessage(destination: .all(.ipv4))
        route.nextHops = [
            .init(interface: 10, gateway: IPAddress("192.0.2.1")),
            .init(interface: 12, gateway: IPAddress("198.51.100.1")),
        ]
        try lab.rtnl.route(.add, route)
        #expect(Self.path(lab) == nil)
        #expect(try Self.monitoredPath(lab).ipv4?.interface.name == "wan0")
    }

    @Test func `a namespace that cannot be entered gives none`() {
        #expect(EgressQuery(.init(namespace: .path("/no/such/file"))).path(within: .seconds(60)) == nil)
    }
}
