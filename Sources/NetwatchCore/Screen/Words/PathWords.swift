import ReachabilityCore

/// Words for paths.
struct PathWords {
    let glyphs: Glyphs

    /// A path in one line: `wlan0 (wifi) → 192.0.2.1, IPv4 + IPv6`; empty if there is none.
    func path(_ path: NetworkPath) -> String {
        guard let interface = path.interface else { return "" }
        if let ipv4 = path.ipv4, let ipv6 = path.ipv6, ipv4.interface.index != ipv6.interface.index {
            return "IPv4 " + family(ipv4) + glyphs.separator + "IPv6 " + family(ipv6)
        }
        let gateway = path.ipv4?.gateway ?? path.ipv6?.gateway
        let families = (path.ipv4 == nil ? [] : ["IPv4"]) + (path.ipv6 == nil ? [] : ["IPv6"])
        return ([way(interface, gateway)] + (families.isEmpty ? [] : [families.joined(separator: " + ")]))
            .joined(separator: ", ") + beneath(interface, path.carriers)
    }

    /// The same in a few columns, without kinds: `wlan0 → 192.0.2.1`.
    func short(_ path: NetworkPath) -> String {
        guard let interface = path.interface else { return "" }
        return way(interface.name, path.ipv4?.gateway ?? path.ipv6?.gateway)
    }

    /// The same in fewer: the interfaces alone.
    func shortest(_ path: NetworkPath) -> String { path.interface.map { safe($0.name) } ?? "" }

    /// The way to one host.
    func route(_ route: DestinationRoute) -> String {
        guard let interface = route.interface else { return "" }
        return way(interface.name, route.gateway)
    }

    /// `wlan0 (wifi)`.
    func named(_ interface: NetworkInterface) -> String {
        "\(safe(interface.name)) (\(interface.kind.rawValue))"
    }

    /// Text from outside, as the screen can show it.
    func safe(_ text: String) -> String { text.shownOnScreen(asASCII: glyphs.isASCII) }

    private func family(_ path: FamilyPath) -> String {
        way(path.interface, path.gateway) + beneath(path.interface, path.carriers)
    }

    private func way(_ interface: NetworkInterface, _ gateway: IPAddress?) -> String {
        named(interface) + (gateway.map { " \(glyphs.arrow) \($0)" } ?? "")
    }

    private func way(_ name: String, _ gateway: IPAddress?) -> String {
        safe(name) + (gateway.map { " \(glyphs.arrow) \($0)" } ?? "")
    }

    /// What carries a tunnel or another interface without hardware of its own.
    private func beneath(_ interface: NetworkInterface, _ carriers: [NetworkInterface]) -> String {
        let others = carriers.filter { $0.index != interface.index }
        return others.isEmpty ? "" : ", over " + others.map(named).joined(separator: " + ")
    }
}
