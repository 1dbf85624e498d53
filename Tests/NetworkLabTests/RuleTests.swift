import NetworkLab
import ReachabilityCore
import Testing

@Suite("Rules of the lab")
struct RuleTests {
    private let lab: LabNamespace

    init() throws { lab = try LabNamespace() }

    /// One change of a rule without selectors, with its name.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let change: @Sendable (inout RuleMessage) -> Void

        init(_ name: String, _ change: @escaping @Sendable (inout RuleMessage) -> Void) {
            testDescription = name
            self.change = change
        }
    }

    static let cases: [Case] = [
        .init("lookup") { $0.table = .init(rawValue: 1000) },
        .init("from") { $0.source = .init($0.source.address, length: 1) },
        .init("to") { $0.destination = .init($0.destination.address, length: 3) },
        .init("not") { rule in
            rule.flags = .invert
            rule.mark = .init(value: 5, mask: 5)
        },
        .init("fwmark") { $0.mark = .init(value: 0x10, mask: 0xFF) },
        .init("iif") { $0.inputInterface = "lo" },
        .init("oif") { $0.outputInterface = "lo" },
        .init("tos") { $0.tos = 0x10 },
        .init("dscp") { $0.dscp = .init(value: 10, mask: 0x3F) },
        .init("uidrange") { $0.users = 0...0 },
        .init("ipproto") { $0.ipProtocol = 17 },
        .init("sport") { rule in
            rule.ipProtocol = 17
            rule.sourcePorts = .init(first: 1000, last: 2000)
        },
        .init("dport") { rule in
            rule.ipProtocol = 6
            rule.destinationPorts = .init(first: 443, last: 443)
        },
        .init("suppress_prefixlength") { $0.suppressPrefixLength = 0 },
        .init("suppress_ifgroup") { $0.suppressInterfaceGroup = 7 },
        .init("tunnel id") { $0.tunnelID = 0x1_0000_0002 },
        .init("goto") { rule in
            rule.action = .goto
            rule.table = .unspecified
            rule.gotoPriority = 30_000
        },
        .init("nop") { $0.action = .noOperation },
        .init("unreachable") { $0.action = .unreachable },
        .init("blackhole") { $0.action = .blackhole },
        .init("prohibit") { $0.action = .prohibit },
    ]

    @Test("Each selector and action is read as it was written", arguments: cases, AddressFamily.allCases)
    func roundTrip(what: Case, family: AddressFamily) throws {
        var rule = RuleMessage(family: family)
        rule.priority = 100
        rule.table = .main
        what.change(&rule)
        try lab.rtnl.addRule(rule)
        var found = try #require(lab.rtnl.rules(family).first { $0.priority == 100 })
        found.flags.remove(.unresolved)
        found.origin = rule.origin
        // Since Linux 6.15 a single port comes back with its mask.
        if found.destinationPorts?.mask == .max { found.destinationPorts?.mask = nil }
        if rule.action != .lookup { found.table = rule.table }
        #expect(found == rule)
        try lab.rtnl.deleteRule(rule)
        #expect(try !lab.rtnl.rules(family).contains { $0.priority == 100 })
    }

    @Test("An IPv6 rule matches a flow label under its mask")
    func flowLabel() throws {
        var rule = RuleMessage(family: .ipv6)
        rule.priority = 100
        rule.table = .main
        rule.flowLabel = .init(value: 0x12345, mask: 0xFFFFF)
        try lab.rtnl.addRule(rule)
        #expect(try lab.rtnl.rules(.ipv6).first { $0.priority == 100 }?.flowLabel == rule.flowLabel)
    }
}
