public import ReachabilityCore

/// The way that packets to one destination take now: the kernel's own answer.
public struct DestinationPath: Sendable, Hashable {
    /// The address that was looked up.
    public var destination: IPAddress
    /// ``ReachabilityStatus/notReachable``, or what carries the path.
    public var status: ReachabilityStatus
    /// The interface of the route itself; nil if there is none.
    public var interface: NetworkInterface?
    /// The physical interfaces that carry it, beneath bridges, bonds, VLANs and tunnels.
    public var carriers: [NetworkInterface]
    /// The kernel's words: the route, or the errno with which it refuses.
    public var outcome: LookupOutcome
    /// Why there is no path, and what is wrong with the one there is.
    public var reasons: [Reason]
    /// Whether traffic may cost by its volume, as ``NetworkPath/isExpensive`` means it.
    public var isExpensive: Bool
    /// Where a requirement leaves no way: the interfaces that were looked at, and what speaks against each.
    public var ruledOut: [RuledOutInterface]

    /// Makes a path.
    public init(
        destination: IPAddress,
        status: ReachabilityStatus,
        interface: NetworkInterface? = nil,
        carriers: [NetworkInterface] = [],
        outcome: LookupOutcome,
        reasons: [Reason] = [],
        isExpensive: Bool = false,
        ruledOut: [RuledOutInterface] = []
    ) {
        self.destination = destination
        self.status = status
        self.interface = interface
        self.carriers = carriers
        self.outcome = outcome
        self.reasons = reasons
        self.isExpensive = isExpensive
        self.ruledOut = ruledOut
    }
}
