import NetworkLab
import ReachabilityCore
import Testing

/// Sends the monitor's requests to the kernel.
struct NetlinkRequestsTests {
    private let lab: LabNamespace

    init() throws {
        lab = try LabNamespace()
        try lab.rtnl.createVeth("w0", index: 10, peer: "f0", peerIndex: 20)
        try lab.rtnl.setUp("w0", "f0")
        try lab.rtnl.addAddress("192.0.2.2/24", on: "w0")
        try lab.rtnl.addAddress("2001:db8::2/64", on: "w0")
        for table in [RouteTableID.main, .init(rawValue: 5), .init(rawValue: 70_000)] {
            try lab.rtnl.addRoute("default", via: "192.0.2.1", on: "w0", metric: 600, table: table)
            try lab.rtnl.addRoute("default", via: "fe80::1", on: "w0", metric: 600, table: table)
        }
        try lab.rtnl.setNeighbour("192.0.2.1", on: "w0", state: .permanent)
        try lab.rtnl.setNeighbour("192.0.2.1", on: "f0", state: .permanent)
    }

    @Test(arguments: AddressFamily.allCases, [5, 254, 70_000] as [UInt32])
    func `a dump of one table contains no other table`(family: AddressFamily, table: UInt32) throws {
        let routes = try KernelSocket(in: lab).dump(.routes(family, table: .init(rawValue: table))).map(\.routeMessage)
        #expect(!routes.isEmpty)
        #expect(routes.allSatisfy { $0?.table.rawValue == table && $0?.family == family })
        let all = try KernelSocket(in: lab).dump(.routes(family, table: nil)).compactMap(\.routeMessage)
        #expect(Set(all.map(\.table)).count == 4)
    }

    @Test(arguments: AddressFamily.allCases)
    func `a dump of a missing table ends with an errno`(family: AddressFamily) throws {
        let events = try KernelSocket(in: lab).dump(.routes(family, table: .init(rawValue: 4_711)))
        #expect(events == [.done(errno: 2)])
    }

    @Test func `a neighbour dump of one interface contains no other`() throws {
        let some = try KernelSocket(in: lab).dump(.neighbours(.ipv4, interface: 20)).compactMap(\.neighbourMessage)
        #expect(some.map(\.index) == [20])
        let all = try KernelSocket(in: lab).dump(.neighbours(.ipv4, interface: nil)).compactMap(\.neighbourMessage)
        #expect(Set(all.map(\.index)) == [10, 20])
    }

    @Test func `without strict checking the kernel dumps all tables`() throws {
        let socket = try KernelSocket(in: lab, strict: false)
        let routes = try socket.dump(.routes(.ipv4, table: .init(rawValue: 5))).compactMap(\.routeMessage)
        #expect(Set(routes.map(\.table)).count == 4)
    }

    @Test(arguments: AddressFamily.allCases, [true, false])
    func `a lookup returns table, next hop and source`(family: AddressFamily, strict: Bool) throws {
        for flow in ProbeAddresses.of(family).map({ ProbeFlow(to: $0, user: 0) }) {
            let request = NetlinkRequests.lookup(flow, sequence: 3)
            let reply = try KernelSocket(in: lab, strict: strict).events(for: request)
            let route = try #require(reply.first?.routeMessage)
            #expect(route.destination == .init(flow.destination, length: UInt8(family.bitWidth)))
            #expect(route.table == .main)
            #expect(
                route.nextHops == [.init(interface: 10, gateway: IPAddress(family == .ipv4 ? "192.0.2.1" : "fe80::1"))]
            )
            #expect(route.preferredSource == IPAddress(family == .ipv4 ? "192.0.2.2" : "2001:db8::2"))
        }
    }

    @Test(arguments: AddressFamily.allCases)
    func `a match returns the route as in its table`(family: AddressFamily) throws {
        let flow = ProbeFlow(to: ProbeAddresses.of(family)[0], user: 0)
        let request = NetlinkRequests.lookup(flow, sequence: 3, matchesRoute: true)
        let route = try #require(try KernelSocket(in: lab).events(for: request).first?.routeMessage)
        #expect(route.destination == .all(family))
        #expect(route.metric == 600)
    }

    /// Each field of the flow is matched by the rule that selects on it.
    @Test(arguments: AddressFamily.allCases)
    func `rules are evaluated for the whole flow`(family: AddressFamily) throws {
        let option = family == .ipv4 ? "-4" : "-6"
        var flow = ProbeFlow(to: ProbeAddresses.of(family)[1], user: 0)
        flow.source = try #require(IPAddress(family == .ipv4 ? "192.0.2.2" : "2001:db8::2"))
        flow.mark = 9
        for selector in [
            "from \(flow.source)", "to \(flow.destination)", "uidrange 0-0", "ipproto 17", "sport 49152", "dport 443",
            "fwmark 9", "oif w0", "iif lo",
        ] {
            let rule = "pref 100 \(selector) lookup 5"
            try IPCommand.script("ip \(option) rule add \(rule)", in: lab)
            flow.interface = selector == "oif w0" ? 10 : nil
            let request = NetlinkRequests.lookup(flow, sequence: 3)
            let matching = try KernelSocket(in: lab).events(for: request)
            #expect(matching.first?.routeMessage?.table.rawValue == 5, "\(selector)")
            try IPCommand.script("ip \(option) rule del \(rule)", in: lab)
        }
        flow.interface = nil
        let request = NetlinkRequests.lookup(flow, sequence: 3)
        #expect(try KernelSocket(in: lab).events(for: request).first?.routeMessage?.table == .main)
    }

    @Test func `a refused lookup has the errno`() throws {
        for (name, errno) in [("unreachable", 113), ("prohibit", 13), ("blackhole", 22)] as [(String, Int32)] {
            try IPCommand.script("ip route replace \(name) 22.0.0.0/8", in: lab)
            let request = NetlinkRequests.lookup(.init(to: ProbeAddresses.ipv4[0], user: 0), sequence: 3)
            #expect(try KernelSocket(in: lab).events(for: request) == [.error(errno: errno)])
        }
    }
}
