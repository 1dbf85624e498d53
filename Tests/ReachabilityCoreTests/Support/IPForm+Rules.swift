import ReachabilityCore

extension IPForm {
    static let ruleFields: Set = [
        "priority", "not", "src", "srclen", "dst", "dstlen", "fwmark", "fwmask", "iif", "iif_detached", "oif",
        "oif_detached", "uid_start", "uid_end", "ipproto", "sport", "sport_start", "sport_end", "dport", "dport_start",
        "dport_end", "tos", "table", "suppress_prefixlen", "suppress_ifgroup", "goto", "unresolved", "action", "l3mdev",
        "nop", "tun_id", "protocol",
    ].map { $0.filter { !$0.isNumber } }.reduce(into: []) { $0.insert($1) }

    func rule(_ rule: RuleMessage) -> [String: String] {
        var form = ["priority": "\(rule.priority)"]
        form.merge(end(rule.source, "src")) { $1 }
        if rule.source.length == 0 { form["src"] = "all" }
        if rule.destination.length > 0 { form.merge(end(rule.destination, "dst")) { $1 } }
        if rule.flags.contains(.invert) { form["not"] = "" }
        if rule.tos != 0 { form["tos"] = hexadecimal(UInt32(rule.tos)) }
        if rule.mark.mask != 0 { form["fwmark"] = hexadecimal(rule.mark.value) }
        if rule.mark.mask != 0, rule.mark.mask != .max { form["fwmask"] = hexadecimal(rule.mark.mask) }
        form["iif"] = rule.inputInterface
        form["oif"] = rule.outputInterface
        if rule.flags.contains(.inputDetached) { form["iif_detached"] = "" }
        if rule.flags.contains(.outputDetached) { form["oif_detached"] = "" }
        form["uid_start"] = rule.users.map { "\($0.lowerBound)" }
        form["uid_end"] = rule.users.map { "\($0.upperBound)" }
        form["ipproto"] = rule.ipProtocol.map { "ipproto-\($0)" }
        form.merge(ports(rule.sourcePorts, "sport")) { $1 }
        form.merge(ports(rule.destinationPorts, "dport")) { $1 }
        if rule.tunnelID != 0 { form["tun_id"] = "\(rule.tunnelID)" }
        // Rules of the kernel and of boot (what ip itself says) are not marked as such.
        if rule.origin > 3 { form["protocol"] = "\(rule.origin)" }
        form.merge(action(rule)) { $1 }
        return form
    }

    private func action(_ rule: RuleMessage) -> [String: String] {
        var form: [String: String] = [:]
        form["suppress_prefixlen"] = rule.suppressPrefixLength.map(String.init)
        form["suppress_ifgroup"] = rule.suppressInterfaceGroup.map(String.init)
        if rule.isL3Master { return ["l3mdev": ""] }
        switch rule.action {
        case .lookup: form["table"] = "\(rule.table.rawValue)"
        case .goto: form["goto"] = rule.gotoPriority.map(String.init)
        case .noOperation: form["nop"] = ""
        default: form["action"] = "\(rule.action.rawValue)"
        }
        return form
    }

    private func end(_ prefix: IPPrefix, _ key: String) -> [String: String] {
        let isHost = Int(prefix.length) == prefix.address.family.bitWidth
        let length = isHost || prefix.length == 0 ? [:] : ["\(key)len": "\(prefix.length)"]
        return [key: "\(prefix.address)"].merging(length) { $1 }
    }

    private func ports(_ range: PortRange?, _ key: String) -> [String: String] {
        guard let range else { return [:] }
        guard range.first != range.last else { return [key: "\(range.first)"] }
        return ["\(key)_start": "\(range.first)", "\(key)_end": "\(range.last)"]
    }

    static let nexthopFields: Set = ["id", "gateway", "dev", "blackhole", "fdb", "flags", "group..id", "group..weight"]

    func nexthop(_ nexthop: NexthopMessage) -> [String: String] {
        var form = ["id": "\(nexthop.id)"]
        if nexthop.isBlackhole { form["blackhole"] = "" }
        if nexthop.isForwardingDatabase { form["fdb"] = "" }
        form["gateway"] = nexthop.nextHop?.gateway?.description
        form["dev"] = nexthop.nextHop.flatMap { names[$0.interface] }
        form["flags"] = nexthop.nextHop.flatMap { nextHopFlags($0.flags) }
        for (position, member) in nexthop.group.enumerated() {
            form["group.\(position).id"] = "\(member.id)"
            if member.weight != 1 { form["group.\(position).weight"] = "\(member.weight)" }
        }
        return form
    }

    static let neighbourFields: Set = ["dst", "dev", "state"]

    func neighbour(_ neighbour: NeighbourMessage) -> [String: String] {
        let known: [(NeighbourState, String)] = [
            (.permanent, "PERMANENT"), (.noARP, "NOARP"), (.reachable, "REACHABLE"), (.stale, "STALE"),
            (.failed, "FAILED"), (.delay, "DELAY"), (.probe, "PROBE"), (.incomplete, "INCOMPLETE"),
        ]
        let words = known.filter { neighbour.state.contains($0.0) }.map(\.1)
        var form = ["dst": neighbour.address.description, "state": words.joined(separator: " ")]
        form["dev"] = names[neighbour.index]
        return form
    }

    static let netconfFields: Set = ["family", "interface", "forwarding", "ignore_routes_with_linkdown"]

    func netconf(_ netconf: NetconfMessage) -> [String: String] {
        var form = ["family": netconf.family == .ipv4 ? "inet" : "inet6"]
        form["interface"] =
            switch netconf.index {
            case NetconfMessage.allInterfaces: "all"
            case NetconfMessage.defaultInterface: "default"
            default: names[netconf.index]
            }
        form["forwarding"] = netconf.forwarding.map { $0 ? "1" : "0" }
        form["ignore_routes_with_linkdown"] = netconf.ignoresRoutesWithLinkDown.map { $0 ? "1" : "0" }
        return form
    }

    static let addressFields: Set = ["local", "address", "prefixlen", "scope", "tentative", "deprecated", "dynamic"]

    func address(_ address: AddressMessage) -> [String: String] {
        var form = ["local": address.address.description, "prefixlen": "\(address.prefixLength)"]
        form["scope"] = "\(address.scope.rawValue)"
        form["address"] = address.peer?.description
        if address.flags.contains(.tentative) { form["tentative"] = "1" }
        if address.flags.contains(.deprecated) { form["deprecated"] = "1" }
        if !address.flags.contains(.permanent) { form["dynamic"] = "1" }
        return form
    }
}
