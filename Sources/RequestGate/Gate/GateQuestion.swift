public import ReachabilityCore

/// All that decides whether a request may go now.
public struct GateQuestion: Sendable, Hashable {
    /// What its path must be.
    public var requirement: PathRequirement
    /// The state of the default path.
    public var status: ReachabilityStatus
    /// Where its connection leads.
    public var destination: Destination
    /// Whether an attempt has found no path although there should be one: then the destination's own is looked up.
    public var isDoubted: Bool
    /// The interface of the default path that meets the requirement; nil if there is none, or it was not looked for.
    public var defaultInterface: InterfaceIndex?

    /// Asks for a request that no attempt was made of.
    public init(
        _ requirement: PathRequirement,
        _ status: ReachabilityStatus,
        _ destination: Destination,
        isDoubted: Bool = false,
        defaultInterface: InterfaceIndex? = nil
    ) {
        self.requirement = requirement
        self.status = status
        self.destination = destination
        self.isDoubted = isDoubted
        self.defaultInterface = defaultInterface
    }

    /// Where a connection leads: to the proxy, where one is in use, whose own way counts then.
    public enum Destination: Sendable, Hashable {
        /// A Unix socket, which needs no path.
        case unixSocket
        /// Addresses, and the way to each; nil while nobody has looked.
        case addresses([GateWay]?)
        /// A name.
        case name(GateName)
    }
}

/// The way to one address, for a socket with a requirement.
public enum GateWay: Sendable, Hashable {
    /// The address is this machine's own.
    case here
    /// Through an interface.
    case through(InterfaceIndex)
    /// There is none.
    case none
}

/// What is known of a name in this epoch: since the network was as it is.
public enum GateName: Sendable, Hashable {
    /// Nothing.
    case notAsked
    /// Nothing; and it is this machine's by definition (`localhost`, RFC 6761, 6.3), so that nobody has to be asked.
    case local
    /// It is being looked up.
    case looking
    /// No name server answers (EAI_AGAIN).
    case temporaryFailure
    /// It has no address, or looking it up fails in another way that waiting does not fix (EAI_NONAME).
    case failure
}
