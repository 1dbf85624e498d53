public import ReachabilityCore

/// The path that packets to one destination take now: the kernel's own reply.
public struct DestinationPath: Sendable, Hashable {
    /// The address that was looked up.
    public var destination: IPAddress
    /// What carries the path, or ``ReachabilityStatus/notReachable``; ``ReachabilityStatus/unknown`` only where what is
    /// not read yet may hold a path, or a device that is not identified yet may meet the requirement.
    public var status: ReachabilityStatus
    /// The interface of the route itself; nil if there is none.
    public var interface: NetworkInterface?
    /// The physical interfaces that carry it, beneath bridges, bonds, VLANs and tunnels.
    public var carriers: [NetworkInterface]
    /// The kernel's reply: the route, or the errno with which it refuses.
    package var outcome: LookupOutcome
    /// Why there is no path, and what is wrong with the one there is.
    public var reasons: [ReachabilityReason]
    /// Whether traffic may cost by its volume, as of ``NetworkPath/isExpensive``.
    public var isExpensive: Bool
    /// The interfaces that were looked at, and why each is unusable, if no path meets a requirement.
    public var ruledOut: [RuledOutInterface]

    /// Creates a path.
    package init(
        destination: IPAddress,
        status: ReachabilityStatus,
        interface: NetworkInterface? = nil,
        carriers: [NetworkInterface] = [],
        outcome: LookupOutcome,
        reasons: [ReachabilityReason] = [],
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

extension DestinationPath {
    /// Whether the kernel has a route to the destination, and the link it leaves through can carry it.
    public var isReachable: Bool { status.isReachable }

    /// Whether the packets stay on this machine, and need no interface.
    public var staysOnThisMachine: Bool { isReachable && interface?.kind == .loopback }

    /// The next hop; nil if the destination is taken to be on the link, or there is no route.
    public var gateway: IPAddress? { selection?.nextHop.gateway }

    /// The source address that the kernel selects; nil if there is no route.
    public var source: IPAddress? { selection?.nextHop.source }

    /// The errno with which the kernel refuses (errno(3)); nil if it selects a route.
    public var errno: Int32? {
        guard case .refused(let errno, _) = outcome else { return nil }
        return errno
    }

    private var selection: RouteSelection? {
        guard case .selected(let selection) = outcome else { return nil }
        return selection
    }
}

extension DestinationPath {
    /// Creates the path that the kernel's reply means: what carries it, and whether it can.
    ///
    /// - Parameters:
    ///   - destination: The address that was looked up.
    ///   - reply: The kernel's reply.
    ///   - evaluator: The user, and the rules for kinds of interfaces.
    ///   - snapshot: The model of the machine's network.
    ///   - now: The time of the reply.
    init(
        _ destination: IPAddress,
        _ reply: ProbeResult,
        _ evaluator: PathEvaluator,
        _ snapshot: NetworkSnapshot,
        at now: Instant
    ) {
        let flow = ProbeFlow(to: destination, user: evaluator.context.user)
        let outcome = reply.outcome(of: flow, in: snapshot, at: now)
        self.init(destination: destination, status: .notReachable, outcome: outcome)
        if case .selected(let selection) = outcome {
            interface = evaluator.describe(selection.nextHop.interface, in: snapshot)
            if selection.type == .local || selection.type == .anycast {
                // An address of this machine is reached without any link.
                status = .wifi
                carriers = [interface].compactMap(\.self)
                return
            }
        }
        let judgement = evaluator.evaluate(outcome, for: destination, snapshot, at: now)
        status = judgement.path?.status ?? .notReachable
        carriers = judgement.path?.carriers ?? []
        isExpensive = judgement.path?.isExpensive ?? false
        reasons = judgement.reasons
    }
}

/// The paths to all addresses of a host.
public struct HostPath: Sendable, Hashable {
    /// The host: an address or a name.
    public var host: String
    /// The paths to its addresses, at first in the order of getaddrinfo(3); addresses that come later are at the end.
    public var paths: [DestinationPath]
    /// Why the name could not be resolved the last time; nil if it could.
    ///
    /// The addresses from before stay known.
    public var resolutionError: ReachabilityError?

    /// Creates a value.
    public init(host: String, paths: [DestinationPath], resolutionError: ReachabilityError? = nil) {
        self.host = host
        self.paths = paths
        self.resolutionError = resolutionError
    }

    /// Whether any of the addresses is reachable.
    public var isReachable: Bool { paths.contains(where: \.isReachable) }

    /// The path to the first address that is reachable; if none is, to the first; nil if no address is known.
    public var best: DestinationPath? { paths.first(where: \.isReachable) ?? paths.first }
}
