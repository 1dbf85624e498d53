/// Builds the requests that the monitor sends: dumps and look-ups, as bytes of this machine's order.
public enum NetlinkRequests {
    /// A dump of one of the kernel's tables (`NLM_F_REQUEST | NLM_F_DUMP`).
    ///
    /// It is made for a socket with `NETLINK_GET_STRICT_CHK`: without that option the kernel passes over the table and
    /// the interface and answers with all. With it, the dump of a table that does not exist has nothing but an end
    /// with an errno: ``KernelEvent/done(errno:)`` with ENOENT.
    public static func dump(_ subject: DumpSubject, sequence: UInt32) -> [UInt8] {
        NetlinkEncoder().encode(.request(.init(subject: subject, isDump: true)), sequence: sequence)
    }

    /// A look-up of the route that a flow takes (`RTM_GETROUTE`), answered by one `RTM_NEWROUTE` or `NLMSG_ERROR`.
    ///
    /// The kernel runs the rules with the flow's source, user, protocol, ports and mark, and sends no packet.
    ///
    /// - Parameters:
    ///   - flow: What the socket would send. If it is bound to an interface, IPv4 invents an on-link route where none
    ///     fits, so that an answer does not prove that there is one; asked for the route as it stands in its table, it
    ///     refuses (`inet_rtm_getroute` in `net/ipv4/route.c`).
    ///   - sequence: `nlmsg_seq`, which the answer repeats.
    ///   - matchesRoute: Ask for the route as it stands in its table (`RTM_F_FIB_MATCH`, ip-route(8) `fibmatch`):
    ///     prefix, metric and all legs instead of the leg and the source that were selected.
    /// - Returns: The message with its head.
    public static func lookUp(
        _ flow: ProbeFlow,
        sequence: UInt32,
        matchesRoute: Bool = false
    ) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: RTM.getRoute, flags: .request, sequence: sequence)
        flow.appendHead(to: &builder, matchesRoute: matchesRoute)
        builder.attribute(RTA.dst, flow.destination)
        if !flow.source.isUnspecified { builder.attribute(RTA.src, flow.source) }
        builder.attribute(RTA.uid, flow.user)
        builder.attribute(RTA.ipProto, flow.ipProtocol)
        builder.attribute(RTA.sport, networkOrder: flow.sourcePort)
        builder.attribute(RTA.dport, networkOrder: flow.destinationPort)
        if flow.mark != 0 { builder.attribute(RTA.mark, flow.mark) }
        if let interface = flow.interface { builder.attribute(RTA.oif, index: interface) }
        return builder.build()
    }
}

extension ProbeFlow {
    /// `RTM_F_LOOKUP_TABLE`: answer with the table in which the route was found, not with `RT_TABLE_MAIN`.
    private static let lookUpTable: UInt32 = 0x1000
    /// `RTM_F_FIB_MATCH`.
    private static let matchRoute: UInt32 = 0x2000

    /// Appends `struct rtmsg`.
    fileprivate func appendHead(to builder: inout NetlinkMessageBuilder, matchesRoute: Bool) {
        let width = UInt8(family.bitWidth)
        builder.append(bytes: [family.rawValue, width, source.isUnspecified ? 0 : width])
        builder.append(tos)
        builder.append(bytes: repeatElement(0, count: 4))
        // IPv6 always tells the table, and strict checking refuses the flag there.
        let tableFlag = family == .ipv4 ? Self.lookUpTable : 0
        builder.append(tableFlag | (matchesRoute ? Self.matchRoute : 0))
    }
}
