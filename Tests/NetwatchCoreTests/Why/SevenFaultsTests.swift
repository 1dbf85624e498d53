import NetwatchCore
import ReachabilityCore
import Testing

/// The diagnosis of the seven most common faults, which other tests produce in the real kernel.
@Suite struct SevenFaultsTests {
    private let table = RouteTableID(rawValue: 100)

    @Test func `a missing carrier is diagnosed`() {
        var machine = BrokenMachine()
        machine.loseCarrier(2)
        machine.address("192.0.2.2/24")
        machine.route(via: "192.0.2.1")
        let sentence = Sentence("eth0 has no carrier", fix: "plug in the cable, and look at what is at its other end")
        #expect(machine.sentences == [sentence])
        machine.removeRoutes()
        #expect(machine.sentences == [sentence])
    }

    @Test func `a missing address is diagnosed`() {
        var machine = BrokenMachine()
        machine.address("fe80::2/64")
        let fix = "'dhclient eth0', or 'ip address add ADDRESS/LENGTH dev eth0'"
        #expect(machine.sentences == [.init("eth0 has a carrier but no address", fix: fix)])
        machine.route("::/0", via: "fe80::1", metric: 1024)
        #expect(
            machine.sentences == [
                .init("eth0 has a default route but no IPv6 address to send from", fix: fix)
            ]
        )
    }

    @Test func `a missing default route is diagnosed`() {
        var machine = BrokenMachine()
        machine.address("192.0.2.2/24")
        let text = "there is no default route, though eth0 has the address 192.0.2.2"
        #expect(machine.sentences == [.init(text, fix: "'ip route add default via GATEWAY dev eth0'")])
    }

    @Test func `an unreachable route with a lower metric is diagnosed`() {
        var machine = BrokenMachine()
        machine.address("192.0.2.2/24")
        machine.refusal(.unreachable)
        machine.route(via: "192.0.2.1", metric: 100)
        let text = "an unreachable route hides the default route through eth0"
        #expect(machine.sentences == [.init(text, fix: "'ip route del unreachable default'")])
    }

    @Test func `a dead preferred link is diagnosed`() {
        var machine = BrokenMachine()
        machine.addLink(3, "wwan0")
        machine.address("192.0.2.2/24")
        machine.address("198.51.100.2/24", on: 3)
        machine.route(via: "192.0.2.1", metric: 100)
        machine.route(via: "198.51.100.1", on: 3, metric: 700)
        machine.loseCarrier(2)
        let text = "eth0 has no carrier, yet the kernel prefers its route to wwan0's"
        let sentence = Sentence(text, fix: "'sysctl net.ipv4.conf.eth0.ignore_routes_with_linkdown=1'")
        #expect(machine.sentences == [sentence])
        // Working IPv6 hides it.
        machine.address("2001:db8::3/64", on: 3)
        machine.route("::/0", via: "fe80::1", on: 3, metric: 1024)
        #expect(machine.sentences == [.init("IPv4 does not work: " + text, fix: sentence.fix)])
    }

    @Test func `a source rule without a route is diagnosed`() {
        var machine = BrokenMachine()
        machine.address("192.0.2.2/24")
        machine.route(via: "192.0.2.1")
        var rule = BrokenMachine.rule(.ipv4, 100, table)
        rule.source = .init(.init(ipv4: 0xC000_0202), length: 32)
        machine.insert(rule)
        machine.refusal(.unreachable, table: table)
        let text = "rule 100 sends what comes from 192.0.2.2 to table 100, which has only an unreachable route"
        #expect(machine.sentences == [.init(text, fix: "'ip rule del priority 100'")])
    }

    @Test func `an expired router advertisement is diagnosed`() {
        var machine = BrokenMachine()
        machine.address("2001:db8::2/64")
        machine.route("::/0", via: "fe80::1", metric: 1024, expiry: .init(nanoseconds: 1)) { $0.origin = 9 }
        let text = "the default route through eth0 has expired, as the router fe80::1 advertises it no more"
        let fix = "see whether the router still advertises itself: 'rdisc6 eth0'"
        #expect(machine.sentences == [.init(text, fix: fix)])
        // Once the tables are read again, the model no longer has it.
        machine.removeExpiredRoutes()
        #expect(machine.sentences == [.init(text, fix: fix)])
        machine.route("::/0", via: "fe80::2", metric: 1024)
        #expect(machine.sentences.isEmpty)
    }
}
