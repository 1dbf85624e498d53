public import ReachabilityCore

/// Decides whether a request goes, what is to be found out first, or what it waits for: the gate's table.
///
/// An address is judged by the kernel's own lookup and what the monitor knows of the link, so that hosts on the link,
/// hosts behind a VPN and this machine itself are reached while the internet is away; and where a lookup has no answer,
/// a connection would have none either.
public enum GateTable {
    /// What comes next.
    public static func verdict(_ question: GateQuestion) -> GateVerdict {
        if question.destination == .unixSocket { return .go }
        let isRestricted = question.requirement != .any
        // Not knowing keeps nobody from trying, unless it may be what is forbidden.
        if question.status == .unknown { return isRestricted ? .wait(.firstState) : .go }
        if !isRestricted, question.status.isReachable, !question.isDoubted { return .go }
        switch question.destination {
        case .unixSocket: return .go
        case .addresses(let ways): return ways.map { judge($0, isRestricted) } ?? .judgeAddresses
        case .name(let name): return judge(name, question, isRestricted)
        }
    }

    /// Goes by the first way there is; a request that is bound to its interface reaches no address that has another.
    private static func judge(_ ways: [GateWay], _ isRestricted: Bool) -> GateVerdict {
        guard let first = ways.first(where: { $0 != .none }) else { return .wait(.path) }
        let positions = ways.indices.filter { ways[$0] != .none && (!isRestricted || ways[$0] == first) }
        guard isRestricted, case .through(let interface) = first else { return .goTo(positions, boundTo: nil) }
        return .goTo(positions, boundTo: interface)
    }

    private static func judge(_ name: GateName, _ question: GateQuestion, _ isRestricted: Bool) -> GateVerdict {
        switch name {
        case .local: return .lookup
        // The system's lookup is bound to nothing: it must not be what uses a path that is forbidden.
        case .notAsked: return !isRestricted || question.defaultInterface != nil ? .lookup : .wait(.path)
        case .looking: return .wait(.name)
        case .temporaryFailure: return .wait(.nameServer)
        case .failure:
            guard isRestricted else { return question.status.isReachable ? .go : .wait(.path) }
            // The attempt fails by itself, and says why.
            return question.defaultInterface.map { .goTo(nil, boundTo: $0) } ?? .wait(.path)
        }
    }
}

/// What comes of a question.
public enum GateVerdict: Sendable, Hashable {
    /// It goes as it would without a gate.
    case go
    /// It goes to the addresses at these positions; nil for whatever the name comes to.
    ///
    /// If it is bound to an interface, its connection must be, so that no packet leaves through another.
    case goTo([Int]?, boundTo: InterfaceIndex?)
    /// The name is to be looked up.
    case lookup
    /// The kernel is to be asked for the ways to the addresses.
    case judgeAddresses
    /// It waits.
    case wait(GateObstacle)
}

/// What a request waits for.
public enum GateObstacle: String, Sendable, Hashable, CaseIterable {
    /// What the network is like is not known yet.
    case firstState
    /// There is no path that it may use.
    case path
    /// Its name is being looked up.
    case name
    /// No name server answers.
    case nameServer
}

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
