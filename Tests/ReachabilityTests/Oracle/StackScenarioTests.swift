import NetworkLab
import Testing

@testable import Reachability
@testable import ReachabilityCore

/// Stacked interfaces over uplinks, with each state compared with the packets that leave.
@Suite struct StackScenarioTests {
    private struct Scenario {
        let world: StackWorld
        let probe: EngineProbe
        var rtnl: Rtnl { world.machine.rtnl }

        init() throws {
            world = try StackWorld()
            var configuration = MonitorConfiguration()
            configuration.kindRules = StackWorld.kinds
            probe = try EngineProbe(in: world.machine, configuration)
        }

        /// Waits for a state, and for the packets in it: to each half of the internet they leave only through these
        /// uplinks, and through all of `halves`.
        func expect(
            _ status: ReachabilityStatus,
            _ uplinks: Set<String>,
            reason: ReachabilityReason? = nil,
            halves: [Set<String>]? = nil
        ) throws {
            let names = uplinks.sorted()
            try probe.wait(for: "\(status.name) over \(names), \(reason?.rawValue ?? "well")") { change in
                change.status == status && change.path.carriers.map(\.name).sorted() == names
                    && (reason.map(change.path.reasons.contains) ?? true)
            }
            for (egress, least) in zip(try world.send(), halves ?? [uplinks, uplinks]) {
                #expect(egress.isSuperset(of: least) && egress.isSubset(of: uplinks), "packets leave by \(egress)")
            }
        }

        func addTunnel(source: String? = nil) throws {
            try rtnl.createVXLAN(
                "vx0",
                id: 7,
                local: source.flatMap { IPAddress($0) },
                remote: IPAddress(StackWorld.endpoint)
            )
            try rtnl.setUp("vx0")
            try world.addAddress("vx0", "10.7.0")
            try rtnl.addRoute("default", via: "10.7.0.1", on: "vx0")
        }
    }

    @Test func `a tunnel with a fixed source is routed by the rules on that source`() throws {
        let scenario = try Scenario()
        defer { scenario.probe.engine.stop() }
        try scenario.rtnl.addRoute("\(StackWorld.endpoint)/32", via: "10.0.1.1", on: "wlan0")
        var rule = RuleMessage(family: .ipv4)
        rule.priority = 100
        rule.source = .init(try #require(IPAddress("10.0.2.2")), length: 32)
        rule.table = .init(rawValue: 103)
        try scenario.rtnl.addRule(rule)
        try scenario.addTunnel(source: "10.0.2.2")
        try scenario.expect(.cellular, ["wwan0"])
        try scenario.rtnl.deleteRule(rule)
        try scenario.expect(.wifi, ["wlan0"])
    }

    @Test func `a tunnel is reachable only with the host route to its endpoint`() throws {
        let scenario = try Scenario()
        defer { scenario.probe.engine.stop() }
        try scenario.rtnl.addRoute("\(StackWorld.endpoint)/32", via: "10.0.2.1", on: "wwan0")
        try scenario.addTunnel()
        try scenario.expect(.cellular, ["wwan0"])
        try scenario.rtnl.deleteRoute("\(StackWorld.endpoint)/32", via: "10.0.2.1", on: "wwan0")
        try scenario.expect(.notReachable, [], reason: .tunnelLoop)
        try scenario.rtnl.addRoute("\(StackWorld.endpoint)/32", via: "10.0.1.1", on: "wlan0")
        try scenario.expect(.wifi, ["wlan0"])
    }

    @Test func `a bridge is not reachable when the cable is unplugged, even if a container keeps it up`() throws {
        let scenario = try Scenario()
        defer { scenario.probe.engine.stop() }
        try scenario.rtnl.setMaster("eth0", to: "br0")
        try scenario.rtnl.addRoute("default", via: "10.9.0.1", on: "br0")
        try scenario.expect(.wifi, ["eth0"])
        try scenario.world.world.rtnl.setDown("far-eth0")
        try scenario.expect(.notReachable, [], reason: .noCarrier)
        #expect(try scenario.rtnl.link("br0").operationalState == .up)
        try scenario.world.world.rtnl.setUp("far-eth0")
        try scenario.expect(.wifi, ["eth0"])
        try scenario.rtnl.deleteLink("eth0")
        try scenario.expect(.notReachable, [], reason: .noCarrier)
    }

    @Test func `a path over several next hops is cellular while one of them is`() throws {
        let scenario = try Scenario()
        defer { scenario.probe.engine.stop() }
        var route = RouteMessage(destination: .all(.ipv4))
        route.nextHops = [
            .init(interface: 10, gateway: IPAddress("10.0.0.1")), .init(interface: 12, gateway: IPAddress("10.0.2.1")),
        ]
        try scenario.rtnl.route(.add, route)
        try scenario.expect(.cellular, ["eth0", "wwan0"])
        try scenario.world.world.rtnl.setDown("far-wwan0")
        try scenario.expect(.wifi, ["eth0"], reason: .deadNextHop)
    }

    @Test func `a next hop whose source has its own routes carries the packets that its rules allow`() throws {
        let scenario = try Scenario()
        defer { scenario.probe.engine.stop() }
        var route = RouteMessage(destination: .all(.ipv4))
        route.nextHops = [
            .init(interface: 10, gateway: IPAddress("10.0.0.1")), .init(interface: 11, gateway: IPAddress("10.0.1.1")),
        ]
        try scenario.rtnl.route(.add, route)
        var refusal = RouteMessage(destination: .all(.ipv4))
        (refusal.type, refusal.table) = (.unreachable, .init(rawValue: 1_000))
        try scenario.rtnl.route(.add, refusal)
        try scenario.rtnl.addRoute("192.0.0.0/3", via: "10.0.2.1", on: "wwan0", table: refusal.table)
        try scenario.expect(.wifi, ["eth0", "wlan0"])
        var rule = RuleMessage(family: .ipv4)
        (rule.priority, rule.table) = (100, refusal.table)
        rule.source = .init(try #require(IPAddress("10.0.0.2")), length: 32)
        try scenario.rtnl.addRule(rule)
        // Before Linux 6.16 some connections with the source of wlan0 leave through eth0.
        try scenario.expect(.cellular, ["eth0", "wlan0", "wwan0"], halves: [["wlan0"], ["wlan0", "wwan0"]])
        try scenario.world.world.rtnl.setDown("far-wwan0")
        try scenario.expect(.wifi, ["eth0", "wlan0"], reason: .deadNextHop, halves: [["wlan0"], ["wlan0"]])
        try scenario.world.world.rtnl.setDown("far-wlan0")
        try scenario.probe.wait(for: "not reachable") { $0.path.status == .notReachable }
    }

    @Test func `a modem that only older kernels choose with another next hop's source adds its cost`() throws {
        let scenario = try Scenario()
        defer { scenario.probe.engine.stop() }
        var route = RouteMessage(destination: .all(.ipv4))
        route.nextHops = [
            .init(interface: 10, gateway: IPAddress("10.0.0.1")), .init(interface: 12, gateway: IPAddress("10.0.2.1")),
        ]
        try scenario.rtnl.route(.add, route)
        var rule = RuleMessage(family: .ipv4)
        (rule.priority, rule.table) = (100, .init(rawValue: 101))
        rule.source = .init(try #require(IPAddress("10.0.2.2")), length: 32)
        try scenario.rtnl.addRule(rule)
        // The kernel chooses the uplinks: since Linux 6.16 only the first.
        try scenario.probe.wait(for: "cellular") { $0.path.status == .cellular }
        let egress = try scenario.world.send()
        #expect(egress.allSatisfy { $0.contains("eth0") })
        try scenario.world.world.rtnl.setDown("far-eth0")
        try scenario.probe.wait(for: "not reachable") { $0.path.status == .notReachable }
    }
}
