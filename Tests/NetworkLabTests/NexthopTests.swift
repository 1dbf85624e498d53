import NetworkLab
import ReachabilityCore
import Testing

@Suite("Nexthop objects of the lab")
struct NexthopTests {
    private let lab: LabNamespace
    private var rtnl: Rtnl { lab.rtnl }

    init() throws {
        lab = try LabNamespace()
        try lab.rtnl.createVeth("wan0", index: 10, peer: "far0", peerIndex: 20)
        try lab.rtnl.setUp("wan0", "far0")
        try lab.rtnl.addAddress("192.0.2.2/24", on: "wan0")
    }

    @Test("Next hops, groups and blackholes are made, replaced and removed")
    func objects() throws {
        try rtnl.addNexthop(1, via: "192.0.2.1", on: "wan0")
        try rtnl.addNexthop(2, via: "192.0.2.3", on: "wan0")
        var group = NexthopMessage(id: 3)
        group.group = [.init(id: 1, weight: 2), .init(id: 2, weight: 1)]
        try rtnl.addNexthop(group)
        var blackhole = NexthopMessage(id: 4)
        blackhole.isBlackhole = true
        blackhole.family = .ipv6
        try rtnl.addNexthop(blackhole)
        let found = try nexthops()
        #expect(found.map(\.id) == [1, 2, 3, 4])
        #expect(found[0].nextHop == .init(interface: 10, gateway: IPAddress("192.0.2.1")))
        #expect(found[2].group == group.group)
        #expect(found[3].isBlackhole)
        var other = NexthopMessage(id: 1)
        other.nextHop = .init(interface: 10, gateway: IPAddress("192.0.2.9"))
        try rtnl.replaceNexthop(other)
        #expect(try nexthops().first?.nextHop?.gateway == IPAddress("192.0.2.9"))
        try rtnl.deleteNexthop(2)
        #expect(try nexthops().map(\.id) == [1, 3, 4])
    }

    @Test("A route goes through a nexthop object")
    func route() throws {
        try rtnl.addNexthop(1, via: "192.0.2.1", on: "wan0")
        var route = RouteMessage(destination: .all(.ipv4))
        route.nexthopID = 1
        try rtnl.route(.add, route)
        #expect(try rtnl.routes(.ipv4).first?.nexthopID == 1)
        try rtnl.deleteNexthop(1)
        #expect(try rtnl.routes(.ipv4).isEmpty)
    }

    private func nexthops() throws -> [NexthopMessage] {
        try rtnl.events(of: .nexthops).compactMap { event in
            guard case .nexthop(let nexthop) = event else { return nil }
            return nexthop
        }
    }
}
