import ReachabilityCore

/// Words for the default routes of a model.
struct RouteWords {
    let snapshot: NetworkSnapshot

    /// The routes through each interface, those of table main first.
    func byInterface() -> [InterfaceIndex: [String]] {
        var found: [InterfaceIndex: [String]] = [:]
        for key in snapshot.routes.keys.sorted(by: { order($0) < order($1) }) {
            for route in snapshot.routes[key] ?? [] {
                for leg in legs(route.message) { found[leg.interface, default: []].append(text(route.message, leg)) }
            }
        }
        return found
    }

    private func order(_ key: RouteTableKey) -> (Int, UInt32, UInt8) {
        (key.table == .main ? 0 : 1, key.table.rawValue, key.family.rawValue)
    }

    private func legs(_ message: RouteMessage) -> [RouteLeg] {
        guard let id = message.nexthopID, let nexthop = snapshot.nexthops[id] else { return message.legs }
        let members = nexthop.group.isEmpty ? [nexthop] : nexthop.group.compactMap { snapshot.nexthops[$0.id] }
        return members.compactMap(\.leg)
    }

    /// `192.0.2.1 (600)`, with what differs from an ordinary default route.
    private func text(_ message: RouteMessage, _ leg: RouteLeg) -> String {
        var words: [String] = []
        if message.destination.length > 0 {
            words.append("\(message.destination.address)/\(message.destination.length)")
        }
        words.append(leg.gateway?.description ?? "on link")
        words.append("(\(message.metric))")
        if message.source.length > 0 { words.append("from \(message.source.address)/\(message.source.length)") }
        if message.table != .main { words.append("table \(message.table.rawValue)") }
        return words.joined(separator: " ")
    }
}
