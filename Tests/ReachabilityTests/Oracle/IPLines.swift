import ReachabilityCore

/// Values as ip(8) writes them, so that a failed story can be repeated by hand.
extension IPPrefix {
    var line: String { length == 0 ? "default" : "\(address)/\(length)" }
}

extension RuleMessage {
    var line: String {
        var words = ["pref \(priority)"]
        if flags.contains(.invert) { words.append("not") }
        words.append("from \(source.length == 0 ? "all" : source.line)")
        if flags.contains(.findSource) { words.append("(find source)") }
        if destination.length > 0 { words.append("to \(destination.line)") }
        if tos != 0 { words.append("tos \(tos)") }
        if let dscp { words.append("dscp \(dscp.value)/\(dscp.mask)") }
        if mark.mask != 0 { words.append("fwmark \(mark.value)/\(mark.mask)") }
        if let inputInterface { words.append("iif \(inputInterface)") }
        if let outputInterface { words.append("oif \(outputInterface)") }
        if let users { words.append("uidrange \(users.lowerBound)-\(users.upperBound)") }
        if let ipProtocol { words.append("ipproto \(ipProtocol)") }
        if let sourcePorts { words.append("sport \(sourcePorts.line)") }
        if let destinationPorts { words.append("dport \(destinationPorts.line)") }
        if let flowLabel { words.append("flowlabel \(flowLabel.value)/\(flowLabel.mask)") }
        if tunnelID != 0 { words.append("tun_id \(tunnelID)") }
        return (words + [actionLine]).joined(separator: " ")
    }

    private var actionLine: String {
        guard action == .lookup else { return action.word + (gotoPriority.map { " \($0)" } ?? "") }
        var words = ["lookup \(table.rawValue)"]
        if let length = suppressPrefixLength { words.append("suppress_prefixlength \(length)") }
        if let group = suppressInterfaceGroup { words.append("suppress_ifgroup \(group)") }
        return words.joined(separator: " ")
    }
}

extension PortRange {
    fileprivate var line: String { mask.map { "\(first)/\($0)" } ?? "\(first)-\(last)" }
}

extension RouteMessage {
    var line: String {
        var words = [family == .ipv4 ? "-4" : "-6"]
        if type != .unicast { words.append("type \(type.rawValue)") }
        words.append(destination.line)
        if source.length > 0 { words.append("from \(source.line)") }
        if let nexthopID { words.append("nhid \(nexthopID)") }
        if nextHops.count == 1 { words.append(nextHops[0].line) }
        words += ["table \(table.rawValue)", "metric \(metric)"]
        if scope != .universe { words.append("scope \(scope.rawValue)") }
        if let preferredSource { words.append("src \(preferredSource)") }
        if preference != .medium { words.append("pref \(preference)") }
        if let lifetime { words.append("expires \(lifetime)") }
        if nextHops.count > 1 { words += nextHops.map { "nexthop \($0.line) weight \($0.weight)" } }
        return words.joined(separator: " ")
    }
}

extension NextHop {
    fileprivate var line: String {
        (gateway.map { "via \($0) " } ?? "") + "dev \(interface)" + (flags == [] ? "" : " flags \(flags.rawValue)")
    }
}

extension LookupOutcome {
    var line: String {
        switch self {
        case .refused(let errno, let reason): return "errno \(errno) (\(reason.rawValue))"
        case .selected(let selection):
            let nextHops = selection.alternatives.isEmpty ? [selection.nextHop] : selection.alternatives
            let ways = nextHops.map { nextHop in
                NextHop(interface: nextHop.interface, gateway: nextHop.gateway).line
                    + (nextHop.source.map { " src \($0)" } ?? "")
            }
            let head = "type \(selection.type.rawValue) table \(selection.table.rawValue) metric \(selection.metric)"
            return "\(head) \(ways.joined(separator: " | "))"
        }
    }
}

extension KernelResult {
    var line: String {
        switch self {
        case .refused(let errno): "errno \(errno)"
        case .route(let route): route.line
        }
    }
}

extension AddressMessage {
    var line: String {
        let end = peer.map { " peer \($0)" } ?? ""
        return "\(address)/\(prefixLength)\(end) dev \(index) scope \(scope.rawValue) flags \(flags.rawValue)"
    }
}

extension NexthopMessage {
    var line: String {
        if isBlackhole { return "id \(id) blackhole" }
        if let nextHop { return "id \(id) \(nextHop.line)" }
        return "id \(id) group " + group.map { "\($0.id),\($0.weight)" }.joined(separator: "/")
    }
}

extension Link {
    var line: String {
        let state = "flags \(String(flags.rawValue, radix: 16)) operstate \(operationalState)"
        return "\(index) \(name) \(state) group \(group) \(usesOwnAddressesOnly ? "use_oif_addrs_only" : "")"
    }
}

extension NetworkSnapshot {
    /// The whole state, a line for each entry.
    var lines: [String] {
        var lines = links.map { "link \($0.line)" }
        lines += links.flatMap { addresses[$0.index] ?? [] }.map { "addr \($0.line)" }
        lines += ipv4Rules.elements.map { "-4 rule \($0.line)" } + ipv6Rules.elements.map { "-6 rule \($0.line)" }
        lines += routes.values.flatMap { $0 }.map { "route \($0.message.line) expiry \(String(describing: $0.expiry))" }
        lines += nexthops.values.map { "nexthop \($0.line)" }
        lines += neighbours.map { "neigh \($0.key.address) dev \($0.key.index) nud \($0.value.rawValue)" }
        lines += settings.filter { $0.value != .init() }.map { "settings \($0.key) \($0.value)" }
        return lines
    }
}
