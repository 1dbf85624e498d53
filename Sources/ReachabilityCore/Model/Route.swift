/// A default-like route of the model: the kernel's message, and when the route ends by itself.
package struct Route: Sendable, Hashable {
    /// The kernel's message.
    package var message: RouteMessage
    /// When the route expires; nil if it does not.
    ///
    /// The kernel stops using it then and announces that up to 30 s later.
    package var expiry: Instant?

    /// Makes a route.
    package init(_ message: RouteMessage, expiry: Instant? = nil) {
        self.message = message
        self.expiry = expiry
    }

    /// Makes the model's form of a message, without what changes without a message.
    ///
    /// The lifetime becomes a moment. Flags that follow from the state of the next hops' devices are left out, because the
    /// kernel does not announce their change; a lookup reads the links instead.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - isReply: Whether it is a reply to a dump.
    ///   - now: When it was received.
    ///   - snapshot: The model of the links.
    init(_ message: RouteMessage, isReply: Bool, at now: Instant, in snapshot: NetworkSnapshot) {
        self.init(message, expiry: message.lifetime.map { now.advanced(by: $0) })
        self.message.lifetime = nil
        self.message.flags &= Self.lastingFlags
        for position in message.nextHops.indices
        where message.nextHops[position].flags != [] || message.family == .ipv6 {
            self.message.nextHops[position].flags = snapshot.lastingFlags(ofNextHop: position, message, isReply)
        }
    }

    /// The `RTM_F_*` that belong to the route; below them are `RTNH_F_*`, above the states of offloading.
    private static let lastingFlags: UInt32 = 0x0F00

    /// Whether the route has expired, so that the kernel skips it.
    package func isExpired(at now: Instant) -> Bool { expiry.map { $0 <= now } ?? false }

    /// Whether another form of the same route is equal for the evaluation.
    ///
    /// The expiry does not count, nor whether next hops are dead or carried, as that follows from something else that
    /// changed; nor, of a route through a nexthop object, the next hops and the type that the message repeats from there.
    func means(_ other: Self) -> Bool {
        if message == other.message { return true }
        var left = message
        var right = other.message
        if left.nexthopID != nil, left.nexthopID == right.nexthopID {
            left.nextHops = right.nextHops
            left.type = right.type
        }
        for position in left.nextHops.indices { left.nextHops[position].flags.subtract([.dead, .carried]) }
        for position in right.nextHops.indices { right.nextHops[position].flags.subtract([.dead, .carried]) }
        return left == right
    }

    /// Whether the kernel takes this for the same route as another one of the same table.
    func isKnown(as other: Self) -> Bool {
        guard !message.precedes(other.message), !other.message.precedes(message) else { return false }
        return message.family == .ipv4 ? message.isSameIPv4(other.message) : message.isSameIPv6(other.message)
    }

    /// Whether IPv6 may join this route with others of its metric into one multipath route.
    ///
    /// As `rt6_qualify_for_ecmp`: through a gateway, not through a nexthop object, and not from a router's
    /// advertisement. The latter cannot be seen in a message: it is assumed if the origin is `RTPROT_RA`, there is a
    /// single next hop and an expiry, as the kernel gives each of its own.
    var canJoinMultipath: Bool {
        guard message.nexthopID == nil, message.nextHops.first?.gateway != nil else { return false }
        return !(message.origin == RouteMessage.routerAdvertisement && message.nextHops.count == 1 && expiry != nil)
    }
}

/// Identifies one routing table of one family.
package struct RouteTableKey: Sendable, Hashable, Comparable {
    /// The family.
    package var family: AddressFamily
    /// The table's number.
    package var table: RouteTableID

    /// Makes a key.
    package init(_ family: AddressFamily, _ table: RouteTableID) {
        self.family = family
        self.table = table
    }

    /// Orders by the family's number, then by the table's.
    package static func < (left: Self, right: Self) -> Bool {
        (left.family.rawValue, left.table.rawValue) < (right.family.rawValue, right.table.rawValue)
    }
}

// MARK: - Identity and order

extension RouteMessage {
    /// `RTPROT_RA`.
    package static let routerAdvertisement: UInt8 = 9

    /// Whether the model holds the route.
    var isMirrored: Bool { isDefaultLike && flags & Self.cloned == 0 && table != .unspecified }

    /// Whether this route stands before another in its table; routes of which neither does form one group.
    ///
    /// Longest prefix first, each prefix's routes together; of those, longest source prefix first; then as the kernel
    /// walks: IPv4 by descending TOS and ascending metric (`fib_find_alias`), IPv6 by ascending metric
    /// (`fib6_add_rt2node`).
    func precedes(_ other: Self) -> Bool {
        if destination.length != other.destination.length { return destination.length > other.destination.length }
        if destination.address.bits != other.destination.address.bits {
            return destination.address.bits < other.destination.address.bits
        }
        if source.length != other.source.length { return source.length > other.source.length }
        if source.address.bits != other.source.address.bits { return source.address.bits < other.source.address.bits }
        if tos != other.tos { return tos > other.tos }
        return metric < other.metric
    }

    /// Whether IPv4 takes this for the same route as another of the same prefix, TOS and metric.
    ///
    /// As `fib_find_info` and `fib_table_insert` compare; a nexthop object stands for its next hops, and the type of a
    /// route through one is the object's (it may have become a blackhole).
    func isSameIPv4(_ other: Self) -> Bool {
        guard scope == other.scope, origin == other.origin, preferredSource == other.preferredSource,
            nexthopID == other.nexthopID
        else { return false }
        return nexthopID != nil || (type == other.type && hasNextHops(of: other) { $0.isSame($1) })
    }

    /// Whether IPv6 takes this for the same route as another of the same prefixes and metric, next hops included.
    ///
    /// `rt6_duplicate_nexthop` compares the device and the gateway alone, or the nexthop object.
    func isSameIPv6(_ other: Self) -> Bool {
        guard nexthopID == other.nexthopID else { return false }
        return nexthopID != nil || hasNextHops(of: other) { $0.hasSamePath($1) }
    }

    private func hasNextHops(of other: Self, _ areEqual: (NextHop, NextHop) -> Bool) -> Bool {
        guard nextHops.count == other.nextHops.count else { return false }
        for position in nextHops.indices where !areEqual(nextHops[position], other.nextHops[position]) { return false }
        return true
    }
}

extension NextHop {
    /// Whether this is the same next hop as another, whatever its state (`nh_comp`, which compares `RTNH_F_ONLINK` too).
    func isSame(_ other: Self) -> Bool {
        hasSamePath(other) && weight == other.weight && flags.contains(.onLink) == other.flags.contains(.onLink)
    }

    /// Whether this leads through the same device to the same gateway: what distinguishes IPv6's siblings.
    func hasSamePath(_ other: Self) -> Bool { interface == other.interface && gateway == other.gateway }
}
