/// What one `RTM_NEWROUTE` or `RTM_DELROUTE` said (rtnetlink(7), `include/uapi/linux/rtnetlink.h`).
public struct RouteMessage: Sendable, Hashable {
    /// `RTA_DST` and `rtm_dst_len`; its address tells the route's family.
    public var destination: IPPrefix
    /// `RTA_SRC` and `rtm_src_len` of an IPv6 source-specific route; length 0 for any source.
    public var source: IPPrefix
    /// `RTA_TABLE`, or `rtm_table` where that is missing.
    public var table: RouteTableID
    /// `rtm_type`.
    public var type: RouteType = .unicast
    /// `rtm_scope`.
    public var scope: RouteScope = .universe
    /// `rtm_protocol`: who installed it (`RTPROT_*`).
    public var origin: UInt8 = 0
    /// `rtm_tos`: the DSCP and ECN bits that a packet must have; 0 is any.
    public var tos: UInt8 = 0
    /// `rtm_flags`: `RTM_F_*` and, of a route with one leg, its `RTNH_F_*`.
    public var flags: UInt32 = 0
    /// `RTA_PRIORITY`, which `ip route` calls metric; lower wins.
    public var metric: UInt32 = 0
    /// `RTA_OIF`, `RTA_GATEWAY` or `RTA_VIA`, or the entries of `RTA_MULTIPATH`; empty for a route without a device.
    public var legs: [RouteLeg] = []
    /// `RTA_NH_ID`: the nexthop object that the route goes through (ip-nexthop(8)).
    public var nexthopID: UInt32?
    /// `RTA_PREFSRC`.
    public var preferredSource: IPAddress?
    /// `RTA_PREF`: the router's preference in its advertisement (RFC 4191).
    public var preference: RouterPreference = .medium
    /// `RTA_MARK`: the mark of the packets that an answer to a lookup is about; 0 for none.
    public var mark: UInt32 = 0
    /// `RTA_CACHEINFO`'s `rta_expires`, counted from the message; nil if the route does not expire.
    ///
    /// The kernel counts in hundredths of a second (`USER_HZ`). Zero: it has expired and is not yet removed.
    public var lifetime: Duration?

    /// Makes a message for a destination in a table; the rest is set afterwards.
    public init(destination: IPPrefix, table: RouteTableID = .main) {
        self.destination = destination
        self.source = .all(destination.address.family)
        self.table = table
    }

    /// The family of the route.
    public var family: AddressFamily { destination.address.family }

    /// Whether the model mirrors this route: it covers at least a sixteenth of its family.
    ///
    /// VPNs cover the default route with halves and eighths (0/1 and 128/1, 2000::/4, ::/3) to beat it.
    public var isDefaultLike: Bool { destination.length <= Self.longestDefaultLikePrefix }

    /// The longest prefix that counts as a default route, in bits.
    public static let longestDefaultLikePrefix: UInt8 = 4
}

/// One way that a route can send a packet: a leg of a multipath route, or the only one.
public struct RouteLeg: Sendable, Hashable {
    /// `RTA_OIF` or `rtnh_ifindex`; 0 if there is none.
    public var interface: InterfaceIndex
    /// `RTA_GATEWAY` or `RTA_VIA`; nil for a destination on the link.
    ///
    /// It may be IPv6 for an IPv4 route (RFC 5549).
    public var gateway: IPAddress?
    /// `rtnh_hops` + 1; 1 for the only leg.
    public var weight: UInt16
    /// `rtnh_flags` or the low bits of `rtm_flags`.
    public var flags: LegFlags

    /// Makes a leg.
    public init(interface: InterfaceIndex, gateway: IPAddress? = nil, weight: UInt16 = 1, flags: LegFlags = []) {
        self.interface = interface
        self.gateway = gateway
        self.weight = weight
        self.flags = flags
    }
}

/// `RTNH_F_*`.
public struct LegFlags: OptionSet, Sendable, Hashable {
    /// The bits as the kernel writes them.
    public let rawValue: UInt32
    /// Takes the kernel's bits as they are.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// `RTNH_F_DEAD`: the device is down, or its carrier is lost and it ignores such routes.
    public static let dead = Self(rawValue: 1)
    /// `RTNH_F_PERVASIVE`.
    public static let pervasive = Self(rawValue: 2)
    /// `RTNH_F_ONLINK`: the gateway is taken to be on the link.
    public static let onLink = Self(rawValue: 4)
    /// `RTNH_F_LINKDOWN`: the device has no carrier; a change of it is not announced.
    public static let linkDown = Self(rawValue: 16)
}

/// A routing table's number (`RT_TABLE_*`, ip-route(8)).
public struct RouteTableID: RawRepresentable, Sendable, Hashable {
    /// The number, from `RTA_TABLE` or `rtm_table`.
    public let rawValue: UInt32
    /// Takes the kernel's number as it is.
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
public struct RouteType: RawRepresentable, Sendable, Hashable {
    /// The number that the kernel writes in `rtm_type`.
    public let rawValue: UInt8
    /// Takes the kernel's number as it is.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// `RTN_UNICAST`.
    public static let unicast = Self(rawValue: 1)
    /// `RTN_LOCAL`.
    public static let local = Self(rawValue: 2)
    /// `RTN_BROADCAST`.
    public static let broadcast = Self(rawValue: 3)
    /// `RTN_ANYCAST`.
    public static let anycast = Self(rawValue: 4)
    /// `RTN_MULTICAST`.
    public static let multicast = Self(rawValue: 5)
    /// `RTN_BLACKHOLE`: dropped in silence; a local sender gets EINVAL.
    public static let blackhole = Self(rawValue: 6)
    /// `RTN_UNREACHABLE`: EHOSTUNREACH.
    public static let unreachable = Self(rawValue: 7)
    /// `RTN_PROHIBIT`: EACCES.
    public static let prohibit = Self(rawValue: 8)
    /// `RTN_THROW`: this table has no answer; the walk goes on with the next rule.
    public static let `throw` = Self(rawValue: 9)
}

/// `ICMPV6_ROUTER_PREF_*` (RFC 4191, 2.1).
public enum RouterPreference: UInt8, Sendable, Hashable {
    /// Medium, the default.
    case medium = 0
    /// High.
    case high = 1
    /// Reserved; the kernel treats it as medium.
    case invalid = 2
    /// Low.
    case low = 3
}
