/// Encodes values as netlink messages, which ``NetlinkDecoder`` decodes to the same values.
///
/// Recordings, tests and the seeds of fuzz targets are made with it. Attributes that ``KernelEvent`` does not hold are not
/// written; values that do not fit (a next hop's weight above 256) are clamped.
public struct NetlinkEncoder: Sendable {
    /// The byte order of numbers.
    public var byteOrder: ByteOrder
    /// The numbers of the generic netlink families, which are the types of their messages.
    public var families: GenericFamilies

    /// Creates an encoder; by default for this machine's byte order and without families.
    public init(byteOrder: ByteOrder = .host, families: GenericFamilies = .init()) {
        self.byteOrder = byteOrder
        self.families = families
    }

    /// Returns the bytes of a message, padded to a multiple of four so that a datagram can hold several.
    ///
    /// They belong to the netlink family ``KernelEvent/protocolNumber``; a uevent is a datagram of its own.
    /// ``KernelEvent/ignored`` is encoded as `NLMSG_NOOP`, as is a message of a family without a number.
    ///
    /// - Parameters:
    ///   - event: The message.
    ///   - flags: `NLM_F_*`, added to the flags of a request.
    ///   - sequence: `nlmsg_seq`.
    ///   - port: `nlmsg_pid`.
    /// - Returns: The message with its header.
    public func encode(
        _ event: KernelEvent,
        flags: NetlinkFlags = [],
        sequence: UInt32 = 0,
        port: UInt32 = 0
    ) -> [UInt8] {
        if case .uevent(let message) = event { return message.datagram }
        let (type, ownFlags) = type(event)
        var builder = NetlinkMessageBuilder(
            type: type,
            flags: flags.union(ownFlags),
            sequence: sequence,
            port: port,
            byteOrder: byteOrder
        )
        if type != NLMSG.noop { Self.append(event, to: &builder) }
        builder.align()
        return builder.build()
    }

    /// Returns the message type and the flags that it implies.
    private func type(_ event: KernelEvent) -> (type: UInt16, flags: NetlinkFlags) {
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
        case .traffic: (RTM.newStats, [])
        case .request(let request): (request.subject.requestType, request.flags)
        case .done: (NLMSG.done, [])
        case .error: (NLMSG.error, [])
        case .overrun: (NLMSG.overrun, [])
        case .family: (GENL.control, [])
        case .familiesRequested: (GENL.control, [.request, .dump])
        case .wireless: (families.nl80211 == 0 ? NLMSG.noop : families.nl80211, [])
        case .wireGuard: (families.wireGuard == 0 ? NLMSG.noop : families.wireGuard, [])
        case .team: (families.team == 0 ? NLMSG.noop : families.team, [])
        case .l2tp: (families.l2tp == 0 ? NLMSG.noop : families.l2tp, [])
        case .uevent, .ignored: (NLMSG.noop, [])
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
        case .traffic(let message): message.append(to: &builder)
        case .request(let request): request.append(to: &builder)
        // The kernel writes errnos negative.
        case .done(let errno): builder.append(0 &- errno)
        case .error(let errno): appendError(errno, to: &builder)
        case .family(let family): family.append(to: &builder)
        case .familiesRequested: builder.append(bytes: [CTRL.getFamily, CTRL.version, 0, 0])
        case .wireless(let message): message.append(to: &builder)
        case .wireGuard(let message): message.append(to: &builder)
        case .team(let message): message.append(to: &builder)
        case .l2tp(let message): message.append(to: &builder)
        case .overrun, .uevent, .ignored: break
        }
    }

    /// Appends `struct nlmsgerr`: the errno, and zeros in place of the request's header.
    private static func appendError(_ errno: Int32, to builder: inout NetlinkMessageBuilder) {
        builder.append(0 &- errno)
        builder.append(bytes: repeatElement(0, count: NetlinkHeader.size))
    }
}
