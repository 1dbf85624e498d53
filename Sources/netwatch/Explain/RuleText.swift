import ReachabilityCore

/// Writes rules as ip-rule(8) does.
enum RuleText {
    /// A rule: `32766: from all lookup main`.
    static func rule(_ rule: RuleMessage) -> String {
        let words = [selectors(of: rule), action(of: rule), suppression(by: rule)].flatMap(\.self)
        return "\(rule.priority): " + words.joined(separator: " ")
    }

    private static func selectors(of rule: RuleMessage) -> [String] {
        var words = rule.flags.contains(.invert) ? ["not"] : []
        words += ["from", rule.source.length > 0 ? prefix(rule.source) : "all"]
        if rule.destination.length > 0 { words += ["to", prefix(rule.destination)] }
        if rule.mark.mask != 0 { words += ["fwmark", "0x" + String(rule.mark.value, radix: 16)] }
        if let users = rule.users { words += ["uidrange", "\(users.lowerBound)-\(users.upperBound)"] }
        if let input = rule.inputInterface { words += ["iif", input.escapedForTerminal] }
        if let output = rule.outputInterface { words += ["oif", output.escapedForTerminal] }
        if let number = rule.ipProtocol { words += ["ipproto", String(number)] }
        if let ports = rule.sourcePorts { words += ["sport", "\(ports.first)-\(ports.last)"] }
        if let ports = rule.destinationPorts { words += ["dport", "\(ports.first)-\(ports.last)"] }
        return words
    }

    private static func action(of rule: RuleMessage) -> [String] {
        switch rule.action {
        case .lookup: ["lookup", RouteText.table(rule.table)]
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
    static func prefix(_ prefix: IPPrefix) -> String {
        prefix.length == 0 ? "default" : "\(prefix.address)/\(prefix.length)"
    }
}
