public import ReachabilityCore

/// What is known of the way to one host.
public enum DestinationState: Sendable, Hashable {
    /// Its name is being resolved, or the first answer is awaited.
    case resolving
    /// The ways to its addresses.
    case paths([DestinationRoute])
    /// Its name can't be resolved, and why; it goes on being tried.
    case failed(String)
}

/// The kernel's way to one address.
public struct DestinationRoute: Sendable, Hashable {
    /// The address.
    public var address: IPAddress
    /// Whether, and by what kind of carrier, it is reached.
    public var status: ReachabilityStatus
    /// The interface of the route itself.
    public var interface: NetworkInterface?
    /// The next hop; nil if the address is on the link.
    public var gateway: IPAddress?
    /// The source address that the kernel selects.
    public var source: IPAddress?
    /// Why there is no way, or what is wrong with the one there is.
    public var reasons: [Reason]

    /// Makes a way.
    public init(
        to address: IPAddress,
        status: ReachabilityStatus,
        interface: NetworkInterface? = nil,
        gateway: IPAddress? = nil,
        source: IPAddress? = nil,
        reasons: [Reason] = []
    ) {
        self.address = address
        self.status = status
        self.interface = interface
        self.gateway = gateway
        self.source = source
        self.reasons = reasons
    }
}
