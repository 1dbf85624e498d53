import Testing

@testable import ReachabilityCore

/// The rules of the four states, and their reasons.
struct FourStatesTests {
    /// Ethernet (2) and a modem (3); IPv4 over Ethernet, the modem with a higher metric.
    private func machine() -> Machine {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.link(3, "wwan0")
        machine.snapshot.devices[3] = .init(action: .add, interface: "wwan0", index: 3, deviceType: "wwan")
        machine.address(2, "192.0.2.2/24")
        machine.address(3, "198.51.100.2/24")
        machine.route(via: "192.0.2.1", on: 2, metric: 100)
        machine.route(via: "198.51.100.1", on: 3, metric: 600)
        return machine
    }

    @Test("A usable path has its interface, gateway, source, metric and table")
    func usable() {
        let path = machine().evaluate().path
        #expect(path.status == .wifi)
        #expect(path.interface == .init(index: 2, name: "eth0", kind: .wired, kindSource: .plain))
        #expect(path.carriers == path.interface.map { [$0] })
        #expect(path.ipv4?.gateway == IPAddress("192.0.2.1"))
        #expect(path.ipv4?.source == IPAddress("192.0.2.2"))
        #expect(path.ipv4?.metric == 100)
        #expect(path.ipv4?.table == .main)
        #expect(path.ipv6 == nil)
        #expect(path.reasons.isEmpty)
    }

    @Test("A path whose preferred route is dead is unusable, even if another route would work")
    func deadPreferred() {
        var machine = machine()
        machine.loseCarrier(2)
        #expect(machine.evaluate().path.status == .notReachable)
        #expect(machine.evaluate().ipv4.reasons == [.noCarrier])
        machine.settings(.ipv4, 2) { $0.ignoresRoutesWithLinkDown = true }
        #expect(machine.evaluate().path.status == .cellular)
    }

    typealias Alteration = @Sendable (inout Link) -> Void

    static let links: [(ReachabilityReason?, Alteration)] = [
        (nil, { $0.operationalState = .unknown }),
        (
            .noCarrier,
            { link in
                link.operationalState = .unknown
                link.flags.remove(.lowerUp)
            }
        ),
        (
            .noCarrier,
            { link in
                link.operationalState = .unknown
                link.flags.remove(.running)
            }
        ),
        (
            .dormant,
            { link in
                link.operationalState = .unknown
                link.flags.insert(.dormant)
            }
        ),
        (.dormant, { $0.operationalState = .dormant }),
        (
            .noCarrier,
            { link in
                link.operationalState = .dormant
                link.flags.remove(.lowerUp)
            }
        ),
        (.noCarrier, { $0.operationalState = .lowerLayerDown }),
        (.noCarrier, { $0.operationalState = .testing }),
        (.noCarrier, { $0.hardwareType = .wirelessMonitor }),
        (.noCarrier, { $0.hardwareType = .init(rawValue: 801) }),
        (.loopbackPath, { $0.flags.insert(.loopback) }),
    ]

    @Test("A link is usable in the operational states that systemd-networkd accepts", arguments: links.indices)
    func link(_ position: Int) {
        var machine = machine()
        machine.alter(2, Self.links[position].1)
        let evaluation = machine.evaluate()
        #expect(evaluation.ipv4.reasons == (Self.links[position].0.map { [$0] } ?? []))
        #expect((evaluation.ipv4.path == nil) == (Self.links[position].0 != nil))
    }

    @Test("A default route through the loopback is no path")
    func loopback() {
        var machine = machine()
        machine.route(on: 1, metric: 1)
        #expect(machine.evaluate().ipv4.reasons == [.loopbackPath])
        #expect(machine.evaluate().path.status == .notReachable)
    }

    @Test("A path without a usable source is unusable", arguments: ["169.254.7.7/16"])
    func linkLocalIPv4(address: String) {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.route(via: "192.0.2.1", on: 2)
        #expect(machine.evaluate().ipv4.reasons == [.noSource])
        machine.address(2, address)
        #expect(machine.evaluate().ipv4.reasons == [.linkLocalSource])
    }

    @Test("IPv6 link-local, tentative and loopback sources are unusable; deprecated and optimistic ones are usable")
    func ipv6Sources() {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.route("::/0", via: "fe80::1", on: 2)
        #expect(machine.evaluate().ipv6.reasons == [.loopbackSource])
        machine.address(2, "fe80::2/64")
        #expect(machine.evaluate().ipv6.reasons == [.linkLocalSource])
        machine.address(2, "2001:db8::2/64", .tentative)
        #expect(machine.evaluate().ipv6.reasons == [.tentativeSource])
        machine.snapshot.addresses[2]?[1].flags = [.tentative, .optimistic]
        #expect(machine.evaluate().path.status == .wifi)
        machine.snapshot.addresses[2]?[1].flags = .deprecated
        #expect(machine.evaluate().path.status == .wifi)
    }

    @Test("A family is usable only if all its probes are")
    func halves() {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.address(2, "192.0.2.2/24")
        machine.route("0.0.0.0/1", via: "192.0.2.1", on: 2)
        #expect(machine.evaluate().ipv4.reasons == [.noRoute])
        #expect(machine.evaluate().path.status == .notReachable)
        machine.route("128.0.0.0/1", via: "192.0.2.1", on: 2)
        #expect(machine.evaluate().path.status == .wifi)
        machine.route("128.0.0.0/1", metric: 0) { $0.message.type = .unreachable }
        machine.snapshot.routes[.init(.ipv4, .main)]?.removeAll {
            $0.message.type == .unicast && $0.message.destination.address.bits != 0
        }
        #expect(machine.evaluate().ipv4.reasons == [.unreachable])
    }

    @Test("If the probes' paths differ, the worst decides")
    func worstProbe() {
        var machine = machine()
        machine.route("128.0.0.0/1", via: "198.51.100.1", on: 3)
        let evaluation = machine.evaluate()
        #expect(evaluation.path.status == .cellular)
        #expect(evaluation.path.interface?.name == "wwan0")
        #expect(evaluation.ipv4.outcomes.map(\.interface) == [2, 3])
    }

    @Test("The path is reachable if either family is, and metered if either may be")
    func families() {
        var machine = machine()
        machine.address(3, "2001:db8::3/64")
        machine.route("::/0", via: "fe80::1", on: 3)
        let path = machine.evaluate().path
        #expect(path.status == .cellular)
        #expect(path.ipv4?.status == .wifi)
        #expect(path.ipv6?.status == .cellular)
        #expect(path.interface?.name == "eth0")
        machine.snapshot.routes[.init(.ipv4, .main)] = nil
        #expect(machine.evaluate().path.interface?.name == "wwan0")
        #expect(machine.evaluate().path.reasons.isEmpty, "what the other family lacks is no fault of the path")
        machine.snapshot.routes = [:]
        #expect(machine.evaluate().path.reasons == [.noRoute])
    }

    @Test("One usable next hop suffices; a dead one is a reason")
    func multipath() {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.link(3, "eth1")
        machine.address(2, "192.0.2.2/24")
        machine.address(3, "198.51.100.2/24")
        machine.route { $0.message.nextHops = [.init(interface: 2), .init(interface: 3)] }
        #expect(machine.evaluate().path.reasons.isEmpty)
        machine.loseCarrier(2)
        #expect(machine.evaluate().path.interface?.name == "eth1")
        #expect(machine.evaluate().path.reasons == [.deadNextHop])
        machine.loseCarrier(3)
        #expect(machine.evaluate().ipv4.reasons == [.noCarrier])
        #expect(machine.evaluate().path.status == .notReachable)
    }

    @Test("A path over several next hops is cellular and expensive if any usable one is, and lists all carriers")
    func multipathOverModem() {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.link(3, "wwan0") { $0.kind = "wwan" }
        machine.address(2, "192.0.2.2/24")
        machine.address(3, "198.51.100.2/24")
        machine.route { $0.message.nextHops = [.init(interface: 2), .init(interface: 3)] }
        let path = machine.evaluate().path
        #expect(path.status == .cellular)
        #expect(path.isExpensive)
        #expect(path.carriers.map(\.name) == ["eth0", "wwan0"])
        #expect(path.interface?.name == "eth0")
        machine.loseCarrier(3)
        #expect(machine.evaluate().path.status == .wifi)
        #expect(!machine.evaluate().path.isExpensive)
        #expect(machine.evaluate().path.carriers.map(\.name) == ["eth0"])
        #expect(machine.evaluate().path.reasons == [.deadNextHop])
    }

    @Test("Each of several next hops has its own source, for which a rule may choose another table")
    func multipathWithSourceRules() {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.link(3, "wwan0") { $0.kind = "wwan" }
        for (index, address, table) in [(2, "192.0.2.2", 101), (3, "198.51.100.2", 102)] as [(Int32, String, UInt32)] {
            machine.address(index, "\(address)/24")
            machine.route(on: index, table: .init(rawValue: table))
            machine.rule(table, table: .init(rawValue: table)) { $0.source = .init(test: "\(address)/32") }
        }
        machine.route { $0.message.nextHops = [.init(interface: 2), .init(interface: 3)] }
        let path = machine.evaluate().path
        #expect(path.status == .cellular)
        #expect(path.carriers.map(\.name) == ["eth0", "wwan0"])
        #expect(path.ipv4?.table.rawValue == 101)
        let nextHop = SelectedNextHop(interface: 3, source: IPAddress("198.51.100.2"))
        let outcome = RouteSelection(table: .init(rawValue: 102), nextHop: nextHop)
        #expect(machine.connect().agrees(with: .selected(outcome)))
        #expect(!machine.connect().agrees(with: .selected(.init(table: .main, nextHop: nextHop))))
        machine.loseCarrier(2)
        #expect(machine.evaluate().path.carriers.map(\.name) == ["wwan0"])
        #expect(machine.evaluate().path.reasons == [.deadNextHop])
    }

    @Test("A reply with one next hop of a route and the source of another agrees; one with an unknown source does not")
    func multipathReplies() {
        var machine = Machine()
        machine.link(2, "wlan0")
        machine.link(3, "wwan0") { $0.kind = "wwan" }
        machine.address(2, "192.0.2.2/24")
        machine.address(3, "198.51.100.2/24")
        machine.route { $0.message.nextHops = [.init(interface: 2), .init(interface: 3)] }
        let outcome = machine.connect()
        for interface in [2, 3] as [InterfaceIndex] {
            for (source, agrees) in [("192.0.2.2", true), ("198.51.100.2", true), ("203.0.113.2", false)] {
                let nextHop = SelectedNextHop(interface: interface, source: IPAddress(source))
                #expect(outcome.agrees(with: .selected(.init(table: .main, nextHop: nextHop))) == agrees)
            }
        }
        let gateway = SelectedNextHop(interface: 3, gateway: IPAddress("198.51.100.1"), source: IPAddress("192.0.2.2"))
        #expect(!outcome.agrees(with: .selected(.init(table: .main, nextHop: gateway))))
    }

    @Test("A next hop that owns a different source than the connection's adds its cost, but makes no path usable")
    func unpreferredNextHop() {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.link(3, "wwan0") { $0.kind = "wwan" }
        machine.address(2, "192.0.2.2/24")
        machine.address(3, "198.51.100.2/24")
        machine.route { $0.message.nextHops = [.init(interface: 2), .init(interface: 3)] }
        let table = RouteTableID(rawValue: 102)
        machine.route(on: 2, table: table)
        machine.rule(102, table: table) { $0.source = .init(test: "198.51.100.2/32") }
        let outcome = SelectedNextHop(interface: 3, source: IPAddress("192.0.2.2"))
        #expect(machine.connect().interfaces == [2, 2])
        #expect(machine.connect().agrees(with: .selected(.init(table: .main, nextHop: outcome))))
        #expect(machine.evaluate().path.status == .cellular)
        #expect(machine.evaluate().path.carriers.map(\.name) == ["eth0", "wwan0"])
        machine.loseCarrier(2)
        #expect(machine.evaluate().path.status == .notReachable)
    }

    @Test("A next hop without a carrier below it is a dead next hop of the path")
    func multipathOverBond() {
        var machine = Machine()
        machine.link(2, "wlan0") { $0.masterIndex = 9 }
        machine.link(3, "wwan0") { $0.kind = "wwan" }
        machine.link(9, "bond0") { ($0.kind, $0.bondActivePort) = ("bond", 2) }
        machine.address(9, "192.0.2.2/24")
        machine.address(3, "198.51.100.2/24")
        machine.route { $0.message.nextHops = [.init(interface: 9), .init(interface: 3)] }
        #expect(machine.evaluate().path.carriers.map(\.name) == ["wlan0", "wwan0"])
        machine.alter(2) { $0.operationalState = .dormant }
        #expect(machine.evaluate().path.carriers.map(\.name) == ["wwan0"])
        #expect(machine.evaluate().path.reasons == [.deadNextHop])
    }

    @Test("A rule on the source that leads to no route is the reason")
    func sourceRule() {
        var machine = machine()
        machine.rule(100) { rule in
            rule.source = .init(test: "192.0.2.2/32")
            rule.action = .prohibit
        }
        #expect(machine.evaluate().ipv4.reasons == [.prohibited, .sourceRule])
    }

    @Test("A next hop is dead if its source has no route to one probe and an unusable route to the other")
    func sourceRuleByDestination() {
        var machine = Machine()
        for (index, address) in [(2, "192.0.2.2/24"), (3, "198.51.100.2/24"), (4, "203.0.113.2/24")]
            as [(Int32, String)]
        {
            machine.link(.init(index), "eth\(index)")
            machine.address(.init(index), address)
        }
        machine.route { $0.message.nextHops = [.init(interface: 2), .init(interface: 3)] }
        let table = RouteTableID(rawValue: 1_000)
        machine.rule(100, table: table) { $0.source = .init(test: "192.0.2.2/32") }
        machine.route(table: table) { $0.message.type = .unreachable }
        machine.route("192.0.0.0/3", on: 4, table: table)
        #expect(machine.evaluate().path.status == .wifi)
        #expect(machine.evaluate().ipv4.reasons == [.deadNextHop])
        let refusal = LookupOutcome.refused(errno: LookupErrno.hostUnreachable, .unreachable)
        #expect(machine.connect(to: "22.0.0.1").agrees(with: refusal))
        #expect(!machine.connect(to: "215.0.0.1").agrees(with: refusal))
        machine.loseCarrier(4)
        #expect(machine.connect(to: "22.0.0.1").interfaces == [3])
        #expect(machine.connect(to: "215.0.0.1").interfaces == [4, 3])
        #expect(machine.evaluate().ipv4.reasons == [.deadNextHop])
        #expect(machine.evaluate().path.carriers.map(\.name) == ["eth3", "eth2"], "the latter before Linux 6.16")
        machine.loseCarrier(3)
        #expect(machine.evaluate().path.status == .notReachable)
    }

    @Test("A path through a VRF device follows the VRF's table")
    func vrf() {
        var machine = Machine()
        machine.link(2, "wwan0") { $0.masterIndex = 9 }
        machine.snapshot.devices[2] = .init(action: .add, interface: "wwan0", index: 2, deviceType: "wwan")
        machine.link(9, "red") { link in
            link.kind = "vrf"
            link.vrfTable = 100
        }
        machine.address(9, "192.0.2.9/32")
        machine.route(on: 9)
        #expect(machine.evaluate().ipv4.reasons == [.noRoute])
        machine.route(via: "192.0.2.1", on: 2, table: .init(rawValue: 100))
        let path = machine.evaluate().path
        #expect(path.status == .cellular)
        #expect(path.interface?.name == "red")
        #expect(path.carriers.map(\.name) == ["wwan0"])
        machine.loseCarrier(2)
        #expect(machine.evaluate().ipv4.reasons == [.noCarrier])
        machine.snapshot.routes[.init(.ipv4, .init(rawValue: 100))] = nil
        machine.route(on: 9, table: .init(rawValue: 100))
        #expect(machine.evaluate().ipv4.reasons == [.noRoute], "its table leads back to itself")
    }

    @Test("The kernel's own results are evaluated with the model's links and addresses")
    func kernelResults() {
        let machine = machine()
        let nextHop = SelectedNextHop(
            interface: 3,
            gateway: IPAddress("198.51.100.1"),
            source: IPAddress("198.51.100.2")
        )
        let outcome = LookupOutcome.selected(.init(table: .main, nextHop: nextHop))
        let none = LookupOutcome.refused(errno: LookupErrno.networkUnreachable, .noRoute)
        let evaluator = PathEvaluator(context: .init(user: 0))
        var evaluation = evaluator.evaluate(
            ipv4: [outcome, outcome],
            ipv6: [none, none],
            machine.snapshot,
            at: Machine.now
        )
        #expect(evaluation.path.status == .cellular)
        #expect(evaluation.ipv6.reasons == [.noRoute])
        evaluation = evaluator.evaluate(ipv4: [outcome, none], ipv6: [], machine.snapshot, at: Machine.now)
        #expect(evaluation.path.status == .notReachable)
    }

    @Test("Evaluating one family again has the same result as evaluating both")
    func oneFamily() {
        var machine = machine()
        let evaluator = PathEvaluator(context: .init(user: 0))
        let before = evaluator.evaluate(machine.snapshot, at: Machine.now)
        machine.address(3, "2001:db8::3/64")
        machine.route("::/0", via: "fe80::1", on: 3)
        let after = evaluator.evaluate(.ipv6, of: machine.snapshot, keepingOther: before, at: Machine.now)
        #expect(after == evaluator.evaluate(machine.snapshot, at: Machine.now))
        #expect(after != before)
    }

    @Test("A tunnel of the other family is evaluated again, as its carrier may be of this family")
    func tunnelOfTheOtherFamily() {
        var machine = Machine()
        machine.link(9, "wg0") { $0.kind = "wireguard" }
        machine.link(2, "eth0")
        machine.address(9, "10.0.0.2/32")
        machine.address(2, "2001:db8::2/64")
        machine.route(on: 9)
        let evaluator = PathEvaluator(context: .init(user: 0))
        let before = evaluator.evaluate(machine.snapshot, at: Machine.now)
        machine.route("::/0", via: "fe80::1", on: 2)
        let after = evaluator.evaluate(.ipv6, of: machine.snapshot, keepingOther: before, at: Machine.now)
        #expect(after == evaluator.evaluate(machine.snapshot, at: Machine.now))
        #expect(after.ipv4.path?.carriers.map(\.name) == ["eth0"])
    }
}
