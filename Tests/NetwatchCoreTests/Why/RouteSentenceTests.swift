import NetwatchCore
import Testing

@testable import ReachabilityCore

/// The diagnosis of rules and routes without a usable path.
@Suite struct RouteSentenceTests {
    /// A machine without faults.
    private var machine: BrokenMachine {
        var machine = BrokenMachine()
        machine.address("192.0.2.2/24")
        machine.route(via: "192.0.2.1", metric: 100)
        return machine
    }

    private let table = RouteTableID(rawValue: 77)

    @Test func `a machine without faults has no diagnosis`() {
        #expect(machine.sentences.isEmpty)
    }

    @Test(arguments: [
        (RouteType.prohibit, "a prohibit route", "prohibit"), (.blackhole, "a blackhole route", "blackhole"),
        (.unreachable, "an unreachable route", "unreachable"),
    ])
    func `a route that refuses is diagnosed`(type: RouteType, words: String, command: String) {
        var machine = BrokenMachine()
        machine.address("192.0.2.2/24")
        machine.refusal(type, metric: 5)
        let fix = "'ip route del \(command) default metric 5'"
        #expect(machine.sentences == [.init("the only default route is \(words), which leads nowhere", fix: fix)])
        machine.route(via: "192.0.2.1", metric: 100)
        #expect(machine.sentences == [.init("\(words) hides the default route through eth0", fix: fix)])
    }

    @Test func `a table before main that refuses is diagnosed`() {
        var machine = machine
        machine.insert(BrokenMachine.rule(.ipv4, 50, table))
        machine.refusal(.blackhole, table: table)
        let text = "a blackhole route in table 77 hides the default route through eth0"
        #expect(machine.sentences == [.init(text, fix: "'ip route del blackhole default table 77'")])
    }

    @Test(arguments: [
        (RuleAction.unreachable, "unreachable"), (.prohibit, "prohibit"), (.blackhole, "blackhole"),
    ])
    func `a rule that refuses is diagnosed`(action: RuleAction, word: String) {
        var machine = machine
        var rule = BrokenMachine.rule(.ipv4, 50, .unspecified)
        rule.action = action
        machine.insert(rule)
        let fix = "'ip rule del priority 50'"
        #expect(machine.sentences == [.init("rule 50 refuses all packets (\(word))", fix: fix)])
        machine.snapshot.ipv4Rules.elements[1].source = .init(.init(ipv4: 0xC000_0200), length: 24)
        #expect(machine.sentences == [.init("rule 50 refuses what comes from 192.0.2.0/24 (\(word))", fix: fix)])
    }

    @Test func `a source rule to a link without carrier is diagnosed`() {
        var machine = machine
        machine.addLink(3, "wwan0")
        machine.loseCarrier(3)
        var rule = BrokenMachine.rule(.ipv4, 50, table)
        rule.source = .init(.init(ipv4: 0xC000_0202), length: 32)
        machine.insert(rule)
        machine.route(via: "198.51.100.1", on: 3, table: table)
        // If the kernel skipped that route, it would use main's, the only one that works.
        #expect(
            machine.sentences.map(\.text) == ["wwan0 has no carrier, yet the kernel prefers its route to eth0's"]
        )
        machine.alter(3) { link in
            link.flags = [.up, .lowerUp]
            link.operationalState = .dormant
        }
        let text = "wwan0 waits for the network to let it in (802.1X)"
        #expect(
            machine.sentences.map(\.text) == ["rule 50 sends what comes from 192.0.2.2 by table 77: \(text)"]
        )
    }

    @Test func `a suppressing rule and a throw route are diagnosed`() {
        var machine = machine
        machine.snapshot.ipv4Rules.elements[1].suppressPrefixLength = 0
        #expect(
            machine.sentences == [
                .init(
                    "rule 32766 lets the default route through eth0 not count",
                    fix: "'ip rule del priority 32766'"
                )
            ]
        )
        var other = BrokenMachine()
        other.address("192.0.2.2/24")
        other.refusal(.throw)
        other.route(via: "192.0.2.1", metric: 100)
        #expect(
            other.sentences == [
                .init("a throw route hides the default route through eth0", fix: "'ip route del throw default'")
            ]
        )
    }

    @Test func `routes to only half of the internet are diagnosed`() {
        var machine = BrokenMachine()
        machine.address("192.0.2.2/24")
        machine.route("0.0.0.0/1", via: "192.0.2.1")
        #expect(
            machine.sentences == [
                .init(
                    "the routes cover only a part of IPv4: none leads to 215.0.0.1",
                    fix: "'ip route add default via 192.0.2.1 dev eth0'"
                )
            ]
        )
    }

    @Test func `a table that no rule names is diagnosed`() {
        var machine = BrokenMachine()
        machine.address("192.0.2.2/24")
        machine.route(via: "192.0.2.1", table: table)
        let text = "no rule leads to table 77, where the default route through eth0 is"
        #expect(machine.sentences == [.init(text, fix: "'ip rule add lookup 77'")])
        var bare = self.machine
        bare.snapshot.ipv4Rules.elements.removeLast()
        #expect(
            bare.sentences == [
                .init(
                    "no rule leads to table main, where the default route through eth0 is",
                    fix: "'ip rule add lookup main priority 32766'"
                )
            ]
        )
    }

    @Test func `a default route through loopback is diagnosed`() {
        var machine = BrokenMachine()
        machine.address("192.0.2.2/24")
        machine.route(on: 1)
        #expect(
            machine.sentences == [
                .init("the default route leads to this machine itself", fix: "'ip route del default dev lo'")
            ]
        )
    }

    @Test func `a blackhole nexthop object is diagnosed`() {
        var machine = BrokenMachine()
        machine.address("192.0.2.2/24")
        var nexthop = NexthopMessage(id: 7)
        nexthop.isBlackhole = true
        machine.snapshot.nexthops[7] = nexthop
        machine.route { route in
            route.nextHops = []
            route.nexthopID = 7
        }
        let text = "the only default route is a route by the blackhole nexthop 7, which leads nowhere"
        #expect(machine.sentences.map(\.text) == [text])
    }

    @Test func `a tunnel without carrier is diagnosed`() {
        var machine = machine
        machine.loseCarrier(2)
        machine.addLink(9, "gre1") { link in
            link.kind = "gre"
            link.hardwareType = .gre
            link.operationalState = .unknown
            link.tunnelRemote = .init(ipv4: 0xC633_6407)
        }
        machine.address("10.0.0.2/24", on: 9)
        machine.removeRoutes()
        machine.route(on: 9)
        machine.route(via: "192.0.2.1", metric: 100)
        #expect(machine.sentences.map(\.text) == ["gre1 cannot carry packets, as eth0 has no carrier"])
        machine.snapshot.tunnels.egress[.init(address: .init(ipv4: 0xC633_6407))] = .some(nil)
        #expect(
            machine.sentences.map(\.text) == ["no route leads to 198.51.100.7, the other end of the tunnel gre1"]
        )
    }

    @Test func `a tunnel that is routed into itself is diagnosed`() {
        var machine = machine
        machine.addLink(9, "gre1") { link in
            link.kind = "gre"
            link.hardwareType = .gre
            link.operationalState = .unknown
            link.tunnelRemote = .init(ipv4: 0xC633_6407)
        }
        machine.address("10.0.0.2/24", on: 9)
        machine.removeRoutes()
        machine.route(on: 9)
        machine.snapshot.tunnels.egress[.init(address: .init(ipv4: 0xC633_6407))] = .some(9)
        let text = "the route to 198.51.100.7, the other end of the tunnel gre1, leads into the tunnel itself"
        let fix = "'ip route add 198.51.100.7 via GATEWAY dev NAME', or a fwmark for the tunnel"
        #expect(machine.sentences == [.init(text, fix: fix)])
    }

    @Test func `a silent gateway is diagnosed if there is no other fault`() {
        var machine = machine
        let gateway = NeighbourKey(index: 2, address: .init(ipv4: 0xC000_0201))
        machine.snapshot.neighbours[gateway] = .failed
        #expect(machine.sentences.map(\.text) == ["the gateway 192.0.2.1 on eth0 does not respond"])
        machine.snapshot.neighbours[gateway] = .stale
        #expect(machine.sentences.isEmpty)
    }

    @Test func `a dead next hop is diagnosed`() {
        var machine = BrokenMachine()
        machine.addLink(3, "wwan0")
        machine.address("192.0.2.2/24")
        machine.address("198.51.100.2/24", on: 3)
        machine.route(via: "192.0.2.1") { $0.nextHops.append(.init(interface: 3)) }
        machine.loseCarrier(3)
        #expect(
            machine.sentences.map(\.text) == [
                "some connections fail: a next hop of the default route leads through wwan0, which cannot carry packets"
            ]
        )
    }

    @Test func `an unread model and a netlink failure are diagnosed`() {
        func sentences(_ reason: ReachabilityReason) -> [Sentence] {
            let path = NetworkPath(status: .unknown, reasons: [reason])
            let none = FamilyEvaluation(outcomes: [], path: nil)
            let evaluation = PathEvaluation(path: path, ipv4: none, ipv6: none)
            let snapshot = NetworkSnapshot()
            let explanation = PathExplanation(
                of: evaluation,
                in: snapshot,
                context: .init(user: 0),
                at: BrokenMachine.now
            )
            return WhySentence.of(explanation, snapshot: snapshot, evaluation: evaluation)
        }
        let text = "The kernel's tables are being read for the first time"
        #expect(sentences(.reading) == [.init(text, fix: "Wait; it takes milliseconds.")])
        #expect(sentences(.netlinkFailed).map(\.text) == ["Netlink cannot be read"])
    }

    @Test func `a rule is identified by all its selectors if others have its priority`() {
        var machine = machine
        var marked = BrokenMachine.rule(.ipv4, 60, table)
        marked.mark = .init(value: 7, mask: .max)
        var refusal = BrokenMachine.rule(.ipv4, 60, .unspecified)
        refusal.action = .unreachable
        machine.insert(refusal)
        machine.insert(marked)
        #expect(machine.sentences.map(\.fix) == ["'ip rule del priority 60 unreachable'"])
        machine.snapshot.ipv4Rules.elements[2].source = .init(.init(ipv4: 0xC000_0202), length: 32)
        #expect(machine.sentences.map(\.fix) == ["'ip rule del priority 60 from 192.0.2.2/32 unreachable'"])
    }

    @Test func `a rule that refuses only some packets is diagnosed`() {
        var machine = machine
        var rule = BrokenMachine.rule(.ipv4, 50, .unspecified)
        rule.action = .prohibit
        rule.users = 0...0
        machine.insert(rule)
        #expect(machine.sentences.map(\.text) == ["rule 50 refuses what matches 'uidrange 0-0' (prohibit)"])
        machine.snapshot.ipv4Rules.elements[1].users = nil
        machine.snapshot.ipv4Rules.elements[1].destination = .init(.init(ipv4: 0x8000_0000), length: 1)
        let only = machine.sentences.map(\.text)
        #expect(only == ["rule 50 refuses what goes to 128.0.0.0/1 (prohibit)"])
    }

    @Test func `a source rule to a table in which a refusal hides a route is diagnosed`() {
        var machine = machine
        var rule = BrokenMachine.rule(.ipv4, 50, table)
        rule.source = .init(.init(ipv4: 0xC000_0202), length: 32)
        machine.insert(rule)
        machine.refusal(.unreachable, metric: 1, table: table)
        machine.route(via: "192.0.2.1", metric: 100, table: table)
        let text = "an unreachable route in table 77 hides the default route through eth0"
        #expect(machine.sentences == [.init(text, fix: "'ip route del unreachable default metric 1 table 77'")])
    }

    @Test func `a table that a rule names only for other packets is diagnosed`() {
        var machine = BrokenMachine()
        machine.address("192.0.2.2/24")
        machine.route(via: "192.0.2.1", table: table)
        var rule = BrokenMachine.rule(.ipv4, 90, table)
        rule.mark = .init(value: 5, mask: .max)
        machine.insert(rule)
        let text = "rule 90 leads only what matches 'fwmark 0x5' to table 77, where the default route through eth0 is"
        #expect(machine.sentences == [.init(text, fix: "'ip rule add lookup 77'")])
    }

    @Test func `halves of the internet that are refused are diagnosed`() {
        var machine = BrokenMachine()
        machine.address("192.0.2.2/24")
        machine.refusal(.unreachable, "0.0.0.0/1")
        machine.refusal(.unreachable, "128.0.0.0/1")
        let text = "the only route to 22.0.0.1 is an unreachable route, which leads nowhere"
        #expect(machine.sentences == [.init(text, fix: "'ip route del unreachable 0.0.0.0/1'")])
        machine.removeRoutes()
        machine.route("0.0.0.0/1")
        #expect(machine.sentences.map(\.fix) == ["'ip route add default dev eth0'"])
    }

    @Test func `a name with shell characters is quoted in the fix`() {
        var machine = BrokenMachine()
        machine.alter(2) { $0.name = "a;b.1" }
        machine.setDown(2)
        #expect(machine.sentences == [.init("a;b.1 is switched off (down)", fix: #"'ip link set dev a\;b.1 up'"#)])
    }
}
