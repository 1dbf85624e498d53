import NetwatchCore
import ReachabilityCore
import Testing

@testable import netwatch

@Suite struct CandidateTextTests {
    @Test func `rules are written as ip-rule writes them`() {
        var rule = RuleMessage(family: .ipv4)
        rule.priority = 90
        rule.table = .main
        rule.suppressPrefixLength = 0
        #expect(RuleText.rule(rule) == "90: from all lookup main suppress_prefixlength 0")
        rule.flags = .invert
        rule.mark = .init(value: 0xCA6C, mask: .max)
        rule.table = .init(rawValue: 51_820)
        rule.suppressPrefixLength = nil
        #expect(RuleText.rule(rule) == "90: not from all fwmark 0xca6c lookup 51820")
    }

    @Test func `each selector of a rule is written`() {
        var rule = RuleMessage(family: .ipv6)
        rule.priority = 5
        rule.action = .prohibit
        rule.tos = 0x10
        rule.mark = .init(value: 0x1, mask: 0xFF)
        rule.users = 0...99
        rule.ipProtocol = 17
        rule.sourcePorts = .init(first: 53, last: 53)
        rule.destinationPorts = .init(first: 0x100, last: 0x100, mask: 0xFF00)
        rule.dscp = .init(value: 10, mask: 0x3F)
        rule.flowLabel = .init(value: 0x12345, mask: 0xFFFFF)
        rule.tunnelID = 42
        let selectors = "tos 0x10 fwmark 0x1/0xff uidrange 0-99 ipproto 17 sport 53 dport 0x100/0xff00 "
        let rest = "dscp 10 flowlabel 0x12345 tun_id 42 prohibit"
        #expect(RuleText.rule(rule) == "5: from all " + selectors + rest)
        rule = .init(family: .ipv4)
        rule.priority = 1_000
        rule.isL3Master = true
        rule.dscp = .init(value: 8, mask: 0x38)
        rule.flowLabel = .init(value: 0x100, mask: 0xF00)
        rule.sourcePorts = .init(first: 1_024, last: 2_048)
        let masked = "sport 1024-2048 dscp 0x8/0x38 flowlabel 0x100/0xf00"
        #expect(RuleText.rule(rule) == "1000: from all " + masked + " lookup [l3mdev-table]")
    }

    @Test func `routes are written as ip-route writes them`() {
        let text = CandidateText(names: .init(snapshot: .init()))
        var route = RouteMessage(destination: .all(.ipv4))
        route.metric = 5
        let nextHops = [NextHop(interface: 2, gateway: .init(ipv4: 0xC000_0201)), NextHop(interface: 3)]
        #expect(text.route(route, [nextHops[0]]) == "default via 192.0.2.1 dev if2 metric 5")
        #expect(text.route(route, nextHops) == "default nexthop via 192.0.2.1 dev if2 nexthop dev if3 metric 5")
        route.type = .unreachable
        #expect(text.route(route, []) == "unreachable default metric 5")
    }

    @Test func `control characters in names are escaped`() {
        var scratch = Samples.wlan
        scratch.name = "a\u{1B}[2J"
        #expect(InterfaceText.text(scratch) == "a\\u{1b}[2J (wifi): by its device's type (devtype)")
    }
}
