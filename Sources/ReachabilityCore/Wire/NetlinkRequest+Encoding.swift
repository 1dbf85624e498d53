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
