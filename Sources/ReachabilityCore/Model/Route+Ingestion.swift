extension Route {
    /// Makes the model's form of a message: what changes without a message is taken out of it.
    ///
    /// Lifetimes become a moment. Flags that follow from the state of the legs' devices are left out, because the
    /// kernel does not announce their change; ``NetworkSnapshot/legs(of:)`` adds them.
    init(_ message: RouteMessage, isAnswer: Bool, at now: Instant, in snapshot: NetworkSnapshot) {
        self.init(message, expiry: message.lifetime.map { now.advanced(by: $0) })
        self.message.lifetime = nil
        self.message.flags &= Self.lastingFlags
        for position in message.legs.indices where message.legs[position].flags != [] || message.family == .ipv6 {
            self.message.legs[position].flags = snapshot.lastingFlags(ofLeg: position, message, isAnswer)
        }
    }

    /// The `RTM_F_*` that belong to the route; below them are `RTNH_F_*`, above the states of offloading.
    private static let lastingFlags: UInt32 = 0x0F00

    /// Whether another form of the same route differs for the evaluation.
    ///
    /// Its expiry does not count, nor the legs' being dead or carried, as that follows from something else; nor, of a
    /// route through a nexthop object, the legs and the type that the message repeats from there.
    func means(_ other: Self) -> Bool {
        if message == other.message { return true }
        var left = message
        var right = other.message
        if left.nexthopID != nil, left.nexthopID == right.nexthopID {
            left.legs = right.legs
            left.type = right.type
        }
        for position in left.legs.indices { left.legs[position].flags.subtract([.dead, .carried]) }
        for position in right.legs.indices { right.legs[position].flags.subtract([.dead, .carried]) }
        return left == right
    }
}

extension NetworkSnapshot {
    /// A leg's flags without those that follow from its device's state and settings.
    ///
    /// What stays of `RTNH_F_DEAD` is what the kernel set when the device went down, or lost its last address, and has
    /// not taken back. No new route has that, nor one of a single leg, which would have gone. While the lack of a
    /// carrier explains it as well, the lack of an address decides.
    fileprivate func lastingFlags(ofLeg position: Int, _ message: RouteMessage, _ isAnswer: Bool) -> LegFlags {
        let leg = message.legs[position]
        var flags = leg.flags.intersection([.dead, .onLink])
        if message.family == .ipv6, isCarried(leg) { flags.insert(.carried) }
        guard flags.contains(.dead), hasAmbiguousDeath(leg, message.family) else { return flags }
        let isLasting =
            isAnswer && message.family == .ipv4 && message.legs.count > 1 && !hasIPv4Address(leg.interface)
        if !isLasting { flags.remove(.dead) }
        return flags
    }

    /// Whether a leg is told without `RTNH_F_LINKDOWN` because its device has a carrier, and only its state lags behind.
    ///
    /// IPv6 asks for the carrier when it adds a route (`fib6_nh_init`), and for the operational state when it changes.
    private func isCarried(_ leg: RouteLeg) -> Bool {
        guard !leg.flags.contains(.linkDown), let link = link(leg.interface) else { return false }
        return link.flags.isSuperset(of: [.up, .lowerUp]) && link.lacksCarrier(.ipv6)
    }

    /// Whether a leg is shown as dead in any case, because its device has no carrier and such routes are ignored.
    func hasAmbiguousDeath(_ leg: RouteLeg, _ family: AddressFamily) -> Bool {
        guard let link = link(leg.interface), link.flags.contains(.up) else { return false }
        return link.lacksCarrier(family) && ignoresRoutesWithLinkDown(family, leg.interface)
    }
}
