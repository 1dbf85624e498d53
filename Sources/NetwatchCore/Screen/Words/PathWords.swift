package import ReachabilityCore

/// Words for paths.
package struct PathWords {
    let glyphs: Glyphs

    /// Creates the words.
    package init(glyphs: Glyphs) { self.glyphs = glyphs }

    /// A path in one line: `wlan0 (wifi) → 192.0.2.1, IPv4 + IPv6`; empty if there is none.
    package func path(_ path: NetworkPath) -> String {
        guard let interface = path.interface else { return "" }
        if let ipv4 = path.ipv4, let ipv6 = path.ipv6, ipv4.interface.index != ipv6.interface.index {
            return "IPv4 " + family(ipv4) + glyphs.separator + "IPv6 " + family(ipv6)
        }
        let gateway = path.ipv4?.gateway ?? path.ipv6?.gateway
        let families = (path.ipv4 == nil ? [] : ["IPv4"]) + (path.ipv6 == nil ? [] : ["IPv6"])
        return ([egress(interface, gateway)] + (families.isEmpty ? [] : [families.joined(separator: " + ")]))
            .joined(separator: ", ") + beneath(interface, path.carriers)
    }

    /// The same in a few columns, without kinds: `wlan0 → 192.0.2.1`.
    func short(_ path: NetworkPath) -> String {
        guard let interface = path.interface else { return "" }
        return egress(interface.name, path.ipv4?.gateway ?? path.ipv6?.gateway)
    }

    /// The short form: only the interfaces.
    func shortest(_ path: NetworkPath) -> String { path.interface.map { safe($0.name) } ?? "" }

    /// The route to one host.
    func route(_ route: DestinationRoute) -> String {
        guard let interface = route.interface else { return "" }
        return egress(interface.name, route.gateway)
    }

    /// `wlan0 (wifi)`.
    func named(_ interface: NetworkInterface) -> String {
        "\(safe(interface.name)) (\(interface.kind.rawValue))"
    }

    /// Text from outside, as the screen can show it.
    package func safe(_ text: String) -> String { text.shownOnScreen(asASCII: glyphs.isASCII) }

    private func family(_ path: FamilyPath) -> String {
        egress(path.interface, path.gateway) + beneath(path.interface, path.carriers)
    }

    private func egress(_ interface: NetworkInterface, _ gateway: IPAddress?) -> String {
        named(interface) + (gateway.map { " \(glyphs.arrow) \($0)" } ?? "")
    }

    private func egress(_ name: String, _ gateway: IPAddress?) -> String {
        safe(name) + (gateway.map { " \(glyphs.arrow) \($0)" } ?? "")
    }

    /// Returns the carriers of a tunnel or another interface without hardware of its own.
    private func beneath(_ interface: NetworkInterface, _ carriers: [NetworkInterface]) -> String {
        let others = carriers.filter { $0.index != interface.index }
        return others.isEmpty ? "" : ", over " + others.map(named).joined(separator: " + ")
    }
}

/// Words for the default routes of a model.
struct RouteWords {
    let snapshot: NetworkSnapshot

    /// The routes through each interface, those of table main first.
    func byInterface() -> [InterfaceIndex: [String]] {
        var found: [InterfaceIndex: [String]] = [:]
        for key in snapshot.routes.keys.sorted(by: { order($0) < order($1) }) {
            for route in snapshot.routes[key] ?? [] {
                for nextHop in nextHops(route.message) {
                    found[nextHop.interface, default: []].append(text(route.message, nextHop))
                }
            }
        }
        return found
    }

    private func order(_ key: RouteTableKey) -> (Int, UInt32, UInt8) {
        (key.table == .main ? 0 : 1, key.table.rawValue, key.family.rawValue)
    }

    private func nextHops(_ message: RouteMessage) -> [NextHop] {
        guard let id = message.nexthopID, let nexthop = snapshot.nexthops[id] else { return message.nextHops }
        let members = nexthop.group.isEmpty ? [nexthop] : nexthop.group.compactMap { snapshot.nexthops[$0.id] }
        return members.compactMap(\.nextHop)
    }

    /// `192.0.2.1 (600)`, with what differs from an ordinary default route.
    private func text(_ message: RouteMessage, _ nextHop: NextHop) -> String {
        var words: [String] = []
        if message.destination.length > 0 {
            words.append("\(message.destination.address)/\(message.destination.length)")
        }
        words.append(nextHop.gateway?.description ?? "on link")
        words.append("(\(message.metric))")
        if message.source.length > 0 { words.append("from \(message.source.address)/\(message.source.length)") }
        if message.table != .main { words.append("table \(message.table.rawValue)") }
        return words.joined(separator: " ")
    }
}

/// Words for an interface's addresses.
enum AddressWords {
    /// IPv4 first, then IPv6, last those that are link-local or deprecated; each group in the kernel's order.
    static func addresses(_ messages: [AddressMessage]) -> [String] {
        messages.enumerated()
            .sorted { (rank($0.element), $0.offset) < (rank($1.element), $1.offset) }
            .map { text($0.element) }
    }

    private static func rank(_ message: AddressMessage) -> Int {
        if message.address.isLinkLocal { return 3 }
        if !message.flags.isDisjoint(with: [.deprecated, .duplicate, .tentative]) { return 2 }
        return message.address.family == .ipv4 ? 0 : 1
    }

    /// `192.0.2.2/24`, and what keeps it from being used.
    private static func text(_ message: AddressMessage) -> String {
        let flags: [(AddressFlags, String)] = [
            (.duplicate, "duplicate"), (.tentative, "tentative"), (.deprecated, "deprecated"),
        ]
        let word = flags.first { message.flags.contains($0.0) }.map { " " + $0.1 } ?? ""
        let peer = message.peer.map { " peer \($0)" } ?? ""
        return "\(message.address)\(peer)/\(message.prefixLength)\(word)"
    }
}
