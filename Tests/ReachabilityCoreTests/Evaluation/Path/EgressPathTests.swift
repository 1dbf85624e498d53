import Testing

@testable import ReachabilityCore

/// The path from the kernel's lookups and the interfaces that they name, without the rest of the machine.
@Suite struct EgressPathTests {
    /// A machine with the default path on an Ethernet port, a modem and a bridge.
    private static func machine() -> Machine {
        var machine = Machine()
        machine.link(2, "eth0")
        machine.link(3, "wwan0") { $0.kind = "wwan" }
        machine.link(4, "br0") { $0.kind = "bridge" }
        machine.address(2, "192.0.2.2/24")
        machine.address(3, "198.51.100.2/24")
        machine.route(via: "192.0.2.1", on: 2)
        return machine
    }

    /// The lookup results of a kernel that behaves as the model.
    private static func results(_ machine: Machine, matched: IPPrefix? = .all(.ipv4)) -> ProbeResults {
        let families = AddressFamily.allCases.map { family in
            ProbeAddresses.of(family).map { address in
                let outcome = machine.connect(family, to: "\(address)")
                guard case .selected(let selection) = outcome else { return ProbeResult(outcome) }
                return ProbeResult(outcome, matched: matched, isMultipath: !selection.alternatives.isEmpty)
            }
        }
        return .init(ipv4: families[0], ipv6: families[1])
    }

    /// The path from only the interfaces that the results name.
    private static func path(_ machine: Machine, _ results: ProbeResults? = nil) -> NetworkPath? {
        let results = results ?? Self.results(machine)
        var egress = NetworkSnapshot()
        egress.links = machine.snapshot.links.filter { results.egressInterfaces.contains($0.index) }
        egress.addresses = machine.snapshot.addresses.filter { results.egressInterfaces.contains($0.key) }
        egress.devices = machine.snapshot.devices
        let evaluator = PathEvaluator(context: .init(user: 0, kindRules: machine.kindRules))
        return evaluator.path(by: results, egress: egress, at: Machine.now)
    }

    @Test func `the interfaces of the default path alone give the path of the whole machine`() throws {
        var machine = Self.machine()
        #expect(try #require(Self.path(machine)) == machine.evaluate().path)
        machine.address(3, "2001:db8::2/64")
        machine.route("::/0", via: "2001:db8::1", on: 3)
        #expect(Self.results(machine).egressInterfaces == [2, 3])
        #expect(try #require(Self.path(machine)) == machine.evaluate().path)
        #expect(Self.path(machine)?.status == .cellular)
    }

    @Test func `the user's rules determine the kind of the interface`() {
        var machine = Self.machine()
        machine.kindRules = [.init(pattern: "eth*", kind: .cellular)]
        #expect(Self.path(machine)?.status == .cellular)
    }

    @Test func `a veth is evaluated without its peer`() throws {
        var machine = Self.machine()
        machine.alter(2) { link in
            link.kind = "veth"
            link.lowerIndex = 4
        }
        #expect(try #require(Self.path(machine)) == machine.evaluate().path)
    }

    @Test func `a route that is more specific than a default is reported as a reason`() {
        let machine = Self.machine()
        let results = Self.results(machine, matched: .init(test: "22.0.0.0/12"))
        #expect(Self.path(machine, results)?.reasons == [.coveredBySpecificRoute])
    }

    @Test(arguments: ["bridge", "bond", "team", "vlan", "macvlan", "vxlan", "wireguard", "rmnet", "of-the-future"])
    func `an interface with lower interfaces is not evaluated`(kind: String) {
        var machine = Self.machine()
        machine.alter(2) { link in
            link.kind = kind
            link.lowerIndex = kind == "bridge" || kind == "bond" || kind == "team" ? nil : 3
        }
        #expect(Self.path(machine) == nil)
    }

    @Test func `a VRF is not evaluated`() {
        var machine = Self.machine()
        machine.alter(2) { link in
            link.kind = "vrf"
            link.vrfTable = 10
        }
        #expect(Self.path(machine) == nil)
    }

    @Test func `a multipath route is not evaluated`() {
        var machine = Self.machine()
        machine.snapshot.routes = .init()
        machine.route(via: "192.0.2.1", on: 2) { route in
            route.message.nextHops.append(.init(interface: 3, gateway: IPAddress("198.51.100.1")))
        }
        #expect(Self.results(machine).ipv4.allSatisfy { $0.isMultipath })
        #expect(Self.path(machine) == nil)
    }

    @Test func `a machine without a path is not evaluated, because the reasons may be on any interface`() {
        var machine = Self.machine()
        machine.loseCarrier(2)
        #expect(Self.path(machine) == nil)
        machine.snapshot.routes = .init()
        #expect(Self.path(machine) == nil)
        #expect(Self.path(machine, .init(ipv4: [], ipv6: [])) == nil)
    }

    @Test func `an interface whose device is not identified is not evaluated`() {
        var machine = Self.machine()
        machine.snapshot.devices.expect(2, isReplacement: false)
        #expect(Self.path(machine) == nil)
        machine.snapshot.devices.awaitNothing()
        var device = UeventMessage(action: .add, interface: "eth0", index: 2, deviceType: nil)
        device.probe = .failed("unknown device")
        machine.snapshot.devices[2] = device
        #expect(Self.path(machine) == nil)
    }

    @Test func `an interface that was not read is not evaluated`() {
        let machine = Self.machine()
        let evaluator = PathEvaluator(context: .init(user: 0))
        #expect(evaluator.path(by: Self.results(machine), egress: .init(), at: Machine.now) == nil)
    }

    @Test func `an IPv6 source of another interface is not evaluated, because it may be tentative there`() throws {
        var machine = Self.machine()
        machine.address(2, "2001:db8::2/64")
        machine.route("::/0", via: "fe80::1", on: 2)
        #expect(try #require(Self.path(machine)?.ipv6?.source) == IPAddress("2001:db8::2"))
        var results = Self.results(machine)
        for position in results.ipv6.indices {
            guard case .selected(var selection) = results.ipv6[position].outcome else { continue }
            selection.nextHop.source = IPAddress("2001:db8::3")
            results.ipv6[position].outcome = .selected(selection)
        }
        #expect(Self.path(machine, results) == nil)
    }

    @Test func `a refused lookup is not evaluated if a socket connects`() {
        let machine = Self.machine()
        var results = Self.results(machine)
        results.ipv6[0].connectedSource = IPAddress("2001:db8::2")
        #expect(Self.path(machine, results) == nil)
    }
}
