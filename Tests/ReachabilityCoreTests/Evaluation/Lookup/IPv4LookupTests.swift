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

    @Test("The longest prefix wins, then the lowest metric, then the first route")
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

    @Test("A route with a TOS is not used for packets without one")
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

    @Test("A route whose interface lost its carrier is still preferred unless such routes are ignored")
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

    @Test("Next hops over an interface that is down or missing are not used")
    func down() {
        var machine = machine()
        machine.route(via: "192.0.2.1", on: 2, metric: 1)
        machine.route(via: "198.51.100.1", on: 3, metric: 2)
        machine.alter(2) { $0.flags.remove(.up) }
        #expect(machine.connect().interface == 3)
        machine.snapshot.links.removeAll { $0.index == 3 }
        #expect(machine.connect().errno == 101)
    }

    @Test("Any of several next hops that is not dead may be chosen; the first usable one represents them")
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

    @Test("Equal default routes are chosen by the state of their gateways, in turns")
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

    @Test("A nexthop object is replaced by its next hops; a dead one hides the rest of its leaf")
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

    @Test("A group's member without a valid neighbour entry for its gateway is chosen only if there is no better one")
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

    @Test("Routes of type local deliver to this host, and keep their next hop when its device goes down")
    func local() {
        var machine = machine()
        machine.route(on: 2) { route in
            route.message.type = .local
            route.message.scope = .host
        }
        machine.alter(2) { $0.flags.remove(.up) }
        let outcome = machine.lookup()
        #expect(outcome.interface == 1)
        #expect(outcome.source == "22.0.0.1")
    }

    @Test("The source is the route's own, else one in the gateway's subnet, else the first")
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

    @Test("Secondary addresses, and addresses of a narrower scope than the route's, are not used")
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

    @Test("An interface without an address uses another interface's, the loopback's first")
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

    @Test("A route whose gateway is the interface's own address is direct")
    func direct() {
        var machine = machine()
        machine.route(via: "192.0.2.2", on: 2)
        #expect(machine.connect().gateway == nil)
        #expect(machine.connect().interface == 2)
    }

    @Test("A source in 127.0.0.0/8 is refused for other destinations")
    func martian() {
        var machine = machine()
        machine.route(via: "192.0.2.1", on: 2) { $0.message.preferredSource = IPAddress("127.0.0.1") }
        #expect(machine.connect().errno == 22)
    }

    @Test("The second lookup is made with the source")
    func sourceRule() {
        var machine = machine()
        machine.route(via: "192.0.2.1", on: 2)
        machine.route(table: .init(rawValue: 100)) { $0.message.type = .unreachable }
        machine.rule(100, table: .init(rawValue: 100)) { $0.source = .init(test: "192.0.2.2/32") }
        #expect(machine.lookup().interface == 2)
        #expect(machine.connect().errno == 113)
    }

    @Test("A lookup with a source that is not this host's finds no route")
    func foreignSource() {
        var machine = machine()
        machine.route(via: "192.0.2.1", on: 2)
        #expect(machine.lookup(from: "192.0.2.3").errno == 101)
        #expect(machine.lookup(from: "127.9.9.9").errno == 22, "the loopback's subnet is local as a whole")
    }
}
