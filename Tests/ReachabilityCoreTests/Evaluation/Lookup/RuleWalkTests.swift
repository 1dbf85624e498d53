import Testing

@testable import ReachabilityCore

/// The walk through the rules, for a socket that is unmarked and unbound.
struct RuleWalkTests {
    /// A machine whose table main leads through interface 2 and whose table 100 leads through interface 3.
    private func machine(_ family: AddressFamily = .ipv4) -> Machine {
        var machine = Machine()
        let all = family == .ipv4 ? "0.0.0.0/0" : "::/0"
        machine.link(2, "eth0")
        machine.link(3, "eth1")
        machine.address(2, family == .ipv4 ? "192.0.2.2/24" : "2001:db8::2/64")
        machine.address(3, family == .ipv4 ? "198.51.100.2/24" : "2001:db8:1::2/64")
        machine.route(all, via: family == .ipv4 ? "192.0.2.1" : "fe80::1", on: 2)
        machine.route(all, via: family == .ipv4 ? "198.51.100.1" : "fe80::1", on: 3, table: .init(rawValue: 100))
        return machine
    }

    typealias Alteration = @Sendable (inout RuleMessage) -> Void

    static let matching: [(String, Alteration)] = [
        ("to the probe", { $0.destination = .init(test: "22.0.0.0/8") }),
        ("from the unbound source", { $0.source = .init(test: "0.0.0.0/32") }),
        ("mark 0", { $0.mark = .init(value: 0, mask: 0xFF) }),
        ("input lo", { $0.inputInterface = "lo" }),
        ("this user", { $0.users = 0...0 }),
        ("UDP", { $0.ipProtocol = 17 }),
        ("port 443", { $0.destinationPorts = .init(first: 443, last: 443) }),
        ("an ephemeral port", { $0.sourcePorts = .init(first: 49_152, last: 65_535) }),
        ("a port under a mask", { $0.sourcePorts = .init(first: 0xC000, last: 0xC000, mask: 0xF000) }),
        ("DSCP 0", { $0.dscp = .init(value: 0, mask: 0x3F) }),
        (
            "not another mark",
            {
                $0.mark = .init(value: 1, mask: .max)
                $0.flags = .invert
            }
        ),
    ]

    @Test("A rule that matches is taken", arguments: matching.indices)
    func takes(_ position: Int) {
        var machine = machine()
        machine.rule(100, table: .init(rawValue: 100), Self.matching[position].1)
        #expect(machine.lookup().interface == 3, "\(Self.matching[position].0)")
    }

    static let missing: [(String, Alteration)] = [
        ("to elsewhere", { $0.destination = .init(test: "23.0.0.0/8") }),
        ("from a subnet", { $0.source = .init(test: "192.0.2.0/24") }),
        ("another mark", { $0.mark = .init(value: 1, mask: .max) }),
        ("another input", { $0.inputInterface = "eth0" }),
        ("an output", { $0.outputInterface = "eth1" }),
        ("another user", { $0.users = 1...2 }),
        ("TCP", { $0.ipProtocol = 6 }),
        ("another port", { $0.destinationPorts = .init(first: 80, last: 80) }),
        ("another source port", { $0.sourcePorts = .init(first: 1, last: 1_023) }),
        ("TOS", { $0.tos = 0x10 }),
        ("DSCP", { $0.dscp = .init(value: 46, mask: 0x3F) }),
        ("tunnel", { $0.tunnelID = 7 }),
        ("VRF", { $0.isL3Master = true }),
        (
            "not this mark",
            {
                $0.mark = .init(value: 0, mask: 0xFF)
                $0.flags = .invert
            }
        ),
    ]

    @Test("A rule that does not match is skipped", arguments: missing.indices)
    func passesOver(_ position: Int) {
        var machine = machine()
        machine.rule(100, table: .init(rawValue: 100), Self.missing[position].1)
        #expect(machine.lookup().interface == 2, "\(Self.missing[position].0)")
    }

    @Test("The input interface is compared with the loopback's name")
    func renamedLoopback() {
        var machine = machine()
        machine.alter(1) { $0.name = "loop" }
        machine.rule(100, table: .init(rawValue: 100)) { $0.inputInterface = "lo" }
        #expect(machine.lookup().interface == 2)
        machine.rule(90, table: .init(rawValue: 100)) { $0.inputInterface = "loop" }
        #expect(machine.lookup().interface == 3)
    }

    @Test(
        "Actions that refuse",
        arguments: [(RuleAction.unreachable, 101), (.prohibit, 13), (.blackhole, 22), (.unspecified, 22)]
            as [(
                RuleAction, Int32
            )]
    )
    func refuses(action: RuleAction, errno: Int32) {
        var machine = machine()
        machine.rule(100) { $0.action = action }
        #expect(machine.lookup().errno == errno)
    }

    @Test("A goto continues at the first rule of its target's priority")
    func jumps() {
        var machine = machine()
        machine.rule(100) { rule in
            rule.action = .goto
            rule.gotoPriority = 300
        }
        machine.rule(200) { $0.action = .prohibit }
        machine.rule(300) { $0.action = .noOperation }
        machine.rule(300, table: .init(rawValue: 100))
        #expect(machine.lookup().interface == 3)
    }

    @Test("A goto without a target, or with an earlier one, is skipped", arguments: [150 as UInt32, 50])
    func jumpsNowhere(target: UInt32) {
        var machine = machine()
        machine.rule(50) { $0.action = .noOperation }
        machine.rule(100) { rule in
            rule.action = .goto
            rule.gotoPriority = target
        }
        #expect(machine.lookup().interface == 2)
    }

    @Test("Rules suppress short prefixes and groups, but no refusals")
    func suppresses() {
        var machine = machine()
        machine.rule(100, table: .init(rawValue: 100)) { $0.suppressPrefixLength = 0 }
        #expect(machine.lookup().interface == 2)
        machine.route("0.0.0.0/1", via: "198.51.100.1", on: 3, table: .init(rawValue: 100))
        #expect(machine.lookup().interface == 3)
        machine.rule(90, table: .init(rawValue: 100)) { $0.suppressInterfaceGroup = 5 }
        machine.alter(3) { $0.group = 5 }
        #expect(machine.lookup().interface == 3, "by the rule behind")
        machine.snapshot.routes[.init(.ipv4, .init(rawValue: 100))] = nil
        machine.route(table: .init(rawValue: 100)) { $0.message.type = .prohibit }
        #expect(machine.lookup().errno == 13)
    }

    @Test("A throw route ends the table, and the walk continues")
    func throwsOn() {
        var machine = machine()
        machine.route("0.0.0.0/1", table: .init(rawValue: 100)) { $0.message.type = .throw }
        machine.rule(100, table: .init(rawValue: 100))
        #expect(machine.lookup().interface == 2)
        #expect(machine.lookup(to: "215.0.0.1").interface == 3)
    }

    @Test("Without rules there is no route")
    func withoutRules() {
        var machine = machine()
        machine.snapshot.ipv4Rules = []
        #expect(machine.connect().errno == 101)
    }

    @Test("A namespace that never had a rule added consults table default if main refuses")
    func untouchedRules() {
        var machine = machine()
        machine.snapshot.routes = [:]
        machine.route { $0.message.type = .unreachable }
        #expect(machine.lookup().errno == 113)
        machine.route(via: "198.51.100.1", on: 3, table: .default)
        #expect(machine.lookup().interface == 3)
        machine.rule(1) { $0.action = .noOperation }
        #expect(machine.lookup().errno == 113, "with a rule the walk stops at the refusal")
    }

    @Test("No source prefix matches an unbound IPv6 socket, which has no source")
    func ipv6Source() {
        var machine = machine(.ipv6)
        machine.rule(.ipv6, 100, table: .init(rawValue: 100)) { $0.source = .init(test: "::/1") }
        #expect(machine.lookup(.ipv6).interface == 2)
        #expect(machine.lookup(.ipv6, from: "2001:db8::2").interface == 3)
        machine.rule(.ipv6, 90) { rule in
            rule.source = .init(test: "::/1")
            rule.flags = .invert
            rule.action = .prohibit
        }
        #expect(machine.lookup(.ipv6).errno == 13)
        #expect(machine.lookup(.ipv6, from: "2001:db8::2").interface == 3)
    }

    @Test("A rule on the source applies if the source that would be selected matches it")
    func findsSource() {
        var machine = machine(.ipv6)
        machine.rule(.ipv6, 100, table: .init(rawValue: 100)) { rule in
            rule.source = .init(test: "2001:db8:1::/64")
            rule.flags = .findSource
        }
        #expect(machine.lookup(.ipv6).interface == 3)
        machine.rule(.ipv6, 90) { rule in
            rule.source = .init(test: "fd00::/8")
            rule.flags = .findSource
            rule.action = .lookup
        }
        #expect(machine.lookup(.ipv6).interface == 3)
    }
}
