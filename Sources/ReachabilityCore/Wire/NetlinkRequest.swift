/// A request for a dump or a lookup.
///
/// A recording holds requests, so that the replies can be assigned to their dumps.
package struct NetlinkRequest: Sendable, Hashable {
    /// The table that is requested.
    package var subject: DumpSubject
    /// Whether a dump is requested (`NLM_F_DUMP`), not a lookup.
    package var isDump: Bool
    /// Whether all address families are requested (`AF_UNSPEC`), as by `ip address`; the subject then has IPv4.
    package var coversAllFamilies = false
    /// Whether a filter that the subject does not hold limits the dump, as in `ip route show dev eth0`.
    package var hasFurtherFilter = false

    /// Creates a request.
    package init(subject: DumpSubject, isDump: Bool) {
        self.subject = subject
        self.isDump = isDump
    }
}

/// A table of the kernel that can be dumped, whole or filtered (with `NETLINK_GET_STRICT_CHK`).
package enum DumpSubject: Sendable, Hashable {
    /// `RTM_GETLINK`.
    case links
    /// `RTM_GETADDR` of a family.
    case addresses(AddressFamily)
    /// `RTM_GETROUTE` of a family, for one table or all (nil).
    case routes(AddressFamily, table: RouteTableID?)
    /// `RTM_GETRULE` of a family.
    case rules(AddressFamily)
    /// `RTM_GETNEXTHOP`.
    case nexthops
    /// `RTM_GETNEIGH` of a family, for one interface or all (nil).
    case neighbours(AddressFamily, interface: InterfaceIndex?)
    /// `RTM_GETNETCONF` of a family.
    case netconf(AddressFamily)
}

// MARK: - Decoding

extension NetlinkRequest {
    /// Decodes a request for a table in ``DumpSubject``, or returns nil for any other request.
    ///
    /// Requests that change something (such as `RTM_NEWROUTE` with `NLM_F_REQUEST`) are ignored: the kernel announces their
    /// effect.
    init?(_ header: NetlinkHeader, _ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        let filter = try RequestFilter(header.type, body, bytes)
        guard let subject = filter.subject(of: header.type) else { return nil }
        // Either bit of NLM_F_DUMP requests a dump.
        self.init(subject: subject, isDump: !header.flags.isDisjoint(with: .dump))
        coversAllFamilies = filter.family == AF.unspec && subject.isOfOneFamily
        hasFurtherFilter = isDump && filter.isFurther
    }
}

extension DumpSubject {
    /// Whether the subject has an address family.
    fileprivate var isOfOneFamily: Bool {
        switch self {
        case .links, .nexthops: false
        default: true
        }
    }
}

/// The filter in a request's payload.
private struct RequestFilter {
    /// The address family, an `AF_*`: the first byte of every payload.
    var family = AF.unspec
    var table: RouteTableID?
    var interface: InterfaceIndex?
    /// Whether there is a filter that ``DumpSubject`` does not hold.
    var isFurther = false

    /// Decodes a payload; old programs send only a `struct rtgenmsg`, one byte.
    init(_ type: UInt16, _ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        guard body.count > 0 else { return }
        family = body.byte(0, bytes)
        guard let size = Self.bodySize(type), body.count >= size else { return }
        readFixedPart(type, body, bytes)
        var cursor = body.attributes(after: size)
        while let attribute = try cursor.next(bytes) { try read(attribute, type, bytes) }
    }

    private static func bodySize(_ type: UInt16) -> Int? {
        switch type {
        case RTM.getLink: LinkMessage.bodySize
        case RTM.getAddr: AddressMessage.bodySize
        case RTM.getRoute: RouteMessage.bodySize
        case RTM.getNeigh: NeighbourMessage.bodySize
        case RTM.getNexthop: NexthopMessage.bodySize
        default: nil
        }
    }

    private mutating func readFixedPart(_ type: UInt16, _ body: WireRegion, _ bytes: RawSpan) {
        switch type {
        case RTM.getLink, RTM.getAddr: isFurther = (body.load(4, bytes) as Int32) != 0
        case RTM.getRoute:
            let number = body.byte(4, bytes)
            table = number == 0 ? nil : .init(rawValue: UInt32(number))
            // Protocol, type, and flags such as RTM_F_CLONED, which requests only entries of the cache.
            isFurther = body.byte(5, bytes) != 0 || body.byte(7, bytes) != 0 || (body.load(8, bytes) as UInt32) != 0
        case RTM.getNeigh: isFurther = body.byte(10, bytes) != 0
        default: isFurther = family != AF.unspec
        }
    }

    private mutating func read(
        _ attribute: NetlinkAttribute,
        _ type: UInt16,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) {
        switch (type, attribute.type) {
        case (RTM.getRoute, RTA.table): table = .init(rawValue: try attribute.integer(bytes, "RTA_TABLE"))
        case (RTM.getNeigh, NDA.ifindex): interface = try attribute.interfaceIndex(bytes, "NDA_IFINDEX")
        case (RTM.getLink, IFLA.extMask): break  // Requests more about each link, not fewer links.
        default: isFurther = true
        }
    }

    /// Returns the table that a request of a type asks for, or nil for other types and families.
    func subject(of type: UInt16) -> DumpSubject? {
        switch type {
        // In these families the replies are about a bridge's ports and IPv6 settings.
        case RTM.getLink: return family == AF.bridge || family == AF.inet6 ? nil : .links
        case RTM.getNexthop: return .nexthops
        default: break
        }
        guard let family = AddressFamily(rawValue: family == AF.unspec ? AF.inet : family) else { return nil }
        switch type {
        case RTM.getAddr: return .addresses(family)
        case RTM.getRoute: return .routes(family, table: table)
        case RTM.getRule: return .rules(family)
        case RTM.getNeigh: return .neighbours(family, interface: interface)
        case RTM.getNetconf: return .netconf(family)
        default: return nil
        }
    }
}

// MARK: - Encoding

extension NetlinkRequest {
    /// The header's flags.
    var flags: NetlinkFlags { isDump ? [.request, .dump] : .request }
}

extension DumpSubject {
    /// The `RTM_GET*` that requests the table.
    var requestType: UInt16 {
        switch self {
        case .links: RTM.getLink
        case .addresses: RTM.getAddr
        case .routes: RTM.getRoute
        case .rules: RTM.getRule
        case .nexthops: RTM.getNexthop
        case .neighbours: RTM.getNeigh
        case .netconf: RTM.getNetconf
        }
    }

    /// Appends the fixed-size part and the filter, as strict checking requires (`NETLINK_GET_STRICT_CHK`).
    func append(to builder: inout NetlinkMessageBuilder, coversAllFamilies: Bool) {
        builder.append(coversAllFamilies ? AF.unspec : family?.rawValue ?? AF.unspec)
        builder.append(bytes: repeatElement(0, count: bodySize - 1))
        switch self {
        // Counters are half of a link's description and change with every packet.
        case .links: builder.attribute(IFLA.extMask, Self.skipStatistics)
        case .routes(_, let table?): builder.attribute(RTA.table, table.rawValue)
        case .neighbours(_, let interface?): builder.attribute(NDA.ifindex, index: interface)
        default: break
        }
    }

    /// `RTEXT_FILTER_SKIP_STATS`.
    fileprivate static let skipStatistics: UInt32 = 1 << 3

    private var family: AddressFamily? {
        switch self {
        case .links, .nexthops: nil
        case .addresses(let family), .routes(let family, _), .rules(let family): family
        case .neighbours(let family, _), .netconf(let family): family
        }
    }

    /// The size of the fixed-size part; that of `struct netconfmsg` is padded to a multiple of four.
    private var bodySize: Int {
        switch self {
        case .links: LinkMessage.bodySize
        case .addresses: AddressMessage.bodySize
        case .routes: RouteMessage.bodySize
        case .rules: RuleMessage.bodySize
        case .nexthops: NexthopMessage.bodySize
        case .neighbours: NeighbourMessage.bodySize
        case .netconf: 4
        }
    }
}

// MARK: - Requests of the monitor

/// The requests that the monitor sends, in this machine's byte order.
///
/// Requests to generic netlink families are in the files of their messages.
package enum NetlinkRequests {
    /// Returns a request for a dump of a table (`NLM_F_REQUEST | NLM_F_DUMP`).
    ///
    /// The socket must have `NETLINK_GET_STRICT_CHK` set: otherwise the kernel ignores the table and the interface and
    /// dumps all. With that option, the dump of a table that does not exist consists of ``KernelEvent/done(errno:)`` with
    /// ENOENT.
    package static func dump(_ subject: DumpSubject, sequence: UInt32) -> [UInt8] {
        NetlinkEncoder().encode(.request(.init(subject: subject, isDump: true)), sequence: sequence)
    }

    /// Returns a request for one link (`RTM_GETLINK`); the reply is an `RTM_NEWLINK` or an `NLMSG_ERROR`.
    package static func link(_ index: InterfaceIndex, sequence: UInt32) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: RTM.getLink, flags: .request, sequence: sequence)
        builder.append(bytes: repeatElement(0, count: 4))
        builder.append(index)
        builder.append(bytes: repeatElement(0, count: LinkMessage.bodySize - 8))
        builder.attribute(IFLA.extMask, DumpSubject.skipStatistics)
        return builder.build()
    }

    /// Returns a request for a dump of one interface's addresses (`RTM_GETADDR`).
    ///
    /// Without `NETLINK_GET_STRICT_CHK` the kernel dumps those of all interfaces, and a kernel without IPv6 those of IPv4.
    package static func addresses(of index: InterfaceIndex, _ family: AddressFamily, sequence: UInt32) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: RTM.getAddr, flags: [.request, .dump], sequence: sequence)
        builder.append(family.rawValue)
        builder.append(bytes: repeatElement(0, count: 3))
        builder.append(index)
        return builder.build()
    }

    /// Returns a request for the route of a flow (`RTM_GETROUTE`); the reply is an `RTM_NEWROUTE` or an `NLMSG_ERROR`.
    ///
    /// The kernel evaluates the rules with the flow's source, user, protocol, ports and mark. It sends no packet.
    ///
    /// - Parameters:
    ///   - flow: The flow. If it is bound to an interface and no route matches, IPv4 assumes that the destination is on
    ///     the link, so a reply does not prove that a route exists; with `matchesRoute` it refuses
    ///     (`inet_rtm_getroute` in `net/ipv4/route.c`).
    ///   - sequence: `nlmsg_seq`, which the reply repeats.
    ///   - matchesRoute: Whether to request the route as it is in its table (`RTM_F_FIB_MATCH`, ip-route(8) `fibmatch`),
    ///     with prefix, metric and all next hops, instead of the selected next hop and source.
    /// - Returns: The message with its header.
    package static func lookup(_ flow: ProbeFlow, sequence: UInt32, matchesRoute: Bool = false) -> [UInt8] {
        var builder = NetlinkMessageBuilder(type: RTM.getRoute, flags: .request, sequence: sequence)
        flow.appendHeader(to: &builder, matchesRoute: matchesRoute)
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
    /// `RTM_F_LOOKUP_TABLE`: reply with the table in which the route was found, not with `RT_TABLE_MAIN`.
    private static let lookupTable: UInt32 = 0x1000
    /// `RTM_F_FIB_MATCH`.
    private static let matchRoute: UInt32 = 0x2000

    /// Appends `struct rtmsg`.
    fileprivate func appendHeader(to builder: inout NetlinkMessageBuilder, matchesRoute: Bool) {
        let width = UInt8(family.bitWidth)
        builder.append(bytes: [family.rawValue, width, source.isUnspecified ? 0 : width])
        builder.append(tos)
        builder.append(bytes: repeatElement(0, count: 4))
        // IPv6 always replies with the table, and strict checking rejects the flag there.
        let tableFlag = family == .ipv4 ? Self.lookupTable : 0
        builder.append(tableFlag | (matchesRoute ? Self.matchRoute : 0))
    }
}
