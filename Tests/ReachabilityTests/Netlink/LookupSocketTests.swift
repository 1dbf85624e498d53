import Glibc
import LinuxSystem
import NetworkLab
import ReachabilityCore
import Testing

@testable import Reachability

/// Lookups in the real kernel, as connect(2) would make them.
@Suite struct LookupSocketTests {
    @Test func `a lookup returns the route and the source`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0", metric: 7)
        let replies = try Self.probe(lab)
        let nextHop = SelectedNextHop(interface: 10, gateway: IPAddress("192.0.2.1"), source: IPAddress("192.0.2.2"))
        let expected = ProbeResult(.selected(.init(table: .main, metric: 7, nextHop: nextHop)), matched: .all(.ipv4))
        #expect(replies.ipv4 == [expected, expected])
        #expect(replies.ipv6.allSatisfy { $0 == ProbeResult(.refused(errno: ENETUNREACH, .noRoute)) })
    }

    @Test func `where no socket of IPv6 can be opened, a refusal is not final`() throws {
        let lab = try LabNamespace()
        let socket = try lab.run { try LookupSocket(in: .current, connector: { _ in nil }) }
        let replies = try socket.probe(user: 0, detail: true)
        #expect(replies.ipv6.allSatisfy { !$0.isFinal })
    }

    @Test func `the second lookup applies a rule on the source`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "wan0")
        var route = RouteMessage(destination: .all(.ipv4), table: .init(rawValue: 100))
        route.type = .unreachable
        try lab.rtnl.route(.add, route)
        var rule = RuleMessage(family: .ipv4)
        rule.priority = 10
        rule.source = .init(try #require(IPAddress("192.0.2.2")), length: 32)
        rule.table = .init(rawValue: 100)
        try lab.rtnl.addRule(rule)
        let replies = try Self.probe(lab)
        #expect(replies.ipv4.allSatisfy { $0.outcome == .refused(errno: EHOSTUNREACH, .sourceRule) })
    }

    @Test func `an IPv6 route with a source prefix is found by the source that the kernel selects`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "2001:db8::2/64")
        var route = RouteMessage(destination: .all(.ipv6))
        route.source = .init(try #require(IPAddress("2001:db8::")), length: 64)
        route.nextHops = [.init(interface: 10, gateway: IPAddress("2001:db8::1"))]
        let events = try LabEvents(in: lab)
        try events.wait(for: "the address") { try !lab.rtnl.addresses(.ipv6, on: "wan0").filter(\.isReady).isEmpty }
        try lab.rtnl.route(.add, route)
        let replies = try Self.probe(lab)
        guard case .selected(let selection) = try #require(replies.ipv6.first).outcome else {
            Issue.record("\(replies)")
            return
        }
        #expect(selection.nextHop.source == IPAddress("2001:db8::2"))
        #expect(selection.nextHop.interface == 10)
    }

    @Test func `multipath and specific routes are distinguished from a simple default route`() throws {
        let lab = try LabNamespace()
        try lab.makeUplink("wan0", index: 10, address: "192.0.2.2/24")
        try lab.rtnl.addRoute("22.0.0.0/8", via: "192.0.2.1", on: "wan0")
        var route = RouteMessage(destination: .all(.ipv4))
        route.nextHops = ["192.0.2.1", "192.0.2.3"].map { .init(interface: 10, gateway: IPAddress($0)) }
        try lab.rtnl.route(.add, route)
        let replies = try Self.probe(lab)
        #expect(replies.ipv4[0].isCoveredBySpecificRoute)
        #expect(!replies.ipv4[0].isMultipath)
        #expect(!replies.ipv4[1].isCoveredBySpecificRoute)
        #expect(replies.ipv4[1].isMultipath)
    }

    @Test func `without detail an IPv6 refusal is not final`() throws {
        let lab = try LabNamespace()
        let replies = try lab.run {
            let socket = try LookupSocket(in: .current)
            return try socket.probe(user: 0, detail: false)
        }
        #expect(replies.ipv4.allSatisfy { $0.isFinal })
        #expect(!replies.ipv6.contains { $0.isFinal })
    }

    private static func probe(_ lab: LabNamespace) throws -> ProbeResults {
        try lab.run {
            let socket = try LookupSocket(in: .current)
            return try socket.probe(user: 0, detail: true)
        }
    }
}
