/// What the kernel answers to a look-up, or what the model says it would.
public enum LookupOutcome: Sendable, Hashable {
    /// A route was selected.
    case selected(RouteSelection)
    /// The kernel refuses with an errno, for a reason.
    case refused(errno: Int32, Reason)
}

/// The route that a look-up selects.
public struct RouteSelection: Sendable, Hashable {
    /// The table in which it was found.
    public var table: RouteTableID
    /// Its type.
    public var type: RouteType
    /// Its metric; 0 in a kernel's answer, which does not say.
    public var metric: UInt32
    /// The way out and the source; of a multipath route, the first leg that can carry.
    public var leg: SelectedLeg
    /// Every leg that the kernel may choose, by its hash, where there is more than one.
    public var alternatives: [SelectedLeg]
    /// The other next hops of a route that was looked up with a source: Linux 6.16 prefers those that own the source,
    /// older kernels choose among all.
    public var unpreferred: [SelectedLeg] = []
    /// The errnos that connections get for which another next hop was chosen first: rules refuse its source.
    public var refusals: [Int32] = []

    /// Makes a selection.
    public init(
        table: RouteTableID,
        type: RouteType = .unicast,
        metric: UInt32 = 0,
        leg: SelectedLeg,
        alternatives: [SelectedLeg] = []
    ) {
        self.table = table
        self.type = type
        self.metric = metric
        self.leg = leg
        self.alternatives = alternatives
    }
}

/// One way out, with the source address that goes with it.
public struct SelectedLeg: Sendable, Hashable {
    /// The interface.
    public var interface: InterfaceIndex
    /// The next hop; nil if the destination is taken to be on the link.
    public var gateway: IPAddress?
    /// The source address that the kernel selects; nil if there is none.
    public var source: IPAddress?
    /// The table in which it was found, if that is another than the selection's: a rule on the source chose it.
    public var table: RouteTableID?

    /// Makes a way out.
    public init(interface: InterfaceIndex, gateway: IPAddress? = nil, source: IPAddress? = nil) {
        self.interface = interface
        self.gateway = gateway
        self.source = source
    }
}

/// The errnos that the routing look-up gives (Linux, `asm-generic/errno.h`).
public enum LookupErrno {
    /// `EACCES`: prohibit.
    public static let accessDenied: Int32 = 13
    /// `EINVAL`: blackhole.
    public static let invalid: Int32 = 22
    /// `EAFNOSUPPORT`: the source address is an IPv4 one in IPv6's form.
    public static let familyNotSupported: Int32 = 97
    /// `EADDRNOTAVAIL`: no source address.
    public static let addressNotAvailable: Int32 = 99
    /// `ENETUNREACH`: no route, or a rule that says unreachable.
    public static let networkUnreachable: Int32 = 101
    /// `EHOSTUNREACH`: a route that says unreachable.
    public static let hostUnreachable: Int32 = 113
}
