import ReachabilityCore

/// Writes notices as lines for people.
enum ChangeText {
    /// One notice as a line, with the line feed.
    ///
    /// `2026-11-20T21:00:00.123456+01:00 wifi eth0 (wired), ipv4 192.0.2.2 via 192.0.2.1 metric 100 [route.added]`
    static func line(_ change: StateChange, at time: Timestamp, utcOffset: Int) -> [UInt8] {
        var text = time.localText(offset: utcOffset) + " "
        if change.event != .state, change.event != .change { text += change.event.rawValue + ": " }
        text += change.status.name + " " + path(change.path)
        let reasons = change.allReasons
        if !reasons.isEmpty { text += " [" + reasons.map(\.rawValue).joined(separator: ", ") + "]" }
        return Array((text + "\n").utf8)
    }

    /// A path in a few words: `wlan0 (wifi), ipv4 192.0.2.2 via 192.0.2.1 metric 600`.
    static func path(_ path: NetworkPath) -> String {
        guard let interface = path.interface else { return "no path" }
        var text = named(interface)
        if path.carriers != [interface], !path.carriers.isEmpty {
            text += " over " + path.carriers.map(named).joined(separator: " and ")
        }
        if let ipv4 = path.ipv4 { text += ", " + family("ipv4", ipv4, beside: interface) }
        if let ipv6 = path.ipv6 { text += ", " + family("ipv6", ipv6, beside: interface) }
        return text
    }

    /// An interface with its kind: `wlan0 (wifi)`.
    static func named(_ interface: NetworkInterface) -> String {
        "\(interface.name.escapedForTerminal) (\(interface.kind.rawValue))"
    }

    /// One family's path; its interface is named only where it is another than the path's.
    private static func family(_ name: String, _ path: FamilyPath, beside interface: NetworkInterface) -> String {
        var text = name + " " + path.source.description
        if let gateway = path.gateway { text += " via " + gateway.description }
        if path.interface.index != interface.index { text += " dev " + path.interface.name.escapedForTerminal }
        return text + " metric " + String(path.metric)
    }
}
