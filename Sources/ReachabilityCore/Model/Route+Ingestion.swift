extension Route {
    /// Makes the model's form of a message: what changes without a message is taken out of it.
    ///
    /// Lifetimes become a moment. Flags that follow from the state of the next hops' devices are left out, because the
    /// kernel does not announce their change; ``NetworkSnapshot/nextHops(of:)`` adds them.
    init(_ message: RouteMessage, isAnswer: Bool, at now: Instant, in snapshot: NetworkSnapshot) {
        self.init(message, expiry: message.lifetime.map { now.advanced(by: $0) })
        self.message.lifetime = nil
        self.message.flags &= Self.lastingFlags
        for position in message.nextHops.indices where message.nextHops[position].flags != [] {
            self.message.nextHops[position].flags = snapshot.lastingFlags(ofNextHop: position, message, isAnswer)
        }
    }

    /// The `RTM_F_*` that belong to the route; below them are `RTNH_F_*`, above the states of offloading.
    private static let lastingFlags: UInt32 = 0x0F00

    /// Whether another form of the same route differs for the evaluation.
    ///
    /// Its expiry does not count, nor the next hops' being dead, as that follows from something else that changed; nor,
    /// of a route through a nexthop object, the next hops and the type that the message repeats from there.
    func means(_ other: Self) -> Bool {
        if message == other.message { return true }
        var left = message
        var right = other.message
        if left.nexthopID != nil, left.nexthopID == right.nexthopID {
            left.nextHops = right.nextHops
            left.type = right.type
        }
        for position in left.nextHops.indices { left.nextHops[position].flags.remove(.dead) }
        for position in right.nextHops.indices { right.nextHops[position].flags.remove(.dead) }
        return left == right
    }
}

extension NetworkSnapshot {
    /// A next hop's flags without those that follow from its device's state and settings.
    ///
    /// What stays of `RTNH_F_DEAD` is what the kernel set when the device went down, or lost its last address, and has
    /// not taken back. No new route has that, nor one of a single next hop, which would have gone. While the lack of a
    /// carrier explains it as well, the lack of an address decides.
    fileprivate func lastingFlags(ofNextHop position: Int, _ message: RouteMessage, _ isAnswer: Bool) -> NextHopFlags {
        let nextHop = message.nextHops[position]
        var flags = nextHop.flags.intersection([.dead, .onLink])
        guard flags.contains(.dead), hasAmbiguousDeath(nextHop, message.family) else { return flags }
        let isLasting =
            isAnswer && message.family == .ipv4 && message.nextHops.count > 1 && !hasIPv4Address(nextHop.interface)
        if !isLasting { flags.remove(.dead) }
        return flags
    }

    /// Whether a next hop is shown as dead in any case, because its device has no carrier and such routes are ignored.
    func hasAmbiguousDeath(_ nextHop: NextHop, _ family: AddressFamily) -> Bool {
        guard let link = link(nextHop.interface), link.flags.contains(.up) else { return false }
        return link.lacksCarrier(family) && ignoresRoutesWithLinkDown(family, nextHop.interface)
    }
}
