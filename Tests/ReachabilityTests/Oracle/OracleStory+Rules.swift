import NetworkLab
import ReachabilityCore

extension OracleStory {
    /// Adds or removes a rule; too many make everything refuse.
    mutating func changeRules() throws {
        let family = dice.pick(AddressFamily.allCases)
        let present = rules(family)
        if present.count > 7 || dice.once(in: 4), let rule = present.isEmpty ? nil : dice.pick(present) {
            return remove(rule)
        }
        if dice.once(in: 6) { return restoreRules(family) }
        var rule = RuleMessage(family: family)
        rule.priority = dice.roll(1...40) * 1_000
        var names = drawAction(&rule)
        names += drawSelectors(&rule)
        if rule.dependsOnHash, snapshot.nexthops[Self.ipv6Group] != nil { return }
        attempt("rule add \(rule.line)", covering: names) { [world] in try world.rtnl.addRule(rule) }
    }

    private mutating func remove(_ rule: RuleMessage) {
        // Without its first rule the walk of a family would be as if it had never had one.
        guard rule.priority != 1 else { return }
        attempt("rule del \(rule.line)") { [world] in try world.rtnl.deleteRule(rule) }
    }

    /// Restores the rule for table main.
    private mutating func restoreRules(_ family: AddressFamily) {
        var rule = RuleMessage(family: family)
        rule.priority = 32_766
        rule.table = .main
        attempt("rule add \(rule.line)") { [world] in try world.rtnl.addRule(rule) }
    }

    private mutating func drawAction(_ rule: inout RuleMessage) -> [String] {
        switch dice.roll(0...14) {
        case 0: rule.action = .unreachable
        case 1: rule.action = .blackhole
        case 2: rule.action = .prohibit
        case 3: rule.action = .noOperation
        case 4:
            rule.action = .goto
            // Some of the targets do not exist.
            rule.gotoPriority = dice.once(in: 3) ? 32_766 : rule.priority + 1_000 * dice.roll(1...5)
        default:
            rule.table = dice.pick(Self.tables)
            return ["action lookup"] + drawSuppression(&rule)
        }
        return ["action \(rule.action.word)"]
    }

    private mutating func drawSuppression(_ rule: inout RuleMessage) -> [String] {
        var names: [String] = []
        if dice.once(in: 6) {
            rule.suppressPrefixLength = dice.roll(0...3)
            names.append("rule suppress_prefixlength")
        }
        if dice.once(in: 6) {
            rule.suppressInterfaceGroup = dice.roll(0...1)
            names.append("rule suppress_ifgroup")
        }
        return names
    }

    /// Some selectors; most of the values match a probe, so that combinations still do.
    private mutating func drawSelectors(_ rule: inout RuleMessage) -> [String] {
        var names: [String] = []
        if dice.once(in: 6) {
            rule.flags.insert(.invert)
            names.append("rule not")
        }
        for _ in 0..<dice.pick([0, 1, 1, 2, 2, 3]) { names.append(drawSelector(&rule)) }
        return names
    }

    private mutating func drawSelector(_ rule: inout RuleMessage) -> String {
        switch dice.roll(0...10) {
        case 0, 1: drawSource(&rule)
        case 2: drawDestination(&rule)
        case 3: drawMark(&rule)
        case 4: drawInterface(&rule)
        case 5: drawTransport(&rule)
        case 6: drawPorts(&rule)
        case 7, 8: drawService(&rule)
        default: drawTunnelOrUser(&rule)
        }
    }

    private mutating func drawSource(_ rule: inout RuleMessage) -> String {
        let choices =
            rule.family == .ipv4
            ? ["0.0.0.0/1", "10.0.0.0/8", "10.0.1.0/24", "198.51.100.0/24", "0.0.0.0/32"]
            : ["2001:db8:1::/64", "2001:db8::/32", "fd00::/8", "::/1", "::1/128"]
        rule.source = .init(lab: dice.pick(choices))
        guard rule.family == .ipv6, dice.once(in: 2) else { return "rule from" }
        rule.flags.insert(.findSource)
        return "rule find source"
    }

    private mutating func drawDestination(_ rule: inout RuleMessage) -> String {
        let choices =
            rule.family == .ipv4 ? ["22.0.0.0/8", "0.0.0.0/1", "128.0.0.0/1"] : ["2d00::/8", "2000::/4", "3000::/4"]
        rule.destination = .init(lab: dice.pick(choices))
        return "rule to"
    }

    private mutating func drawMark(_ rule: inout RuleMessage) -> String {
        rule.mark = dice.pick([.init(value: 0, mask: 0xFF), .init(value: 1, mask: 0xFF), .init(value: 0, mask: .max)])
        return "rule fwmark"
    }

    private mutating func drawInterface(_ rule: inout RuleMessage) -> String {
        if dice.once(in: 2) {
            rule.inputInterface = dice.pick(["lo", "lo", "eth1", "none0"])
            return "rule iif"
        }
        rule.outputInterface = dice.pick(["lo", "eth1", "none0"])
        return "rule oif"
    }

    private mutating func drawTransport(_ rule: inout RuleMessage) -> String {
        rule.ipProtocol = dice.pick([17, 17, 6])
        return "rule ipproto"
    }

    private mutating func drawPorts(_ rule: inout RuleMessage) -> String {
        if dice.once(in: 2) {
            rule.sourcePorts = dice.pick([
                .init(first: 49_152, last: 49_152), .init(first: 32_768, last: 60_999), .init(first: 1, last: 1_023),
                .init(first: 0xC000, last: 0xC000, mask: 0xC000),
            ])
            return "rule sport"
        }
        rule.destinationPorts = dice.pick([
            .init(first: 443, last: 443), .init(first: 1, last: 1_023), .init(first: 80, last: 80),
            .init(first: 1, last: 1, mask: 1),
        ])
        return "rule dport"
    }

    private mutating func drawService(_ rule: inout RuleMessage) -> String {
        switch dice.roll(0...3) {
        case 0 where rule.dscp == nil:
            rule.tos = 0x10
            return "rule tos"
        case 1 where rule.family == .ipv6, 2 where rule.family == .ipv6:
            rule.flowLabel = dice.pick([.init(value: 0, mask: 0xFF), .init(value: 5, mask: 0xFF)])
            return "rule flowlabel"
        default:
            guard rule.tos == 0 else { return "rule tos" }
            rule.dscp = dice.pick([
                .init(value: 0, mask: 0x3F), .init(value: 0, mask: 0x30), .init(value: 8, mask: 0x3F),
            ])
            return "rule dscp"
        }
    }

    private mutating func drawTunnelOrUser(_ rule: inout RuleMessage) -> String {
        if dice.once(in: 2) {
            rule.tunnelID = 7
            return "rule tun_id"
        }
        rule.users = 0...0
        return "rule uidrange"
    }

    /// The tables that rules and routes are drawn for; those above 255 need `RTA_TABLE` and `FRA_TABLE`.
    static let tables: [RouteTableID] = [.main, .main, .main, .init(rawValue: 100), .init(rawValue: 1_000), .default]
}

extension RuleAction {
    /// The action's name in ip-rule(8).
    var word: String {
        switch self {
        case .lookup: "lookup"
        case .goto: "goto"
        case .noOperation: "nop"
        case .blackhole: "blackhole"
        case .unreachable: "unreachable"
        case .prohibit: "prohibit"
        default: "\(rawValue)"
        }
    }
}
