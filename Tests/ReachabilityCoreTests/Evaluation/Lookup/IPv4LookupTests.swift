import Testing

@testable import ReachabilityCore

/// The choice of an IPv4 route, next hop and source.
struct IPv4LookupTests {
    /// Two uplinks, each with an address.
    private func machine() -> Machine {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.link(3, "eth1")
        machine.address(2, "192.0.2.2/24")
        machine.address(3, "198.51.100.2/24")
        return machine
    }

    @Test("The longest prefix wins, then the metric, then the order")
    func order() {
        var machine = machine()
        machine.route(via: "192.0.2.1", on: 2, metric: 100)
        machine.route(via: "198.51.100.1", on: 3, metric: 50)
        #expect(machine.connect().interface == 3)
        machine.route("0.0.0.0/1", via: "192.0.2.1", on: 2, metric: 900)
        #expect(machine.connect().interface == 2)
        #expect(machine.connect(to: "215.0.0.1").interface == 3)
        machine.route("0.0.0.0/1", via: "198.51.100.1", on: 3, metric: 900)
        #expect(machine.connect().interface == 2)
    }

    @Test("A route for a TOS is not for packets without")
    func service() {
        var machine = machine()
        machine.route(via: "192.0.2.1", on: 2) { $0.message.tos = 0x10 }
        #expect(machine.connect().errno == 101)
    }

    @Test(
        "Types that refuse",
        arguments: [(RouteType.unreachable, 113), (.prohibit, 13), (.blackhole, 22), (.throw, 101)]
            as [(
                RouteType, Int32
            )]
    )
    func refuses(type: RouteType, errno: Int32) {
        var machine = machine()
        machine.route(metric: 1) { $0.message.type = type }
        machine.route(via: "192.0.2.1", on: 2, metric: 2)
        #expect(machine.connect().errno == errno)
    }

    @Test("A route whose link lost its carrier is still preferred, unless such are ignored")
    func carrier() {
        var machine = machine()
        machine.route(via: "192.0.2.1", on: 2, metric: 1)
        machine.route(via: "198.51.100.1", on: 3, metric: 2)
        machine.loseCarrier(2)
        #expect(machine.connect().interface == 2)
        machine.settings(.ipv4, 2) { $0.ignoresRoutesWithLinkDown = true }
        #expect(machine.connect().interface == 3)
        machine.settings(.ipv4, 2) { $0.ignoresRoutesWithLinkDown = false }
        machine.settings(.ipv4) { $0.ignoresRoutesWithLinkDown = true }
        #expect(machine.connect().interface == 3)
        machine.alter(2) { $0.flags.insert(.running) }
        #expect(machine.connect().interface == 2, "either flag is a carrier")
    }

    @Test("A link that is down, or gone, takes its next hops with it")
    func down() {
        var machine = machine()
        machine.route(via: "192.0.2.1", on: 2, metric: 1)
        machine.route(via: "198.51.100.1", on: 3, metric: 2)
        machine.alter(2) { $0.flags.remove(.up) }
        #expect(machine.connect().interface == 3)
        machine.snapshot.links.removeAll { $0.index == 3 }
        #expect(machine.connect().errno == 101)
    }

    @Test("Of several next hops each may be chosen that is not out; the first that can carry stands for them")
    func multipath() {
        var machine = machine()
        machine.route { $0.message.nextHops = [.init(interface: 2), .init(interface: 3)] }
        #expect(machine.connect().interfaces == [2, 3])
        machine.loseCarrier(2)
        #expect(machine.connect().interfaces == [2, 3])
        #expect(machine.connect().interface == 3)
        machine.settings(.ipv4) { $0.ignoresRoutesWithLinkDown = true }
        #expect(machine.connect().interfaces == [3])
        machine.snapshot.routes[.init(.ipv4, .main)]?[0].message.nextHops[1].flags = .dead
        #expect(machine.connect().errno == 101)
    }

    @Test("Equal defaults follow the state of their gateways, and take turns")
    func equalDefaults() {
        var machine = machine()
        machine.route(via: "192.0.2.1", on: 2)
        machine.route(via: "198.51.100.1", on: 3)
        #expect(machine.connect().interfaces == [2])
        machine.neighbour("192.0.2.1", on: 2, .failed)
        #expect(machine.connect().interfaces == [3])
        machine.neighbour("198.51.100.1", on: 3, .reachable)
        machine.neighbour("192.0.2.1", on: 2, .stale)
        #expect(machine.connect().interfaces == [2, 3])
        machine.neighbour("192.0.2.1", on: 2, .reachable)
        #expect(machine.connect().interfaces == [2])
        machine.neighbour("192.0.2.1", on: 2, .failed)
        machine.snapshot.routes[.init(.ipv4, .main)]?[1].message.metric = 1
        #expect(machine.connect().interfaces == [2], "another metric does not compete")
    }

    @Test("A nexthop object stands for its next hops; one that is out hides the rest of its leaf")
    func nexthopObjects() {
        var machine = machine()
        var object = NexthopMessage(id: 7)
        object.nextHop = .init(interface: 2, gateway: IPAddress("192.0.2.1"))
        machine.snapshot.nexthops[7] = object
        machine.route("0.0.0.0/1") { $0.message.nexthopID = 7 }
        machine.route(via: "198.51.100.1", on: 3)
        #expect(machine.connect().interface == 2)
        machine.alter(2) { $0.flags.remove(.up) }
        #expect(machine.connect().errno == 101, "0.0.0.0/0 lies in the leaf of 0.0.0.0/1")
        #expect(machine.connect(to: "215.0.0.1").interface == 3)
        object.nextHop = nil
        object.isBlackhole = true
        machine.snapshot.nexthops[7] = object
        #expect(machine.connect().errno == 22)
    }

    @Test("A group's members whose gateway's entry is not valid are not chosen, if there is a better one")
    func groups() {
        var machine = machine()
        for (id, index, gateway) in [(1, 2, "192.0.2.1"), (2, 3, "198.51.100.1")] as [(UInt32, Int32, String)] {
            var object = NexthopMessage(id: id)
            object.nextHop = .init(interface: index, gateway: IPAddress(gateway))
            machine.snapshot.nexthops[id] = object
        }
        var group = NexthopMessage(id: 9)
        group.group = [.init(id: 1), .init(id: 2)]
        machine.snapshot.nexthops[9] = group
        machine.route { $0.message.nexthopID = 9 }
        #expect(machine.connect().interfaces == [2, 3])
        machine.neighbour("192.0.2.1", on: 2, .failed)
        #expect(machine.connect().interfaces == [3])
        machine.neighbour("198.51.100.1", on: 3, .incomplete)
        #expect(machine.connect().interfaces == [2])
    }

    @Test("Routes of type local deliver here, and keep their next hop when its device goes down")
    func local() {
        var machine = machine()
        machine.route(on: 2) { route in
            route.message.type = .local
            route.message.scope = .host
        }
        machine.alter(2) { $0.flags.remove(.up) }
        let outcome = machine.look()
        #expect(outcome.interface == 1)
        #expect(outcome.source == "22.0.0.1")
    }

    @Test("The source is the route's own, or lies in the gateway's subnet, or comes first")
    func source() {
        var machine = machine()
        machine.address(2, "203.0.113.2/24")
        machine.route(via: "203.0.113.1", on: 2)
        #expect(machine.connect().source == "203.0.113.2")
        machine.snapshot.routes[.init(.ipv4, .main)]?[0].message.nextHops[0].gateway = IPAddress("192.0.2.200")
        #expect(machine.connect().source == "192.0.2.2")
        machine.snapshot.routes[.init(.ipv4, .main)]?[0].message.preferredSource = IPAddress("198.51.100.2")
        #expect(machine.connect().source == "198.51.100.2")
    }

    @Test("Secondary addresses, and narrower ones than the route, are not used")
    func unfitSource() {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.address(2, "192.0.2.9/24", .secondary)
        machine.address(2, "192.0.2.8/24", scope: .host)
        machine.address(2, "192.0.2.7/24", scope: .link)
        machine.route(via: "192.0.2.1", on: 2)
        #expect(machine.connect().interface == 2)
        #expect(machine.connect().source == nil)
        machine.snapshot.routes[.init(.ipv4, .main)]?[0].message.scope = .link
        #expect(machine.connect().source == "192.0.2.7")
    }

    @Test("An interface without an address borrows another's, the loopback's first")
    func borrowedSource() {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.link(3, "eth1")
        machine.address(3, "169.254.3.3/16", scope: .link)
        machine.address(3, "198.51.100.2/24")
        machine.route(on: 2)
        #expect(machine.connect().source == "198.51.100.2")
        machine.address(1, "203.0.113.9/32")
        #expect(machine.connect().source == "203.0.113.9")
    }

    @Test("A gateway that is the interface's own address makes a direct route")
    func direct() {
        var machine = machine()
        machine.route(via: "192.0.2.2", on: 2)
        #expect(machine.connect().gateway == nil)
        #expect(machine.connect().interface == 2)
    }

    @Test("Nothing is sent from 127.0.0.0/8 to elsewhere")
    func martian() {
        var machine = machine()
        machine.route(via: "192.0.2.1", on: 2) { $0.message.preferredSource = IPAddress("127.0.0.1") }
        #expect(machine.connect().errno == 22)
    }

    @Test("The second lookup sees the source")
    func sourceRule() {
        var machine = machine()
        machine.route(via: "192.0.2.1", on: 2)
        machine.route(table: .init(rawValue: 100)) { $0.message.type = .unreachable }
        machine.rule(100, table: .init(rawValue: 100)) { $0.source = .init(test: "192.0.2.2/32") }
        #expect(machine.look().interface == 2)
        #expect(machine.connect().errno == 113)
    }

    @Test("A source that is not this host's has no route")
    func foreignSource() {
        var machine = machine()
        machine.route(via: "192.0.2.1", on: 2)
        #expect(machine.look(from: "192.0.2.3").errno == 101)
        #expect(machine.look(from: "127.9.9.9").errno == 22, "the loopback's subnet is local as a whole")
    }
}
