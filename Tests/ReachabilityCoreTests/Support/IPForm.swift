import ReachabilityCore

/// Formats decoded messages as `ip -N -j` does.
struct IPForm {
    /// The names of the interfaces.
    let names: [InterfaceIndex: String]

    init(_ links: [LinkMessage]) {
        names = Dictionary(links.map { ($0.index, $0.name ?? "") }) { $1 }
    }

    static let linkFields: Set = [
        "ifindex", "ifname", "flags", "mtu", "operstate", "group", "link_type", "link", "link_index", "link_netnsid",
        "master", "linkinfo.info_kind", "linkinfo.info_slave_kind",
    ]

    func link(_ link: LinkMessage) -> [String: String] {
        var form = ["ifindex": "\(link.index)", "link_type": "[\(link.hardwareType.rawValue)]"]
        form["ifname"] = link.name
        form["mtu"] = link.mtu.map(String.init)
        form["group"] = link.group.map(String.init)
        form["operstate"] = link.operationalState.map { "\($0)".uppercased() }
        form["flags"] = flags(link.flags)
        form["linkinfo.info_kind"] = link.kind
        form["linkinfo.info_slave_kind"] = link.portKind
        form["master"] = link.masterIndex.flatMap { names[$0] }
        form["link_netnsid"] = link.lowerNamespace.map(String.init)
        if link.lowerNamespace == nil {
            form["link"] = link.lowerIndex.flatMap { names[$0] }
        } else {
            form["link_index"] = link.lowerIndex.map(String.init)
        }
        return form
    }

    private func flags(_ flags: LinkFlags) -> String {
        let known: [(LinkFlags, String)] = [
            (.up, "UP"), (.loopback, "LOOPBACK"), (.noARP, "NOARP"), (.lowerUp, "LOWER_UP"), (.dormant, "DORMANT"),
            (.init(rawValue: 2), "BROADCAST"), (.init(rawValue: 1 << 12), "MULTICAST"),
            (.init(rawValue: 1 << 8), "PROMISC"), (.init(rawValue: 1 << 9), "ALLMULTI"),
        ]
        var words = known.filter { flags.contains($0.0) }.map(\.1)
        if flags.contains(.up), !flags.contains(.running) { words.append("NO-CARRIER") }
        return words.sorted().joined(separator: " ")
    }

    static let routeFields: Set = [
        "type", "dst", "from", "gateway", "via.family", "via.host", "dev", "table", "protocol", "scope", "prefsrc",
        "metric", "tos", "flags", "nhid", "pref", "nexthops..gateway", "nexthops..via.family", "nexthops..via.host",
        "nexthops..dev", "nexthops..weight", "nexthops..flags",
    ]

    func route(_ route: RouteMessage) -> [String: String] {
        var form = [
            "type": "\(route.type.rawValue)", "table": "\(route.table.rawValue)", "protocol": "\(route.origin)",
            "scope": "\(route.scope.rawValue)", "dst": prefix(route.destination),
        ]
        if route.source.length > 0 { form["from"] = prefix(route.source) }
        if route.tos != 0 { form["tos"] = hexadecimal(UInt32(route.tos)) }
        // IPv6 always has a metric, IPv4 none if it is 0.
        if route.metric != 0 || route.family == .ipv6 { form["metric"] = "\(route.metric)" }
        form["prefsrc"] = route.preferredSource?.description
        form["nhid"] = route.nexthopID.map(String.init)
        if route.family == .ipv6 { form["pref"] = "\(route.preference)" }
        if route.nextHops.count == 1, let nextHop = route.nextHops.first {
            for (key, value) in self.nextHop(nextHop, route.family) { form[key] = value }
        } else {
            for (position, nextHop) in route.nextHops.enumerated() {
                form["nexthops.\(position).weight"] = "\(nextHop.weight)"
                for (key, value) in self.nextHop(nextHop, route.family) { form["nexthops.\(position).\(key)"] = value }
            }
        }
        return form
    }

    private func nextHop(_ nextHop: NextHop, _ family: AddressFamily) -> [String: String] {
        var form: [String: String] = [:]
        form["dev"] = names[nextHop.interface]
        if let gateway = nextHop.gateway, gateway.family != family {
            form["via.family"] = gateway.family == .ipv6 ? "inet6" : "inet"
            form["via.host"] = gateway.description
        } else {
            form["gateway"] = nextHop.gateway?.description
        }
        if let flags = nextHopFlags(nextHop.flags) { form["flags"] = flags }
        return form
    }

    func nextHopFlags(_ flags: NextHopFlags) -> String? {
        let known: [(NextHopFlags, String)] = [(.onLink, "onlink"), (.dead, "dead"), (.linkDown, "linkdown")]
        let words = known.filter { flags.contains($0.0) }.map(\.1)
        return words.isEmpty ? nil : words.sorted().joined(separator: " ")
    }

    /// As ip(8) writes destinations: a host without length, everything as 'default'.
    private func prefix(_ prefix: IPPrefix) -> String {
        guard prefix.length > 0 else { return "default" }
        return Int(prefix.length) == prefix.address.family.bitWidth ? "\(prefix.address)" : "\(prefix)"
    }

    func hexadecimal(_ value: UInt32) -> String { "0x" + String(value, radix: 16) }
}
