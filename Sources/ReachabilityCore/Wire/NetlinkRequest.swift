/// What is said of a request that a recording holds: which dump its answers belong to.
public struct NetlinkRequest: Sendable, Hashable {
    /// Which table of the kernel it asks for.
    public var subject: DumpSubject
    /// Whether it asks for a dump (`NLM_F_DUMP`); otherwise for one look-up.
    public var isDump: Bool
    /// Whether it asks for all families (`AF_UNSPEC`), as `ip address` does; the subject then names IPv4.
    public var coversAllFamilies = false
    /// Whether it asks for less than the subject says, as `ip route show dev eth0` does: its answers are not the whole.
    public var hasFurtherFilter = false

    /// Makes a request.
    public init(subject: DumpSubject, isDump: Bool) {
        self.subject = subject
        self.isDump = isDump
    }
}

/// One of the kernel's tables that can be dumped, whole or filtered (strictly: `NETLINK_GET_STRICT_CHK`).
public enum DumpSubject: Sendable, Hashable {
    /// `RTM_GETLINK`.
    case links
    /// `RTM_GETADDR` of a family.
    case addresses(AddressFamily)
    /// `RTM_GETROUTE` of a family, of one table or (nil) of all.
    case routes(AddressFamily, table: RouteTableID?)
    /// `RTM_GETRULE` of a family.
    case rules(AddressFamily)
    /// `RTM_GETNEXTHOP`.
    case nexthops
    /// `RTM_GETNEIGH` of a family, of one interface or (nil) of all.
    case neighbours(AddressFamily, interface: InterfaceIndex?)
    /// `RTM_GETNETCONF` of a family.
    case netconf(AddressFamily)
}

extension NetlinkRequest {
    /// Reads a request for something that the monitor knows; nil for any other.
    ///
    /// Requests that change something (`RTM_NEWROUTE` and its like with `NLM_F_REQUEST`) are other ones: what comes
    /// of them is what the kernel says afterwards.
    init?(_ header: NetlinkHeader, _ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        let filter = try Filter(header.type, body, bytes)
        guard let subject = filter.subject(of: header.type) else { return nil }
        // The kernel takes either bit of NLM_F_DUMP for a dump.
        self.init(subject: subject, isDump: !header.flags.isDisjoint(with: .dump))
        coversAllFamilies = filter.family == AF.unspec && subject.isOfOneFamily
        hasFurtherFilter = isDump && filter.isFurther
    }
}

extension DumpSubject {
    /// Whether the subject names a family.
    fileprivate var isOfOneFamily: Bool {
        switch self {
        case .links, .nexthops: false
        default: true
        }
    }
}

/// What a request's payload limits its answer to.
private struct Filter {
    /// The first byte of every payload: an `AF_*`.
    var family = AF.unspec
    var table: RouteTableID?
    var interface: InterfaceIndex?
    /// Whether there is a limit that ``DumpSubject`` can't say.
    var isFurther = false

    /// Reads a payload, which old programs make as short as a `struct rtgenmsg`: one byte.
    init(_ type: UInt16, _ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        guard body.count > 0 else { return }
        family = body.byte(0, bytes)
        guard let size = Self.bodySize(type), body.count >= size else { return }
        readFixedPart(type, body, bytes)
        var cursor = body.attributes(behind: size)
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
        case RTM.getLink, RTM.getAddr:
            isFurther = (body.load(4, bytes) as Int32) != 0
        case RTM.getRoute:
            let number = body.byte(4, bytes)
            table = number == 0 ? nil : .init(rawValue: UInt32(number))
            // Protocol, type, and flags such as RTM_F_CLONED, which asks for the cache's entries alone.
            isFurther = body.byte(5, bytes) != 0 || body.byte(7, bytes) != 0 || (body.load(8, bytes) as UInt32) != 0
        case RTM.getNeigh:
            isFurther = body.byte(10, bytes) != 0
        default:
            isFurther = family != AF.unspec
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
        case (RTM.getLink, IFLA.extMask): break  // Asks for more about each link, not for fewer links.
        default: isFurther = true
        }
    }

    /// What a request of a type asks for; nil for another type, or another family than IPv4 and IPv6.
    func subject(of type: UInt16) -> DumpSubject? {
        switch type {
        // In these families the answers are not about links of their own, but about ports and IPv6 settings.
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

extension NetlinkRequest {
    /// The flags that make it a request, and a dump.
    var flags: NetlinkFlags { isDump ? [.request, .dump] : .request }

    /// Appends the family's head and the filter.
    func append(to builder: inout NetlinkMessageBuilder) {
        subject.append(to: &builder, coversAllFamilies: coversAllFamilies)
    }
}

extension DumpSubject {
    /// The `RTM_GET*` that asks for it.
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

    /// Appends the family's head and the filter, in a form that strict checking accepts (`NETLINK_GET_STRICT_CHK`).
    func append(to builder: inout NetlinkMessageBuilder, coversAllFamilies: Bool = false) {
        builder.append(coversAllFamilies ? AF.unspec : family?.rawValue ?? AF.unspec)
        builder.append(bytes: repeatElement(0, count: bodySize - 1))
        switch self {
        // Counters make up half of a link's description, and change with every packet.
        case .links: builder.attribute(IFLA.extMask, Self.skipStatistics)
        case .routes(_, let table?): builder.attribute(RTA.table, table.rawValue)
        case .neighbours(_, let interface?): builder.attribute(NDA.ifindex, index: interface)
        default: break
        }
    }

    /// `RTEXT_FILTER_SKIP_STATS`.
    private static let skipStatistics: UInt32 = 1 << 3

    private var family: AddressFamily? {
        switch self {
        case .links, .nexthops: nil
        case .addresses(let family), .routes(let family, _), .rules(let family): family
        case .neighbours(let family, _), .netconf(let family): family
        }
    }

    /// How long the fixed part is; what follows `struct netconfmsg` is counted from a multiple of four.
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
