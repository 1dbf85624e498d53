/// The outcome of a lookup, by the kernel or by the model.
package enum LookupOutcome: Sendable, Hashable {
    /// A route was selected.
    case selected(RouteSelection)
    /// The lookup is refused with an errno, for a reason.
    case refused(errno: Int32, ReachabilityReason)
}

/// The route that a lookup selects.
package struct RouteSelection: Sendable, Hashable {
    /// The table in which it was found.
    package var table: RouteTableID
    /// Its type.
    package var type: RouteType
    /// Its metric; 0 in the kernel's reply, which lacks it.
    package var metric: UInt32
    /// The next hop and the source; of a multipath route, the first next hop that can carry packets.
    package var nextHop: SelectedNextHop
    /// The parts that few selections have; indirect, since selections are copied often.
    private var choices = NextHopChoices.one

    /// Makes a selection.
    package init(
        table: RouteTableID,
        type: RouteType = .unicast,
        metric: UInt32 = 0,
        nextHop: SelectedNextHop,
        alternatives: [SelectedNextHop] = []
    ) {
        self.table = table
        self.type = type
        self.metric = metric
        self.nextHop = nextHop
        choices = .init(alternatives, [], [])
    }

    /// Every next hop that the kernel may choose, by its hash, where there is more than one.
    package var alternatives: [SelectedNextHop] {
        get { if case .several(let hops, _, _) = choices { hops } else { [] } }
        set { choices = .init(newValue, unpreferred, refusals) }
    }

    /// The other next hops of a route that was looked up with a source: Linux 6.16 prefers those that own the source,
    /// older kernels choose among all.
    package var unpreferred: [SelectedNextHop] {
        get { if case .several(_, let hops, _) = choices { hops } else { [] } }
        set { choices = .init(alternatives, newValue, refusals) }
    }

    /// The errnos that connections get for which another next hop was chosen first: rules refuse its source.
    package var refusals: [Int32] {
        get { if case .several(_, _, let errnos) = choices { errnos } else { [] } }
        set { choices = .init(alternatives, unpreferred, newValue) }
    }

    /// Whether the kernel has no choice: all its packets take the same next hop.
    package var hasOneNextHop: Bool { if case .one = choices { true } else { false } }
}

/// The next hops that the kernel may choose besides the first, and what happens to other connections.
private indirect enum NextHopChoices: Sendable, Hashable {
    /// There is one next hop.
    case one
    /// The alternatives, those that some kernels do not prefer, and the errnos of other connections.
    case several([SelectedNextHop], unpreferred: [SelectedNextHop], refusals: [Int32])

    init(_ alternatives: [SelectedNextHop], _ unpreferred: [SelectedNextHop], _ refusals: [Int32]) {
        let isOne = alternatives.isEmpty && unpreferred.isEmpty && refusals.isEmpty
        self = isOne ? .one : .several(alternatives, unpreferred: unpreferred, refusals: refusals)
    }
}

/// A next hop, with the source address that is selected for it.
package struct SelectedNextHop: Sendable, Hashable {
    /// The interface.
    package var interface: InterfaceIndex
    /// The gateway; nil if the destination is on the link.
    package var gateway: IPAddress?
    /// The source address that the kernel selects; nil if there is none.
    package var source: IPAddress?
    /// The table in which it was found, if it differs from the selection's: a rule on the source chose it.
    package var table: RouteTableID?

    /// Makes a next hop.
    package init(interface: InterfaceIndex, gateway: IPAddress? = nil, source: IPAddress? = nil) {
        self.interface = interface
        self.gateway = gateway
        self.source = source
    }
}

/// The errnos of a routing lookup (Linux, `asm-generic/errno.h`).
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
