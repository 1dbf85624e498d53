extension NetworkSnapshot {
    /// `RTM_NEWROUTE` of a default-like route.
    mutating func insert(
        _ message: RouteMessage,
        _ flags: NetlinkFlags,
        at now: Instant,
        _ effect: inout SnapshotEffect
    ) {
        guard message.isMirrored else { return insertTunnelEgress(message, &effect) }
        // The kernel does not use a route whose time is over, though it still lists it.
        noteLifetime(of: message)
        if message.lifetime == .zero { return remove(message, &effect) }
        let route = Route(message, isAnswer: flags.contains(.multi), at: now, in: self)
        let key = RouteTableKey(message.family, message.table)
        if message.family == .ipv4 {
            routes[key, default: []].insertIPv4(route, flags, &effect)
        } else {
            routes[key, default: []].insertIPv6(route, flags, &effect)
        }
    }

    /// `RTM_DELROUTE` of a default-like route, or of one next hop of it.
    mutating func remove(_ message: RouteMessage, _ effect: inout SnapshotEffect) {
        let key = RouteTableKey(message.family, message.table)
        guard message.isMirrored, let position = routes.index(forKey: key) else { return }
        if message.family == .ipv4 {
            routes.values[position].removeIPv4(message, &effect)
        } else {
            routes.values[position].removeIPv6(message, &effect)
        }
        if routes.values[position].isEmpty { routes.remove(at: position) }
    }
}

extension RouteMessage {
    /// Whether the model keeps the route.
    var isMirrored: Bool { isDefaultLike && flags & Self.cloned == 0 && table != .unspecified }
}
