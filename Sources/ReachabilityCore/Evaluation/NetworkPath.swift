/// The path that packets to the public internet take now, or why there is none.
public struct NetworkPath: Sendable, Hashable {
    /// The state that follows from the path.
    public var status: ReachabilityStatus
    /// The interface of the route itself: that of the better family, IPv4 where both are as good.
    public var interface: NetworkInterface?
    /// The physical interfaces that carry it, beneath bridges, bonds, VLANs and tunnels.
    public var carriers: [NetworkInterface]
    /// The IPv4 default path, if usable.
    public var ipv4: FamilyPath?
    /// The IPv6 default path, if usable.
    public var ipv6: FamilyPath?
    /// Why there is no path, and what is wrong with the one there is.
    public var reasons: [Reason]

    /// Makes a path.
    public init(
        status: ReachabilityStatus,
        interface: NetworkInterface? = nil,
        carriers: [NetworkInterface] = [],
        ipv4: FamilyPath? = nil,
        ipv6: FamilyPath? = nil,
        reasons: [Reason] = []
    ) {
        self.status = status
        self.interface = interface
        self.carriers = carriers
        self.ipv4 = ipv4
        self.ipv6 = ipv6
        self.reasons = reasons
    }
}

/// One family's default path.
public struct FamilyPath: Sendable, Hashable {
    /// ``ReachabilityStatus/cellular`` or ``ReachabilityStatus/wifi``, by this family's own carriers.
    public var status: ReachabilityStatus
    /// The interface of the route itself.
    public var interface: NetworkInterface
    /// The physical interfaces that carry it.
    public var carriers: [NetworkInterface]
    /// The next hop; nil if destinations are taken to be on the link.
    public var gateway: IPAddress?
    /// The source address that the kernel selects.
    public var source: IPAddress
    /// The route's metric; lower wins.
    public var metric: UInt32
    /// The table in which the route was found.
    public var table: RouteTableID

    /// Makes a family's path.
    public init(
        status: ReachabilityStatus,
        interface: NetworkInterface,
        carriers: [NetworkInterface],
        gateway: IPAddress?,
        source: IPAddress,
        metric: UInt32,
        table: RouteTableID
    ) {
        self.status = status
        self.interface = interface
        self.carriers = carriers
        self.gateway = gateway
        self.source = source
        self.metric = metric
        self.table = table
    }
}

/// An interface as paths name it.
public struct NetworkInterface: Sendable, Hashable {
    /// The kernel's number.
    public var index: InterfaceIndex
    /// Its name at the time.
    public var name: String
    /// What it is.
    public var kind: InterfaceKind
    /// How that is known.
    public var kindSource: KindSource

    /// Makes an interface's description.
    public init(index: InterfaceIndex, name: String, kind: InterfaceKind, kindSource: KindSource) {
        self.index = index
        self.name = name
        self.kind = kind
        self.kindSource = kindSource
    }
}
