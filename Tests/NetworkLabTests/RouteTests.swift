import Glibc
import NetworkLab
import ReachabilityCore
import Testing

@Suite("Routes of the lab")
struct RouteTests {
    private let lab: LabNamespace
    private var rtnl: Rtnl { lab.rtnl }

    init() throws {
        lab = try LabNamespace()
        let rtnl = lab.rtnl
        try rtnl.createVeth("wan0", index: 10, peer: "far0", peerIndex: 20)
        try rtnl.createVeth("wan1", index: 11, peer: "far1", peerIndex: 21)
        for name in ["wan0", "wan1"] { try lab.setSysctl("net.ipv6.conf.\(name).addr_gen_mode", to: 1) }
        try rtnl.setUp("wan0", "far0", "wan1", "far1")
        try rtnl.addAddress("192.0.2.2/24", on: "wan0")
        try rtnl.addAddress("198.51.100.2/24", on: "wan1")
        try rtnl.addAddress("2001:db8::2/64", on: "wan0")
        try rtnl.addAddress("2001:db8:1::2/64", on: "wan1")
    }

    @Test("The short form adds and removes a default route of either family")
    func shortForm() throws {
        try rtnl.addRoute("default", via: "192.0.2.1", on: "wan0", metric: 100)
        try rtnl.addRoute("default", via: "2001:db8::1", on: "wan0", table: .init(rawValue: 1000))
        let route = try #require(rtnl.routes(.ipv4).first)
        #expect(route.destination == .all(.ipv4))
        #expect(route.metric == 100)
        #expect(route.nextHops == [.init(interface: 10, gateway: IPAddress("192.0.2.1"))])
        #expect(try rtnl.routes(.ipv6, table: .init(rawValue: 1000)).map(\.destination) == [.all(.ipv6)])
        try rtnl.deleteRoute("default", via: "192.0.2.1", on: "wan0", metric: 100)
        #expect(try rtnl.routes(.ipv4).isEmpty)
    }

    @Test("Append, prepend, replace and change have the effect that ip-route(8) describes, in the kernel's order")
    func verbs() throws {
        try rtnl.route(.add, route("192.0.2.1"))
        try rtnl.route(.append, route("192.0.2.3"))
        try rtnl.route(.prepend, route("192.0.2.4"))
        #expect(try gateways() == ["192.0.2.4", "192.0.2.1", "192.0.2.3"])
        try rtnl.route(.replace, route("192.0.2.5"))
        #expect(try gateways() == ["192.0.2.5", "192.0.2.1", "192.0.2.3"])
        try rtnl.route(.change, route("192.0.2.6"))
        #expect(try gateways() == ["192.0.2.6", "192.0.2.1", "192.0.2.3"])
        try rtnl.route(.delete, route("192.0.2.1"))
        #expect(try gateways() == ["192.0.2.6", "192.0.2.3"])
        let twice = #expect(throws: LabError.self) { try rtnl.route(.add, route("192.0.2.3")) }
        #expect(twice?.errno == EEXIST)
    }

    @Test(
        "A route of each type and family is as it was asked for",
        arguments: [RouteType.unreachable, .blackhole, .prohibit, .throw, .local],
        AddressFamily.allCases
    )
    func types(type: RouteType, family: AddressFamily) throws {
        var route = RouteMessage(destination: .all(family), table: .init(rawValue: 300))
        route.type = type
        route.metric = 50
        // The kernel wants a device for a local route, and scope host with it.
        if type == .local { route.nextHops = [.init(interface: 1)] }
        if type == .local, family == .ipv4 { route.scope = .host }
        try rtnl.route(.add, route)
        let found = try #require(rtnl.routes(family, table: .init(rawValue: 300)).first)
        #expect(found.type == type)
        #expect(found.metric == 50)
    }

    @Test("A multipath route has its next hops and weights")
    func multipath() throws {
        for (family, first, second) in [
            (AddressFamily.ipv4, "192.0.2.1", "198.51.100.1"), (.ipv6, "2001:db8::1", "2001:db8:1::1"),
        ] {
            var route = RouteMessage(destination: .all(family))
            route.nextHops = [
                .init(interface: 10, gateway: IPAddress(first), weight: 3),
                .init(interface: 11, gateway: IPAddress(second), weight: 1),
            ]
            try rtnl.route(.add, route)
            #expect(try rtnl.routes(family).first?.nextHops == route.nextHops)
        }
    }

    @Test("A route has its TOS, preferred source and a gateway of the other family")
    func ipv4Details() throws {
        var route = route("192.0.2.1")
        route.tos = 0x10
        route.preferredSource = IPAddress("198.51.100.2")
        route.nextHops[0].gateway = IPAddress("2001:db8::1")
        try rtnl.route(.add, route)
        let found = try #require(rtnl.routes(.ipv4).first)
        #expect(found.tos == 0x10)
        #expect(found.preferredSource == IPAddress("198.51.100.2"))
        #expect(found.nextHops == route.nextHops)
    }

    @Test("A gateway that no route reaches is accepted only with onlink")
    func onLink() throws {
        var route = route("203.0.113.1")
        let refused = #expect(throws: LabError.self) { try rtnl.route(.add, route) }
        #expect(refused?.errno == ENETUNREACH)
        #expect(refused?.detail == "Nexthop has invalid gateway")
        route.nextHops[0].flags = .onLink
        try rtnl.route(.add, route)
        #expect(try rtnl.routes(.ipv4).first?.nextHops.first?.flags.contains(.onLink) == true)
    }

    @Test("An IPv6 route may have a source prefix, a preference and a lifetime")
    func ipv6Details() throws {
        var route = RouteMessage(destination: .all(.ipv6))
        route.source = .init(try #require(IPAddress("2001:db8::")), length: 64)
        route.preference = .high
        route.lifetime = .seconds(1_000_000)
        route.nextHops = [.init(interface: 10, gateway: IPAddress("2001:db8::1"))]
        try rtnl.route(.add, route)
        let found = try #require(rtnl.routes(.ipv6).first)
        #expect(found.source == route.source)
        #expect(found.preference == .high)
        let lifetime = try #require(found.lifetime)
        #expect(lifetime > .seconds(999_000) && lifetime <= .seconds(1_000_000))
    }

    @Test("Many requests fit in one datagram; the first refusal is reported after the others are done")
    func batch() throws {
        let routes = (0..<3000).map { number in
            var route = route("192.0.2.1")
            route.destination = .init(IPAddress(ipv4: 0x0A00_0000 | UInt32(number) << 8), length: 24)
            return route
        }
        try rtnl.perform(routes.map { .route(.add, $0) })
        #expect(try rtnl.routes(.ipv4).count == 3000)
        let last = try #require(routes.last)
        let error = #expect(throws: LabError.self) {
            try rtnl.perform([.route(.add, last), .route(.delete, routes[0]), .route(.delete, routes[1])])
        }
        #expect(error?.errno == EEXIST)
        #expect(error?.operation == "add route 10.11.183.0/24 table 254 metric 0")
        #expect(try rtnl.routes(.ipv4).count == 2998)
    }

    /// A default route through wan0.
    private func route(_ gateway: String) -> RouteMessage {
        var route = RouteMessage(destination: .all(.ipv4))
        route.nextHops = [.init(interface: 10, gateway: IPAddress(gateway))]
        return route
    }

    private func gateways() throws -> [String] {
        try rtnl.routes(.ipv4).compactMap { $0.nextHops.first?.gateway?.description }
    }
}
