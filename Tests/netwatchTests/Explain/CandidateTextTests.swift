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

    @Test func `routes are written as ip-route writes them`() {
        let text = CandidateText(names: .init(snapshot: .init()))
        var route = RouteMessage(destination: .all(.ipv4))
        route.metric = 5
        let legs = [RouteLeg(interface: 2, gateway: .init(ipv4: 0xC000_0201)), RouteLeg(interface: 3)]
        #expect(text.route(route, [legs[0]]) == "default via 192.0.2.1 dev if2 metric 5")
        #expect(text.route(route, legs) == "default nexthop via 192.0.2.1 dev if2 nexthop dev if3 metric 5")
        route.type = .unreachable
        #expect(text.route(route, []) == "unreachable default metric 5")
    }

    @Test func `names that a terminal would obey are escaped`() {
        var scratch = Samples.wlan
        scratch.name = "a\u{1B}[2J"
        #expect(InterfaceText.text(scratch) == "a\\u{1b}[2J (wifi): by its device's type (devtype)")
    }
}
