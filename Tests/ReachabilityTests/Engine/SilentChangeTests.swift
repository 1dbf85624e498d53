import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// Routes and addresses that the real kernel removes without a message.
@Suite struct SilentChangeTests {
    @Test func `an IPv4 default route is removed with its link, and another takes over`() throws {
        let lab = try Self.makeTwoUplinks()
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        #expect(try probe.engine.view().evaluation.path.interface?.name == "wan0")
        try lab.rtnl.setDown("wan0")
        try probe.wait(for: "wan1") { $0.path.interface?.name == "wan1" }
        try lab.rtnl.setDown("wan1")
        let change = try probe.wait(for: .notReachable)
        #expect(change.reasons.contains(.routeFlushed))
        #expect(try probe.engine.view().snapshot.routes(.ipv4, .main).isEmpty)
        #expect(probe.statuses == [.wifi, .wifi, .notReachable])
    }

    @Test func `an IPv4 default route is removed with its preferred source`() throws {
        let lab = try Self.makeTwoUplinks()
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        #expect(try probe.engine.view().isSettled)
        try lab.rtnl.deleteAddress("192.0.2.2/24", on: "wan0")
        try probe.wait(for: "wan1") { $0.path.interface?.name == "wan1" }
        #expect(try probe.engine.view().isSettled)
    }

    @Test func `an IPv4 default route is removed when its link is deleted`() throws {
        let lab = try Self.makeTwoUplinks()
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        #expect(try probe.engine.view().isSettled)
        try lab.rtnl.deleteLink("wan0")
        try probe.wait(for: "wan1") { $0.path.interface?.name == "wan1" }
        #expect(try probe.engine.view().isSettled)
    }

    @Test func `a nexthop object is removed with its link's carrier, and its IPv4 route with it`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        try lab.rtnl.addNexthop(7, via: "192.0.2.1", on: "wan0")
        var route = RouteMessage(destination: .all(.ipv4))
        route.nexthopID = 7
        try lab.rtnl.route(.add, route)
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        #expect(try probe.engine.view().evaluation.path.status == .wifi)
        try lab.rtnl.setDown("far-wan0")
        try probe.wait(for: .notReachable)
        let view = try probe.engine.view()
        #expect(view.isSettled)
        #expect(view.snapshot.nexthops.keys.isEmpty)
        #expect(view.snapshot.routes(.ipv4, .main).isEmpty)
    }

    @Test func `an expired route is removed once the kernel confirms it`() throws {
        // A slow machine may take longer than a short lifetime until the first state.
        let isShown = try [5, 50].contains { try isRemoved(after: .seconds($0)) }
        #expect(isShown)
    }

    /// Lets a route expire; returns false if it had expired before the engine had read it.
    private func isRemoved(after lifetime: Duration) throws -> Bool {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "2001:db8::2/64")
        var route = RouteMessage(destination: .all(.ipv6))
        route.nextHops = [.init(interface: 10, gateway: IPAddress("2001:db8::1"))]
        route.lifetime = lifetime
        try lab.rtnl.route(.add, route)
        let probe = try EngineProbe(in: lab)
        defer { probe.engine.stop() }
        let changes = try probe.changes.wait(for: "wifi, or the end of the route") { changes in
            changes.contains { $0.status == .wifi || $0.reasons.contains(.noRoute) }
        }
        guard changes.contains(where: { $0.status == .wifi }) else { return false }
        // The first state may come from the kernel's lookups, before the routes have been read.
        let view = try probe.engine.view()
        let expires = view.snapshot.routes(.ipv6, .main).contains { $0.expiry != nil }
        guard view.isSettled, expires else { return false }
        let all = try probe.changes.wait(for: "the end of the route", within: lifetime + .seconds(60)) { changes in
            changes.last?.status == .notReachable
        }
        #expect(all.last?.reasons.contains(.routeExpired) == true)
        #expect(try probe.engine.view().isSettled)
        #expect(probe.engine.counters.mismatches == 0)
        return true
    }

    private static func makeTwoUplinks() throws -> LabNamespace {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        try lab.makeUplink("wan1", index: 11, address: "198.51.100.2/24")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0", metric: 100)
        try lab.rtnl.addRoute("default", via: "198.51.100.1", on: "wan1", metric: 200)
        return lab
    }
}
