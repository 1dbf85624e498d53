/// Turns values back into netlink messages, which ``NetlinkDecoder`` reads as the same values.
///
/// Recordings, test stories and the fuzzers' first inputs are made with it. What a message carried that
/// ``KernelEvent`` does not know is not written again; what the wire can't hold (a leg's weight above 256) is written
/// as the nearest value that it can.
public struct NetlinkEncoder: Sendable {
    /// The order in which numbers are written.
    public var byteOrder: ByteOrder

    /// Makes an encoder; by default for this machine.
    public init(byteOrder: ByteOrder = .host) { self.byteOrder = byteOrder }

    /// The bytes of one message, padded to a multiple of four, so that several can follow each other in a datagram.
    ///
    /// A uevent's datagram belongs to netlink family 15 and holds nothing else; all others belong to family 0.
    /// ``KernelEvent/ignored`` gives an `NLMSG_NOOP`.
    ///
    /// - Parameters:
    ///   - event: What to say.
    ///   - flags: `NLM_F_*`; a request's own are added.
    ///   - sequence: `nlmsg_seq`.
    ///   - port: `nlmsg_pid`.
    /// - Returns: The message with its head.
    public func encode(
        _ event: KernelEvent,
        flags: NetlinkFlags = [],
        sequence: UInt32 = 0,
        port: UInt32 = 0
    ) -> [UInt8] {
        if case .uevent(let message) = event { return message.datagram }
        let (type, ownFlags) = Self.type(event)
        var builder = NetlinkMessageBuilder(
            type: type,
            flags: flags.union(ownFlags),
            sequence: sequence,
            port: port,
            byteOrder: byteOrder
        )
        Self.append(event, to: &builder)
        builder.align()
        return builder.build()
    }

    /// The message type, and the flags that come with it.
    private static func type(_ event: KernelEvent) -> (type: UInt16, flags: NetlinkFlags) {
        switch event {
        case .link: (RTM.newLink, [])
        case .linkRemoved: (RTM.delLink, [])
        case .address: (RTM.newAddr, [])
        case .addressRemoved: (RTM.delAddr, [])
        case .route: (RTM.newRoute, [])
        case .routeRemoved: (RTM.delRoute, [])
        case .rule: (RTM.newRule, [])
        case .ruleRemoved: (RTM.delRule, [])
        case .nexthop: (RTM.newNexthop, [])
        case .nexthopRemoved: (RTM.delNexthop, [])
        case .neighbour: (RTM.newNeigh, [])
        case .neighbourRemoved: (RTM.delNeigh, [])
        case .netconf: (RTM.newNetconf, [])
        case .netconfRemoved: (RTM.delNetconf, [])
        case .request(let request): (request.subject.requestType, request.flags)
        case .done: (NLMSG.done, [])
        case .error: (NLMSG.error, [])
        case .overrun: (NLMSG.overrun, [])
        case .uevent, .family, .familiesRequested, .wireless, .wireGuard, .ignored: (NLMSG.noop, [])
        }
    }

    private static func append(_ event: KernelEvent, to builder: inout NetlinkMessageBuilder) {
        switch event {
        case .link(let message), .linkRemoved(let message): message.append(to: &builder)
        case .address(let message), .addressRemoved(let message): message.append(to: &builder)
        case .route(let message), .routeRemoved(let message): message.append(to: &builder)
        case .rule(let message), .ruleRemoved(let message): message.append(to: &builder)
        case .nexthop(let message), .nexthopRemoved(let message): message.append(to: &builder)
        case .neighbour(let message), .neighbourRemoved(let message): message.append(to: &builder)
        case .netconf(let message), .netconfRemoved(let message): message.append(to: &builder)
        case .request(let request): request.append(to: &builder)
        // The kernel writes errnos negative.
        case .done(let errno): builder.append(0 &- errno)
        case .error(let errno): appendError(errno, to: &builder)
        case .overrun, .uevent, .family, .familiesRequested, .wireless, .wireGuard, .ignored: break
        }
    }

    /// Appends `struct nlmsgerr`: the errno and the head of a request that nobody knows any more.
    private static func appendError(_ errno: Int32, to builder: inout NetlinkMessageBuilder) {
        builder.append(0 &- errno)
        builder.append(bytes: repeatElement(0, count: NetlinkHeader.size))
    }
}
