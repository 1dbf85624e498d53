import Glibc
package import ReachabilityCore

/// The options of a lookup besides its flow.
package struct LookupOptions: Sendable {
    /// The socket's mark (`SO_MARK`).
    package var mark: UInt32 = 0
    /// The link that the socket is bound to.
    package var outputInterface: InterfaceIndex?
    /// The link by which the packet came in, for one that is forwarded.
    package var inputInterface: InterfaceIndex?
    /// `rtm_tos`.
    package var tos: UInt8 = 0
    /// `RTM_F_FIB_MATCH`: the reply is the route as it is in its table, not the route of this packet.
    package var matchesTable = false

    /// Makes the options of an unbound, unmarked socket.
    package init() {}
}

// MARK: - Lookups (ip-route(8), get)

extension Rtnl {
    /// Looks up the route of a packet in the kernel.
    ///
    /// - Throws: The errno of the routing decision: `ENETUNREACH`, `EHOSTUNREACH`, `EACCES`, `EINVAL` …
    package func lookup(_ flow: ProbeFlow, _ options: LookupOptions = .init()) throws(LabError) -> RouteMessage {
        let request = RtnlRequest("look up \(flow.destination)", type: RTM.getRoute) { builder in
            builder.lookupHeader(flow, options)
            builder.attribute(RTA.dst, flow.destination)
            if !flow.source.isUnspecified { builder.attribute(RTA.src, flow.source) }
            if let index = options.outputInterface { builder.attribute(RTA.oif, index: index) }
            if let index = options.inputInterface { builder.attribute(RTA.iif, index: index) }
            if options.mark != 0 { builder.attribute(RTA.mark, options.mark) }
            builder.attribute(RTA.uid, flow.user)
            builder.attribute(RTA.ipProto, flow.ipProtocol)
            builder.attribute(RTA.sport, networkOrder: flow.sourcePort)
            builder.attribute(RTA.dport, networkOrder: flow.destinationPort)
        }
        guard case .route(let route) = try ask(request).event() else {
            throw LabError(request.description, errno: EBADMSG, detail: "the reply is not a route")
        }
        return route
    }

    /// Looks up the route of packets of an unbound socket of this process to an address in the kernel.
    package func lookup(_ destination: String) throws(LabError) -> RouteMessage {
        try lookup(ProbeFlow(to: IPPrefix(labText: destination).address, user: getuid()))
    }
}

extension NetlinkMessageBuilder {
    /// `struct rtmsg` of a lookup.
    fileprivate mutating func lookupHeader(_ flow: ProbeFlow, _ options: LookupOptions) {
        let sourceLength = flow.source.isUnspecified ? 0 : flow.family.bitWidth
        append(flow.family.rawValue)
        append(UInt8(flow.family.bitWidth))
        append(UInt8(sourceLength))
        append(options.tos)
        append(UInt32(0))
        // IPv6 always reports the table, and refuses a request for it.
        let lookupTable = flow.family == .ipv4 ? RTA.lookupTable : 0
        append(lookupTable | (options.matchesTable ? RTA.fibMatch : 0))
    }
}
