/// The content of an `RTM_NEWROUTE` or `RTM_DELROUTE` message (rtnetlink(7), `include/uapi/linux/rtnetlink.h`).
package struct RouteMessage: Sendable, Hashable {
    /// `RTA_DST` and `rtm_dst_len`; its address has the route's family.
    package var destination: IPPrefix
    /// `RTA_SRC` and `rtm_src_len` of an IPv6 source-specific route; length 0 for any source.
    package var source: IPPrefix
    /// `RTA_TABLE`, or `rtm_table` if that is missing.
    package var table: RouteTableID
    /// `rtm_type`.
    package var type: RouteType = .unicast
    /// `rtm_scope`.
    package var scope: RouteScope = .universe
    /// `rtm_protocol`: who installed it (`RTPROT_*`).
    package var origin: UInt8 = 0
    /// `rtm_tos`: the DSCP and ECN bits that a packet must have; 0 matches any.
    package var tos: UInt8 = 0
    /// `rtm_flags`: `RTM_F_*` and, for a route with one next hop, its `RTNH_F_*`.
    package var flags: UInt32 = 0
    /// `RTA_PRIORITY`, which `ip route` calls metric; lower wins.
    package var metric: UInt32 = 0
    /// The next hops: `RTA_OIF` with `RTA_GATEWAY` or `RTA_VIA`, or the entries of `RTA_MULTIPATH`; empty without a
    /// device.
    package var nextHops: [NextHop] = []
    /// `RTA_NH_ID`: the nexthop object that the route uses (ip-nexthop(8)).
    package var nexthopID: UInt32?
    /// `RTA_PREFSRC`.
    package var preferredSource: IPAddress?
    /// `RTA_PREF`: the preference in the router's advertisement (RFC 4191).
    package var preference: RouterPreference = .medium
    /// `RTA_MARK`: the mark of the packets that a lookup was about; 0 for none.
    package var mark: UInt32 = 0
    /// The time from the message until the route expires (`rta_expires` in `RTA_CACHEINFO`); nil if it does not expire.
    ///
    /// The kernel counts in hundredths of a second (`USER_HZ`). Zero means that the route has expired and is not yet
    /// removed.
    package var lifetime: Duration?

    /// Creates a message for a destination in a table; set the other properties afterwards.
    package init(destination: IPPrefix, table: RouteTableID = .main) {
        self.destination = destination
        self.source = .all(destination.address.family)
        self.table = table
    }

    /// The route's address family.
    package var family: AddressFamily { destination.address.family }

    /// Whether the route covers at least a sixteenth of its family's addresses, so that the model keeps it.
    ///
    /// VPNs override the default route with halves and eighths of the address space (0/1 and 128/1, 2000::/4, ::/3).
    package var isDefaultLike: Bool { destination.length <= Self.longestDefaultLikePrefix }

    /// The length in bits of the longest prefix that counts as default-like.
    package static let longestDefaultLikePrefix: UInt8 = 4

    /// `RTM_F_CLONED`: an entry of the route cache or a lookup's result, not a route of a table.
    static let cloned: UInt32 = 0x200
}

/// A next hop of a route: one of several of a multipath route, or the only one.
package struct NextHop: Sendable, Hashable {
    /// The egress interface: `RTA_OIF` or `rtnh_ifindex`; 0 if there is none.
    package var interface: InterfaceIndex
    /// The gateway: `RTA_GATEWAY` or `RTA_VIA`; nil for a destination on the link.
    ///
    /// An IPv4 route may have an IPv6 gateway (RFC 5549).
    package var gateway: IPAddress?
    /// The weight: `rtnh_hops` + 1; 1 for the only next hop.
    package var weight: UInt16
    /// `rtnh_flags` or the low bits of `rtm_flags`.
    package var flags: NextHopFlags

    /// Creates a next hop.
    package init(interface: InterfaceIndex, gateway: IPAddress? = nil, weight: UInt16 = 1, flags: NextHopFlags = []) {
        self.interface = interface
        self.gateway = gateway
        self.weight = weight
        self.flags = flags
    }
}

/// The flags of a next hop, `RTNH_F_*`.
package struct NextHopFlags: OptionSet, Sendable, Hashable {
    /// The bits as the kernel writes them.
    package let rawValue: UInt32
    /// Creates flags from the kernel's bits.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `RTNH_F_DEAD`: the device is down, or has no carrier while `ignore_routes_with_linkdown` is set.
    package static let dead = Self(rawValue: 1)
    /// `RTNH_F_ONLINK`: the gateway is assumed to be on the link.
    package static let onLink = Self(rawValue: 4)
    /// `RTNH_F_LINKDOWN`: the device has no carrier; changes are not announced.
    package static let linkDown = Self(rawValue: 16)
    /// The model's own, beyond the kernel's bits: the route lacks `RTNH_F_LINKDOWN` though its device is not running.
    ///
    /// The device had its carrier when the route was added, and its operational state has not followed yet.
    static let carried = Self(rawValue: 1 << 31)
}

/// A routing table's number (`RT_TABLE_*`, ip-route(8)).
public struct RouteTableID: RawRepresentable, Sendable, Hashable {
    /// The number, from `RTA_TABLE` or `rtm_table`.
    public let rawValue: UInt32
    /// Creates a value from the kernel's number.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `RT_TABLE_UNSPEC`.
    public static let unspecified = Self(rawValue: 0)
    /// `RT_TABLE_DEFAULT`.
    public static let `default` = Self(rawValue: 253)
    /// `RT_TABLE_MAIN`.
    public static let main = Self(rawValue: 254)
    /// `RT_TABLE_LOCAL`.
    public static let local = Self(rawValue: 255)
}

/// `RTN_*`: what the kernel does with a packet that a route matches.
package struct RouteType: RawRepresentable, Sendable, Hashable {
    /// The number that the kernel writes in `rtm_type`.
    package let rawValue: UInt8
    /// Creates a value from the kernel's number.
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `RTN_UNICAST`.
    package static let unicast = Self(rawValue: 1)
    /// `RTN_LOCAL`.
    package static let local = Self(rawValue: 2)
    /// `RTN_BROADCAST`.
    package static let broadcast = Self(rawValue: 3)
    /// `RTN_ANYCAST`.
    package static let anycast = Self(rawValue: 4)
    /// `RTN_MULTICAST`.
    package static let multicast = Self(rawValue: 5)
    /// `RTN_BLACKHOLE`: silently dropped; a local sender gets EINVAL.
    package static let blackhole = Self(rawValue: 6)
    /// `RTN_UNREACHABLE`: EHOSTUNREACH.
    package static let unreachable = Self(rawValue: 7)
    /// `RTN_PROHIBIT`: EACCES.
    package static let prohibit = Self(rawValue: 8)
    /// `RTN_THROW`: ends the lookup in this table; it continues with the next rule.
    package static let `throw` = Self(rawValue: 9)
}

/// `RT_SCOPE_*`: how far a route or an address reaches; larger numbers are nearer.
package struct RouteScope: RawRepresentable, Sendable, Hashable, Comparable {
    /// The number that the kernel writes.
    package let rawValue: UInt8
    /// Creates a value from the kernel's number.
    package init(rawValue: UInt8) { self.rawValue = rawValue }
    /// Orders by the kernel's number.
    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }

    /// `RT_SCOPE_UNIVERSE`.
    package static let universe = Self(rawValue: 0)
    /// `RT_SCOPE_SITE`.
    package static let site = Self(rawValue: 200)
    /// `RT_SCOPE_LINK`.
    package static let link = Self(rawValue: 253)
    /// `RT_SCOPE_HOST`.
    package static let host = Self(rawValue: 254)
    /// `RT_SCOPE_NOWHERE`.
    package static let nowhere = Self(rawValue: 255)
}

/// `ICMPV6_ROUTER_PREF_*` (RFC 4191, 2.1).
package enum RouterPreference: UInt8, Sendable, Hashable {
    /// Medium, the default.
    case medium = 0
    /// High.
    case high = 1
    /// Reserved; the kernel treats it as medium.
    case invalid = 2
    /// Low.
    case low = 3
}

// MARK: - Decoding

extension RouteMessage {
    /// `sizeof(struct rtmsg)`.
    static let bodySize = 12

    /// Decodes the payload of an `RTM_NEWROUTE` or `RTM_DELROUTE` message.
    ///
    /// Returns nil for a family other than IPv4 and IPv6.
    init?(_ body: WireRegion, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try body.require(Self.bodySize)
        guard let family = AddressFamily(rawValue: body.byte(0, bytes)) else { return nil }
        let destinationLength = try body.prefixLength(1, family, bytes, "rtm_dst_len")
        let sourceLength = try body.prefixLength(2, family, bytes, "rtm_src_len")
        let any = IPAddress(family: family, bits: 0)
        self.init(
            destination: .init(any, length: destinationLength),
            table: .init(rawValue: UInt32(body.byte(4, bytes)))
        )
        source = .init(any, length: sourceLength)
        tos = body.byte(3, bytes)
        origin = body.byte(5, bytes)
        scope = .init(rawValue: body.byte(6, bytes))
        type = .init(rawValue: body.byte(7, bytes))
        flags = body.load(8, bytes)
        var only = NextHopAttributes(family: family)
        var cursor = body.attributes(after: Self.bodySize)
        while let attribute = try cursor.next(bytes) {
            if try !only.read(attribute, bytes) { try read(attribute, family, bytes) }
        }
        if nextHops.isEmpty, only.isPresent {
            nextHops = [only.nextHop(flags: .init(rawValue: flags & NextHopFlags.ofRoutes))]
        }
    }

    private mutating func read(
        _ attribute: NetlinkAttribute,
        _ family: AddressFamily,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) {
        switch attribute.type {
        case RTA.table: table = .init(rawValue: try attribute.integer(bytes, "RTA_TABLE"))
        case RTA.priority: metric = try attribute.integer(bytes, "RTA_PRIORITY")
        case RTA.dst:
            destination = .init(try attribute.address(family, bytes, "RTA_DST"), length: destination.length)
        case RTA.src: source = .init(try attribute.address(family, bytes, "RTA_SRC"), length: source.length)
        case RTA.prefsrc: preferredSource = try attribute.address(family, bytes, "RTA_PREFSRC")
        case RTA.mark: mark = try attribute.integer(bytes, "RTA_MARK")
        case RTA.pref: preference = .init(rawValue: try attribute.integer(bytes, "RTA_PREF")) ?? .medium
        case RTA.nhID: nexthopID = try attribute.integer(bytes, "RTA_NH_ID")
        case RTA.cacheinfo: try readLifetime(attribute, bytes)
        case RTA.multipath: nextHops = try NextHop.list(attribute, family, bytes)
        default: break
        }
    }

    /// Reads `struct rta_cacheinfo`, whose `rta_expires` is in hundredths of a second and negative once expired.
    private mutating func readLifetime(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        try attribute.require(32, "RTA_CACHEINFO")
        let ticks: Int32 = attribute.payload.load(8, bytes)
        lifetime = ticks == 0 ? nil : .milliseconds(10 * Int64(max(0, ticks)))
    }
}

extension NextHopFlags {
    /// The bits of `rtm_flags` that are `RTNH_F_*`; the higher ones are `RTM_F_*`.
    static let ofRoutes: UInt32 = 0xFF
}

/// The attributes of one next hop, which a route with a single next hop has among its own.
private struct NextHopAttributes {
    /// The route's address family.
    let family: AddressFamily
    private var interface: InterfaceIndex?
    private var gateway: IPAddress?

    init(family: AddressFamily) { self.family = family }

    /// Whether any attribute of a next hop was found.
    var isPresent: Bool { interface != nil || gateway != nil }

    /// Reads an attribute; returns false if it does not belong to a next hop.
    @inline(__always)
    mutating func read(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) -> Bool {
        switch attribute.type {
        case RTA.oif: interface = try attribute.integer(bytes, "RTA_OIF")
        case RTA.gateway: gateway = try attribute.address(family, bytes, "RTA_GATEWAY")
        case RTA.via: try readVia(attribute, bytes)
        default: return false
        }
        return true
    }

    /// Returns the next hop, with the fields that are outside its attributes.
    func nextHop(interface index: InterfaceIndex? = nil, weight: UInt16 = 1, flags: NextHopFlags) -> NextHop {
        .init(interface: index ?? interface ?? 0, gateway: gateway, weight: weight, flags: flags)
    }

    /// Reads `struct rtvia`, a gateway preceded by its address family; unknown families are ignored.
    private mutating func readVia(_ attribute: NetlinkAttribute, _ bytes: RawSpan) throws(NetlinkDecodeError) {
        let number: UInt16 = try attribute.integer(bytes, "RTA_VIA")
        guard let family = UInt8(exactly: number).flatMap(AddressFamily.init) else { return }
        gateway = try attribute.address(family, bytes, "RTA_VIA", at: 2)
    }
}

extension NextHop {
    /// `sizeof(struct rtnexthop)`.
    private static let headerSize = 8

    /// Decodes `RTA_MULTIPATH`: entries of `struct rtnexthop`, each followed by its attributes.
    fileprivate static func list(
        _ attribute: NetlinkAttribute,
        _ family: AddressFamily,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> [Self] {
        var nextHops: [Self] = []
        var position = attribute.payload.start
        let end = attribute.payload.end
        while end - position >= headerSize {
            let rest = WireRegion(start: position, end: end, isForeign: attribute.payload.isForeign)
            let length: UInt16 = rest.load(0, bytes)
            guard length >= headerSize, Int(length) <= rest.count else {
                let fault = NetlinkDecodeError.Fault.invalidEntryLength(
                    attribute: "RTA_MULTIPATH",
                    length: length,
                    available: rest.count
                )
                throw .init(fault, at: position)
            }
            nextHops.append(
                try entry(.init(start: position, end: position + Int(length), isForeign: rest.isForeign), family, bytes)
            )
            position += (Int(length) + 3) & ~3
        }
        return nextHops
    }

    private static func entry(
        _ region: WireRegion,
        _ family: AddressFamily,
        _ bytes: RawSpan
    ) throws(NetlinkDecodeError) -> Self {
        var hop = NextHopAttributes(family: family)
        var cursor = region.attributes(after: headerSize)
        while let attribute = try cursor.next(bytes) { _ = try hop.read(attribute, bytes) }
        return hop.nextHop(
            interface: region.load(4, bytes),
            weight: UInt16(region.byte(3, bytes)) + 1,
            flags: .init(rawValue: UInt32(region.byte(2, bytes)))
        )
    }
}

// MARK: - Encoding

extension RouteMessage {
    /// Appends `struct rtmsg` and the attributes.
    func append(to builder: inout NetlinkMessageBuilder) {
        builder.append(family.rawValue)
        builder.append(destination.length)
        builder.append(source.length)
        builder.append(tos)
        builder.append(table.headerValue)
        builder.append(origin)
        builder.append(scope.rawValue)
        builder.append(type.rawValue)
        builder.append(flags)
        builder.attribute(RTA.table, table.rawValue)
        if !destination.isAny { builder.attribute(RTA.dst, destination.address) }
        if !source.isAny { builder.attribute(RTA.src, source.address) }
        if metric != 0 { builder.attribute(RTA.priority, metric) }
        if let preferredSource { builder.attribute(RTA.prefsrc, preferredSource) }
        if let nexthopID { builder.attribute(RTA.nhID, nexthopID) }
        if mark != 0 { builder.attribute(RTA.mark, mark) }
        if family == .ipv6 || preference != .medium { builder.attribute(RTA.pref, preference.rawValue) }
        appendNextHops(to: &builder)
        appendLifetime(to: &builder)
    }

    /// Appends a single next hop as the route's own attributes if they can hold it, otherwise `RTA_MULTIPATH`.
    private func appendNextHops(to builder: inout NetlinkMessageBuilder) {
        guard let first = nextHops.first else { return }
        let isPlain = first.weight == 1 && first.flags.rawValue == flags & NextHopFlags.ofRoutes
        if nextHops.count == 1, isPlain, first.interface != 0 || first.gateway != nil {
            if first.interface != 0 { builder.attribute(RTA.oif, index: first.interface) }
            first.appendGateway(of: family, to: &builder)
        } else {
            builder.nested(RTA.multipath, flagged: false) { list in
                for nextHop in nextHops { nextHop.appendEntry(of: family, to: &list) }
            }
        }
    }

    /// Appends `struct rta_cacheinfo`, in which zero means no expiry and an expired lifetime is negative.
    private func appendLifetime(to builder: inout NetlinkMessageBuilder) {
        guard let lifetime else { return }
        let (seconds, attoseconds) = min(max(lifetime, .zero), .seconds(Int64(Int32.max))).components
        let ticks = Int32(clamping: seconds * 100 + attoseconds / 10_000_000_000_000_000)
        builder.nested(RTA.cacheinfo, flagged: false) { cache in
            cache.append(UInt64(0))
            cache.append(ticks == 0 ? -1 : ticks)
            cache.append(bytes: repeatElement(0, count: 20))
        }
    }
}

extension NextHop {
    /// Appends an entry of `RTA_MULTIPATH`: `struct rtnexthop` and its attributes.
    fileprivate func appendEntry(of family: AddressFamily, to list: inout NetlinkMessageBuilder) {
        list.record { entry in
            entry.append(UInt8(truncatingIfNeeded: flags.rawValue))
            entry.append(UInt8(clamping: Int(weight) - 1))
            entry.append(interface)
            appendGateway(of: family, to: &entry)
        }
    }

    /// Appends `RTA_GATEWAY`, or `RTA_VIA` if the gateway's family differs from the route's.
    fileprivate func appendGateway(of family: AddressFamily, to builder: inout NetlinkMessageBuilder) {
        guard let gateway else { return }
        guard gateway.family != family else { return builder.attribute(RTA.gateway, gateway) }
        builder.nested(RTA.via, flagged: false) { via in
            via.append(UInt16(gateway.family.rawValue))
            via.append(gateway)
        }
    }
}

extension RouteTableID {
    /// The table in the header's eight bits: `RT_TABLE_COMPAT` if it does not fit.
    var headerValue: UInt8 { UInt8(exactly: rawValue) ?? 252 }
}

// MARK: - Numbers

/// `RTA_*`: attributes of routes and of their next hops (`rtnetlink.h`).
enum RTA {
    static let dst: UInt16 = 1
    static let src: UInt16 = 2
    static let oif: UInt16 = 4
    static let gateway: UInt16 = 5
    static let priority: UInt16 = 6
    static let prefsrc: UInt16 = 7
    static let multipath: UInt16 = 9
    static let cacheinfo: UInt16 = 12
    static let table: UInt16 = 15
    static let mark: UInt16 = 16
    static let via: UInt16 = 18
    static let pref: UInt16 = 20
    static let uid: UInt16 = 25
    static let ipProto: UInt16 = 27
    static let sport: UInt16 = 28
    static let dport: UInt16 = 29
    static let nhID: UInt16 = 30
}
