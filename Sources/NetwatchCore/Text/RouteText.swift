package import ReachabilityCore

/// Words for routes, as ip-route(8) has them.
package enum RouteText {
    /// A table: `main`, `default`, `local`, or its number.
    package static func table(_ table: RouteTableID) -> String {
        switch table {
        case .main: "main"
        case .default: "default"
        case .local: "local"
        default: String(table.rawValue)
        }
    }

    /// Formats the route that the kernel selects: `via 192.0.2.1 dev wlan0 source 192.0.2.2 table main metric 600`.
    ///
    /// - Parameters:
    ///   - selection: The route.
    ///   - names: What interfaces are called.
    ///   - isFromModel: Whether table and metric are known; a lookup by the kernel does not report them.
    /// - Returns: One line.
    package static func selection(_ selection: RouteSelection, names: InterfaceNames, isFromModel: Bool) -> String {
        var words = type(selection.type) + nextHop(selection.nextHop, names: names)
        words += ["source", selection.nextHop.source?.description ?? "none"]
        if isFromModel { words += ["table", table(selection.table), "metric", String(selection.metric)] }
        return words.joined(separator: " ")
    }

    /// The words for a type; none for unicast, as everywhere.
    package static func type(_ type: RouteType) -> [String] {
        switch type {
        case .unicast: []
        case .local: ["local"]
        case .broadcast: ["broadcast"]
        case .anycast: ["anycast"]
        case .multicast: ["multicast"]
        case .blackhole: ["blackhole"]
        case .unreachable: ["unreachable"]
        case .prohibit: ["prohibit"]
        case .throw: ["throw"]
        default: ["type", String(type.rawValue)]
        }
    }

    private static func nextHop(_ nextHop: SelectedNextHop, names: InterfaceNames) -> [String] {
        (nextHop.gateway.map { ["via", $0.description] } ?? []) + ["dev", names.name(nextHop.interface)]
    }
}

/// The names of interfaces, safe for a terminal.
package struct InterfaceNames: Sendable {
    private let snapshot: NetworkSnapshot

    /// Takes the model that knows them.
    package init(snapshot: NetworkSnapshot) { self.snapshot = snapshot }

    /// The name of an interface, or its number where it has none.
    package func name(_ index: InterfaceIndex) -> String {
        snapshot.link(index)?.name.escapedForTerminal ?? "if\(index)"
    }
}

/// Writes rules as ip-rule(8) does.
package enum RuleText {
    /// A rule: `32766: from all lookup main`.
    package static func rule(_ rule: RuleMessage) -> String {
        let words = [selectors(of: rule, all: ["from", "all"]), action(of: rule), suppression(by: rule)]
        return "\(rule.priority): " + words.flatMap(\.self).joined(separator: " ")
    }

    /// Formats the selectors and the action of a rule, as `ip rule del` identifies it: `from 192.0.2.2/32 lookup 100`.
    static func identity(of rule: RuleMessage) -> String {
        (selectors(of: rule) + (rule.isL3Master ? ["l3mdev"] : action(of: rule)) + suppression(by: rule))
            .map(\.shellWord).joined(separator: " ")
    }

    /// Which packets a rule is about: `all packets`, `what comes from 192.0.2.2`, `what matches 'uidrange 0-0'`.
    package static func scope(of rule: RuleMessage) -> String {
        var general = rule
        general.source = .all(rule.family)
        if rule.source.length > 0, selectors(of: general).isEmpty { return "what comes from \(rule.source.text)" }
        general = rule
        general.destination = .all(rule.family)
        let words = selectors(of: rule)
        if words.isEmpty { return "all packets" }
        if selectors(of: general).isEmpty { return "what goes to \(rule.destination.text)" }
        return "what matches '\(words.joined(separator: " "))'"
    }

    private static func selectors(of rule: RuleMessage, all: [String] = []) -> [String] {
        var words = rule.flags.contains(.invert) ? ["not"] : []
        words += rule.source.length > 0 ? ["from", prefix(rule.source)] : all
        if rule.destination.length > 0 { words += ["to", prefix(rule.destination)] }
        if rule.tos != 0 { words += ["tos", hexadecimal(rule.tos)] }
        if rule.mark.mask != 0 { words += ["fwmark", masked(rule.mark, hexadecimal(rule.mark.value))] }
        if let input = rule.inputInterface { words += ["iif", input.escapedForTerminal] }
        if let output = rule.outputInterface { words += ["oif", output.escapedForTerminal] }
        if let users = rule.users { words += ["uidrange", "\(users.lowerBound)-\(users.upperBound)"] }
        return words + transport(of: rule)
    }

    private static func transport(of rule: RuleMessage) -> [String] {
        var words: [String] = []
        if let number = rule.ipProtocol { words += ["ipproto", String(number)] }
        if let range = rule.sourcePorts { words += ["sport", ports(range)] }
        if let range = rule.destinationPorts { words += ["dport", ports(range)] }
        if let dscp = rule.dscp {
            words += ["dscp", masked(dscp, all: 0x3F, String(dscp.value))]
        }
        if let label = rule.flowLabel {
            words += ["flowlabel", masked(label, all: 0xFFFFF, hexadecimal(label.value))]
        }
        if rule.tunnelID != 0 { words += ["tun_id", String(rule.tunnelID)] }
        return words
    }

    private static func ports(_ range: PortRange) -> String {
        if let mask = range.mask, mask != .max { return hexadecimal(range.first) + "/" + hexadecimal(mask) }
        return range.first == range.last ? String(range.first) : "\(range.first)-\(range.last)"
    }

    /// A value, with the mask if not all bits are compared.
    private static func masked<Bits>(
        _ value: MaskedValue<Bits>,
        all: Bits = .max,
        _ plain: @autoclosure () -> String
    ) -> String {
        value.mask == all ? plain() : hexadecimal(value.value) + "/" + hexadecimal(value.mask)
    }

    private static func hexadecimal(_ number: some BinaryInteger) -> String { "0x" + String(number, radix: 16) }

    private static func action(of rule: RuleMessage) -> [String] {
        switch rule.action {
        case .lookup: ["lookup", rule.isL3Master ? "[l3mdev-table]" : RouteText.table(rule.table)]
        case .goto: ["goto", rule.gotoPriority.map { String($0) } ?? "none"]
        case .noOperation: ["nop"]
        case .blackhole: ["blackhole"]
        case .unreachable: ["unreachable"]
        case .prohibit: ["prohibit"]
        default: ["action", String(rule.action.rawValue)]
        }
    }

    private static func suppression(by rule: RuleMessage) -> [String] {
        var words: [String] = []
        if let limit = rule.suppressPrefixLength { words += ["suppress_prefixlength", String(limit)] }
        if let group = rule.suppressInterfaceGroup { words += ["suppress_ifgroup", String(group)] }
        return words
    }

    /// A prefix as ip-route(8) writes it: `default`, or an address with the length.
    package static func prefix(_ prefix: IPPrefix) -> String {
        prefix.length == 0 ? "default" : "\(prefix.address)/\(prefix.length)"
    }
}

/// Names of settings, as sysctl(8) has them.
package enum SettingText {
    /// `net.ipv4.conf.eth0.ignore_routes_with_linkdown`, as a word for a shell.
    ///
    /// A dot in an interface's name is written as a slash, as dots separate the parts.
    package static func linkDown(_ name: String, _ family: AddressFamily) -> String {
        let interface = String(name.map { $0 == "." ? "/" : $0 }).shellWord
        return "net.\(family == .ipv4 ? "ipv4" : "ipv6").conf.\(interface).ignore_routes_with_linkdown"
    }
}
