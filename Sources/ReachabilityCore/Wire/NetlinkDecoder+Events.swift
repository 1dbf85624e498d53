extension NetlinkDecoder {
    /// The meaning of one message.
    func event(
        _ header: NetlinkHeader,
        _ payload: WireRegion,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> KernelEvent {
        guard protocolNumber == Self.route || protocolNumber == Self.generic else { return .ignored }
        guard header.type >= NLMSG.minType else { return try control(header, payload, bytes) }
        guard protocolNumber == Self.route else { return try genericEvent(header, payload, bytes) }
        if header.flags.contains(.request), !Self.isNotification(header) {
            return try NetlinkRequest(header, payload, bytes).map(KernelEvent.request) ?? .ignored
        }
        return try notification(header.type, payload, bytes)
    }

    /// Whether the kernel wrote a message that has a request's flags.
    ///
    /// `nexthop_notify` gives its notifications the flags of the request that caused them, `NLM_F_REQUEST` included, and
    /// the port of whoever sent it; a request as ip(8) sends it has no port.
    private static func isNotification(_ header: NetlinkHeader) -> Bool {
        (header.type == RTM.newNexthop || header.type == RTM.delNexthop) && header.port != 0
    }

    /// What the kernel says of its tables, as an answer or unasked.
    private func notification(
        _ type: UInt16,
        _ payload: WireRegion,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> KernelEvent {
        switch type {
        case RTM.newRoute, RTM.delRoute: return try route(type, payload, bytes)
        case RTM.newLink where readsTraffic:
            return try TrafficMessage(link: payload, bytes).map(KernelEvent.traffic) ?? .ignored
        case RTM.newLink: return try LinkMessage(payload, bytes).map(KernelEvent.link) ?? .ignored
        case RTM.delLink: return try LinkMessage(payload, bytes).map(KernelEvent.linkRemoved) ?? .ignored
        case RTM.newAddr: return try AddressMessage(payload, bytes).map(KernelEvent.address) ?? .ignored
        case RTM.delAddr: return try AddressMessage(payload, bytes).map(KernelEvent.addressRemoved) ?? .ignored
        case RTM.newNeigh: return try NeighbourMessage(payload, bytes).map(KernelEvent.neighbour) ?? .ignored
        case RTM.delNeigh: return try NeighbourMessage(payload, bytes).map(KernelEvent.neighbourRemoved) ?? .ignored
        default: return try configuration(type, payload, bytes)
        }
    }

    private func configuration(
        _ type: UInt16,
        _ payload: WireRegion,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> KernelEvent {
        switch type {
        case RTM.newRule: try RuleMessage(payload, bytes).map(KernelEvent.rule) ?? .ignored
        case RTM.delRule: try RuleMessage(payload, bytes).map(KernelEvent.ruleRemoved) ?? .ignored
        case RTM.newNexthop: .nexthop(try .init(payload, bytes))
        case RTM.delNexthop: .nexthopRemoved(try .init(payload, bytes))
        case RTM.newNetconf: try NetconfMessage(payload, bytes).map(KernelEvent.netconf) ?? .ignored
        case RTM.delNetconf: try NetconfMessage(payload, bytes).map(KernelEvent.netconfRemoved) ?? .ignored
        case RTM.newStats: try TrafficMessage(payload, bytes).map(KernelEvent.traffic) ?? .ignored
        default: .ignored
        }
    }

    /// A route, unless only default-like ones are wanted and `rtm_dst_len` says that this is none.
    private func route(
        _ type: UInt16,
        _ payload: WireRegion,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> KernelEvent {
        try payload.require(RouteMessage.bodySize)
        let isWanted = payload.byte(1, bytes) <= RouteMessage.longestDefaultLikePrefix
        guard !defaultLikeRoutesOnly || isWanted || isTunnelAnswer(payload, bytes) else { return .ignored }
        guard let message = try RouteMessage(payload, bytes) else { return .ignored }
        return type == RTM.newRoute ? .route(message) : .routeRemoved(message)
    }

    /// Whether this tells where a tunnel's packets leave: an answer about one host, not a route of a table.
    private func isTunnelAnswer(_ payload: WireRegion, _ bytes: RawSpan) -> Bool {
        payload.byte(1, bytes) >= 32 && payload.load(8, bytes) & RouteMessage.cloned != 0
    }

    /// `NLMSG_*`: they end dumps, refuse and acknowledge; the kernel writes errnos negative.
    private func control(
        _ header: NetlinkHeader,
        _ payload: WireRegion,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> KernelEvent {
        switch header.type {
        case NLMSG.done:
            // Some answers end without the errno; then there is none. A positive number is a length, of old kernels.
            let value: Int32 = payload.count >= 4 ? payload.load(0, bytes) : 0
            return .done(errno: value < 0 ? Int32(clamping: value.magnitude) : 0)
        case NLMSG.error:
            try payload.require(4)
            return .error(errno: Int32(clamping: (payload.load(0, bytes) as Int32).magnitude))
        case NLMSG.overrun: return .overrun
        default: return .ignored
        }
    }
}
