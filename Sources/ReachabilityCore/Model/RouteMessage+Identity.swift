extension RouteMessage {
    /// Whether IPv4 takes this for the same route as another of the same prefix, TOS and metric.
    ///
    /// As `fib_find_info` and `fib_table_insert` compare; a nexthop object stands for its next hops, and the type of a
    /// route through one is the object's (it may have become a blackhole).
    func isSameIPv4(_ other: Self) -> Bool {
        guard scope == other.scope, origin == other.origin, preferredSource == other.preferredSource,
            nexthopID == other.nexthopID
        else { return false }
        return nexthopID != nil || (type == other.type && hasSameNextHops(other))
    }

    /// Whether IPv6 takes this for the same route as another of the same prefixes and metric, next hops and all.
    ///
    /// `rt6_duplicate_nexthop` compares the device and the gateway alone, or the nexthop object.
    func isSameIPv6(_ other: Self) -> Bool {
        guard nexthopID == other.nexthopID else { return false }
        return nexthopID != nil || hasSameWays(other)
    }

    /// `RTPROT_RA`.
    static let routerAdvertisement: UInt8 = 9

    private func hasSameWays(_ other: Self) -> Bool {
        guard nextHops.count == other.nextHops.count else { return false }
        for position in nextHops.indices where !nextHops[position].isSameWay(other.nextHops[position]) { return false }
        return true
    }

    private func hasSameNextHops(_ other: Self) -> Bool {
        guard nextHops.count == other.nextHops.count else { return false }
        for position in nextHops.indices where !nextHops[position].isSame(other.nextHops[position]) { return false }
        return true
    }
}

extension Route {
    /// Whether IPv6 may join this route with others of its metric into one multipath route.
    ///
    /// As `rt6_qualify_for_ecmp`: through a gateway, not through a nexthop object, and not from a router's
    /// advertisement. The latter can't be seen in a message: it is taken to be one if the origin is `RTPROT_RA`, there
    /// is a single next hop and an end to its life, as the kernel gives each of its own.
    var canJoinMultipath: Bool {
        guard message.nexthopID == nil, message.nextHops.first?.gateway != nil else { return false }
        return !(message.origin == RouteMessage.routerAdvertisement && message.nextHops.count == 1 && expiry != nil)
    }
}

extension NextHop {
    /// Whether this is the same way as another, whatever its state (`nh_comp`, which compares `RTNH_F_ONLINK` too).
    func isSame(_ other: Self) -> Bool {
        isSameWay(other) && weight == other.weight && flags.contains(.onLink) == other.flags.contains(.onLink)
    }

    /// Whether this leaves through the same device to the same gateway: what tells IPv6's siblings apart.
    func isSameWay(_ other: Self) -> Bool { interface == other.interface && gateway == other.gateway }
}
