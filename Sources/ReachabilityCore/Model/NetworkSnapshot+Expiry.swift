extension NetworkSnapshot {
    /// When the next route expires by itself; nil if none does.
    ///
    /// A router's advertisement prolongs its route without a message: before acting on an expiry, read the tables of
    /// ``expiring(at:)`` again, apply the answers, and only then call ``expire(at:)``.
    public var nextExpiry: Instant? {
        var earliest: Instant?
        for table in routes.values {
            for route in table {
                guard let expiry = route.expiry else { continue }
                if earliest.map({ expiry < $0 }) ?? true { earliest = expiry }
            }
        }
        return earliest
    }

    /// The tables with routes whose time is over at a moment.
    public func expiring(at now: Instant) -> [RouteTableKey] {
        routes.filter { $0.value.contains { $0.isExpired(at: now) } }.map(\.key).sorted()
    }

    /// Removes the routes whose time is over: the kernel uses them no longer, and says so up to 30 s later.
    @discardableResult
    public mutating func expire(at now: Instant) -> SnapshotEffect {
        var effect = SnapshotEffect()
        for key in expiring(at: now) {
            for route in routes[key] ?? [] where route.isExpired(at: now) {
                var message = route.message
                message.lifetime = .zero
                noteLifetime(of: message)
            }
            routes[key]?.removeAll { $0.isExpired(at: now) }
            if routes[key]?.isEmpty == true { routes[key] = nil }
            effect.add(.routeExpired)
            effect.predict(key)
        }
        return effect
    }
}

// MARK: - Memory of what has expired

extension NetworkSnapshot {
    /// Remembers a route whose lifetime has ended, and forgets those that another takes the place of.
    mutating func noteLifetime(of message: RouteMessage) {
        guard message.family == .ipv6, message.lifetime == .zero || !expiredRoutes.isEmpty else { return }
        let key = RouteTableKey(message.family, message.table)
        let interfaces = Set(message.nextHops.map(\.interface))
        expiredRoutes[key]?.removeAll { route in route.nextHops.contains { interfaces.contains($0.interface) } }
        if message.lifetime == .zero { expiredRoutes[key, default: []].append(message) }
        if expiredRoutes[key]?.isEmpty == true { expiredRoutes[key] = nil }
    }

    /// Forgets the routes through an interface that is gone.
    mutating func forgetExpiredRoutes(through index: InterfaceIndex) {
        for key in expiredRoutes.keys {
            expiredRoutes[key]?.removeAll { route in route.nextHops.contains { $0.interface == index } }
            if expiredRoutes[key]?.isEmpty == true { expiredRoutes[key] = nil }
        }
    }
}

extension Route {
    /// Whether the route's time is over, so that the kernel passes it over.
    public func isExpired(at now: Instant) -> Bool { expiry.map { $0 <= now } ?? false }
}
