import Testing

@testable import ReachabilityCore

/// The path by the kernel's answers and the interfaces that they name, without the rest of the machine.
@Suite struct EgressPathTests {
    /// An Ethernet port with the default path, a modem and a bridge besides.
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

    /// The answers of a kernel that does what the model says.
    private static func answers(_ machine: Machine, matched: IPPrefix? = .all(.ipv4)) -> ProbeResults {
        let results = AddressFamily.allCases.map { family in
            ProbeAddresses.of(family).map { address in
                let outcome = machine.connect(family, to: "\(address)")
                guard case .selected(let selection) = outcome else { return ProbeResult(outcome) }
                return ProbeResult(outcome, matched: matched, isMultipath: !selection.alternatives.isEmpty)
            }
        }
        return .init(ipv4: results[0], ipv6: results[1])
    }

    /// The path by the interfaces that the answers name alone.
    private static func path(_ machine: Machine, _ answers: ProbeResults? = nil) -> NetworkPath? {
        let answers = answers ?? Self.answers(machine)
        var egress = NetworkSnapshot()
        egress.links = machine.snapshot.links.filter { answers.egressInterfaces.contains($0.index) }
        egress.addresses = machine.snapshot.addresses.filter { answers.egressInterfaces.contains($0.key) }
        egress.devices = machine.snapshot.devices
        let evaluator = PathEvaluator(context: .init(user: 0, kindRules: machine.kindRules))
        return evaluator.path(by: answers, egress: egress, at: Machine.now)
    }

    @Test func `an interface that carries alone gives the path of the whole machine`() throws {
        var machine = Self.machine()
        #expect(try #require(Self.path(machine)) == machine.evaluate().path)
        machine.address(3, "2001:db8::2/64")
        machine.route("::/0", via: "2001:db8::1", on: 3)
        #expect(Self.answers(machine).egressInterfaces == [2, 3])
        #expect(try #require(Self.path(machine)) == machine.evaluate().path)
        #expect(Self.path(machine)?.status == .cellular)
    }

    @Test func `the kind is that of the user's rules`() {
        var machine = Self.machine()
        machine.kindRules = [.init(pattern: "eth*", kind: .cellular)]
        #expect(Self.path(machine)?.status == .cellular)
    }

    @Test func `a veth ends the path`() throws {
        var machine = Self.machine()
        machine.alter(2) { link in
            link.kind = "veth"
            link.lowerIndex = 4
        }
        #expect(try #require(Self.path(machine)) == machine.evaluate().path)
    }

    @Test func `a route more specific than those of the model is named as the reason`() {
        let machine = Self.machine()
        let answers = Self.answers(machine, matched: .init(test: "22.0.0.0/12"))
        #expect(Self.path(machine, answers)?.reasons == [.coveredBySpecificRoute])
    }

    @Test(arguments: ["bridge", "bond", "team", "vlan", "macvlan", "vxlan", "wireguard", "rmnet", "of-the-future"])
    func `what has other interfaces below is not evaluated`(kind: String) {
        var machine = Self.machine()
        machine.alter(2) { link in
            link.kind = kind
            link.lowerIndex = kind == "bridge" || kind == "bond" || kind == "team" ? nil : 3
        }
        #expect(Self.path(machine) == nil)
    }

    @Test func `nor a VRF`() {
        var machine = Self.machine()
        machine.alter(2) { link in
            link.kind = "vrf"
            link.vrfTable = 10
        }
        #expect(Self.path(machine) == nil)
    }

    @Test func `nor one of several next hops`() {
        var machine = Self.machine()
        machine.snapshot.routes = .init()
        machine.route(via: "192.0.2.1", on: 2) { route in
            route.message.nextHops.append(.init(interface: 3, gateway: IPAddress("198.51.100.1")))
        }
        #expect(Self.answers(machine).ipv4.allSatisfy { $0.isMultipath })
        #expect(Self.path(machine) == nil)
    }

    @Test func `nor a machine without a path, whose reasons may be anywhere`() {
        var machine = Self.machine()
        machine.loseCarrier(2)
        #expect(Self.path(machine) == nil)
        machine.snapshot.routes = .init()
        #expect(Self.path(machine) == nil)
        #expect(Self.path(machine, .init(ipv4: [], ipv6: [])) == nil)
    }

    @Test func `nor an interface whose device is being asked for, or could not be identified`() {
        var machine = Self.machine()
        machine.snapshot.devices.expect(2)
        #expect(Self.path(machine) == nil)
        machine.snapshot.devices.awaitNothing()
        var device = UeventMessage(action: .add, interface: "eth0", index: 2, deviceType: nil)
        device.probe = .failed("nobody knows it")
        machine.snapshot.devices[2] = device
        #expect(Self.path(machine) == nil)
    }

    @Test func `nor an interface that is not among those that were read`() {
        let machine = Self.machine()
        let evaluator = PathEvaluator(context: .init(user: 0))
        #expect(evaluator.path(by: Self.answers(machine), egress: .init(), at: Machine.now) == nil)
    }

    @Test func `nor an IPv6 source that another interface has, which may still be tentative there`() throws {
        var machine = Self.machine()
        machine.address(2, "2001:db8::2/64")
        machine.route("::/0", via: "fe80::1", on: 2)
        #expect(try #require(Self.path(machine)?.ipv6?.source) == IPAddress("2001:db8::2"))
        var answers = Self.answers(machine)
        for position in answers.ipv6.indices {
            guard case .selected(var selection) = answers.ipv6[position].outcome else { continue }
            selection.nextHop.source = IPAddress("2001:db8::3")
            answers.ipv6[position].outcome = .selected(selection)
        }
        #expect(Self.path(machine, answers) == nil)
    }

    @Test func `nor a lookup that is refused although a socket connects`() {
        let machine = Self.machine()
        var answers = Self.answers(machine)
        answers.ipv6[0].connectedSource = IPAddress("2001:db8::2")
        #expect(Self.path(machine, answers) == nil)
    }
}
