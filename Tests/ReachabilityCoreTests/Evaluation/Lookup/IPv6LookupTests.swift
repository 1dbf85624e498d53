import Testing

@testable import ReachabilityCore

/// The choice of an IPv6 route, next hop and source.
struct IPv6LookupTests {
    /// Two uplinks, each with an address.
    private func machine() -> Machine {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.link(3, "eth1")
        machine.address(2, "2001:db8::2/64")
        machine.address(3, "2001:db8:1::2/64")
        return machine
    }

    @Test("The lowest metric wins; among equal metrics the router's preference decides")
    func order() {
        var machine = machine()
        machine.route("::/0", via: "fe80::1", on: 2, metric: 100)
        machine.route("::/0", via: "fe80::1", on: 3, metric: 100) { $0.message.preference = .high }
        #expect(machine.connect(.ipv6).interface == 3)
        machine.route("::/0", via: "fe80::2", on: 2, metric: 50) { $0.message.preference = .low }
        #expect(machine.connect(.ipv6).interface == 2)
        #expect(machine.connect(.ipv6).gateway == "fe80::2")
    }

    @Test("If no route of the lowest metric is usable, preference beats metric among the others")
    func continuation() {
        var machine = machine()
        machine.link(4, "eth2")
        machine.route("::/0", via: "fe80::1", on: 4, metric: 1)
        machine.route("::/0", via: "fe80::1", on: 2, metric: 2)
        machine.route("::/0", via: "fe80::1", on: 3, metric: 3) { $0.message.preference = .high }
        machine.alter(4) { $0.flags.remove(.up) }
        #expect(machine.connect(.ipv6).interface == 3)
    }

    @Test("A host skips a failed gateway, a router does not")
    func failedGateway() {
        var machine = machine()
        machine.route("::/0", via: "fe80::1", on: 2, metric: 1)
        machine.route("::/0", via: "fe80::1", on: 3, metric: 2)
        machine.neighbour("fe80::1", on: 2, .failed)
        #expect(machine.connect(.ipv6).interface == 3)
        machine.settings(.ipv6) { $0.forwarding = true }
        #expect(machine.connect(.ipv6).interface == 2)
        machine.settings(.ipv6) { $0.forwarding = false }
        machine.neighbour("fe80::1", on: 3, .failed)
        #expect(machine.connect(.ipv6).interface == 2, "if all have failed, the best of them")
        machine.neighbour("fe80::1", on: 2, .incomplete)
        #expect(machine.connect(.ipv6).interface == 2)
    }

    @Test("A shorter prefix is preferred to a failed gateway")
    func backtracking() {
        var machine = machine()
        machine.route("2000::/3", via: "fe80::1", on: 2)
        machine.route("::/0", via: "fe80::1", on: 3)
        machine.neighbour("fe80::1", on: 2, .failed)
        #expect(machine.connect(.ipv6).interface == 3)
    }

    @Test("An expired route is not used, and the result has the next expiry")
    func expiry() {
        var machine = machine()
        machine.route("::/0", via: "fe80::1", on: 2, metric: 1) { $0.expiry = .init(nanoseconds: 1) }
        let later = Machine.now.advanced(by: .seconds(9))
        machine.route("::/0", via: "fe80::1", on: 3, metric: 2) { $0.expiry = later }
        #expect(machine.connect(.ipv6).interface == 3)
        #expect(machine.evaluate().ipv6.nextExpiry == later)
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
        machine.route("::/0", metric: 1) { $0.message.type = type }
        machine.route("::/0", via: "fe80::1", on: 2, metric: 2)
        #expect(machine.connect(.ipv6).errno == errno)
    }

    @Test("A missing carrier excludes a route only if the device's own setting says so")
    func carrier() {
        var machine = machine()
        machine.route("::/0", via: "fe80::1", on: 2, metric: 1)
        machine.route("::/0", via: "fe80::1", on: 3, metric: 2)
        machine.loseCarrier(2)
        #expect(machine.connect(.ipv6).interface == 2)
        machine.settings(.ipv6) { $0.ignoresRoutesWithLinkDown = true }
        #expect(machine.connect(.ipv6).interface == 2)
        machine.settings(.ipv6, 2) { $0.ignoresRoutesWithLinkDown = true }
        #expect(machine.connect(.ipv6).interface == 3)
    }

    @Test("A blackhole nexthop object ends the comparison and is chosen")
    func blackholeObject() {
        var machine = machine()
        var object = NexthopMessage(id: 7)
        object.isBlackhole = true
        machine.snapshot.nexthops[7] = object
        machine.route("::/0", via: "fe80::1", on: 2)
        machine.route("::/0") { $0.message.nexthopID = 7 }
        #expect(machine.connect(.ipv6).errno == 22)
    }

    @Test("Any next hop that is not dead may be chosen; one with a failed gateway is replaced by the first without")
    func multipath() {
        var machine = machine()
        machine.route("::/0") { route in
            route.message.nextHops = [
                .init(interface: 2, gateway: IPAddress("fe80::1")), .init(interface: 3, gateway: IPAddress("fe80::1")),
            ]
        }
        #expect(machine.connect(.ipv6).interfaces == [2, 3])
        machine.neighbour("fe80::1", on: 2, .failed)
        #expect(machine.connect(.ipv6).interfaces == [3])
        machine.alter(3) { $0.flags.remove(.up) }
        #expect(machine.connect(.ipv6).interfaces == [2])
    }

    @Test("Source-specific routes come first and hide a destination's other routes")
    func sourceSpecific() {
        var machine = machine()
        machine.route("2000::/3", via: "fe80::2", on: 2) { $0.message.source = .init(test: "2001:db8:9::/48") }
        machine.route("2000::/3", via: "fe80::3", on: 2)
        machine.route("::/0", via: "fe80::4", on: 2) { $0.message.source = .init(test: "2001:db8::/32") }
        machine.route("::/0", via: "fe80::5", on: 2)
        #expect(machine.lookup(.ipv6).gateway == "fe80::5", "not 2000::/3, whose sources are others")
        #expect(machine.lookup(.ipv6, from: "2001:db8:9::1").gateway == "fe80::2")
        #expect(machine.lookup(.ipv6, from: "2001:db8::2").gateway == "fe80::4")
        machine.snapshot.routes[.init(.ipv6, .main)]?.removeAll { $0.message.source.length == 48 }
        #expect(machine.lookup(.ipv6).gateway == "fe80::3")
    }

    @Test("If no source-specific route of a destination is usable, its other routes are found")
    func backtracksWithinDestination() {
        var machine = machine()
        machine.route("2000::/3", via: "fe80::2", on: 3) { $0.message.source = .init(test: "2001:db8::/32") }
        machine.route("2000::/3", via: "fe80::3", on: 2)
        machine.alter(3) { $0.flags.remove(.up) }
        #expect(machine.lookup(.ipv6, from: "2001:db8::2").gateway == "fe80::3")
    }

    @Test("A route with a source prefix is found by the second lookup")
    func secondLookup() {
        var machine = machine()
        machine.route("::/0", via: "fe80::2", on: 3) { $0.message.source = .init(test: "2001:db8::/64") }
        #expect(machine.lookup(.ipv6).errno == 101)
        #expect(machine.connect(.ipv6).interface == 3)
        #expect(machine.connect(.ipv6).source == "2001:db8::2")
    }

    @Test("Without any address there is no source to look up with")
    func withoutAddresses() {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.snapshot.addresses[1] = nil
        #expect(machine.connect(.ipv6).errno == 99)
        machine.route("::/0", via: "fe80::1", on: 2)
        #expect(machine.lookup(.ipv6).interface == 2)
        #expect(machine.connect(.ipv6).errno == 99)
    }

    @Test("An IPv4-mapped source is refused")
    func mappedSource() {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.address(2, "::ffff:192.0.2.2/128")
        machine.route("::/0", via: "fe80::1", on: 2)
        #expect(machine.connect(.ipv6).errno == 97)
    }

    @Test("The source of a group is selected for its first member's device")
    func groupSource() {
        var machine = machine()
        machine.snapshot.nexthops = [1: .init(id: 1), 2: .init(id: 2), 9: .init(id: 9)]
        machine.snapshot.nexthops[1]?.nextHop = .init(interface: 2, gateway: IPAddress("fe80::1"))
        machine.snapshot.nexthops[2]?.nextHop = .init(interface: 3, gateway: IPAddress("fe80::1"))
        machine.snapshot.nexthops[9]?.group = [.init(id: 1), .init(id: 2)]
        machine.route("::/0") { $0.message.nexthopID = 9 }
        machine.neighbour("fe80::1", on: 2, .failed)
        #expect(machine.connect(.ipv6).interface == 3)
        #expect(machine.connect(.ipv6).source == "2001:db8::2")
    }
}
