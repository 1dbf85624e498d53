package import ReachabilityCore

/// Decides whether a request may be sent, needs a name or route lookup first, or has to wait: the gate's decision
/// table.
///
/// An address is judged by the kernel's own route lookup and the monitor's link state. So hosts on the local link,
/// hosts behind a VPN and this machine stay reachable while the internet is not, and an address without a route is one
/// that no connection could reach either.
package enum GateTable {
    /// Returns the decision for a request.
    package static func verdict(_ context: GateContext) -> GateVerdict {
        if context.destination == .unixSocket { return .go }
        let isRestricted = context.requirement != .any
        // An unknown state does not block a request, unless its path might violate a requirement.
        if context.status == .unknown { return isRestricted ? .wait(.firstState) : .go }
        if !isRestricted, context.status.isReachable, !context.needsRevalidation { return .go }
        switch context.destination {
        case .unixSocket: return .go
        case .addresses(let routes): return routes.map { verdict($0, isRestricted) } ?? .lookupRoutes
        case .name(let name): return verdict(name, context, isRestricted)
        }
    }

    /// Selects the first address that has a route.
    ///
    /// A request bound to that route's interface excludes addresses behind others.
    private static func verdict(_ routes: [RouteResult], _ isRestricted: Bool) -> GateVerdict {
        guard let first = routes.first(where: { $0 != .none }) else { return .wait(.path) }
        let positions = routes.indices.filter { routes[$0] != .none && (!isRestricted || routes[$0] == first) }
        guard isRestricted, case .interface(let interface) = first else { return .goTo(positions, boundTo: nil) }
        return .goTo(positions, boundTo: interface)
    }

    private static func verdict(_ name: GateName, _ context: GateContext, _ isRestricted: Bool) -> GateVerdict {
        switch name {
        case .local: return .lookup
        // The system's resolver is not bound to an interface, so its lookup must not use a forbidden path.
        case .unresolved: return !isRestricted || context.defaultInterface != nil ? .lookup : .wait(.path)
        case .resolving: return .wait(.name)
        case .temporaryFailure: return .wait(.nameServer)
        case .failure:
            guard isRestricted else { return context.status.isReachable ? .go : .wait(.path) }
            // The attempt fails by itself, with the resolver's error.
            return context.defaultInterface.map { .goTo(nil, boundTo: $0) } ?? .wait(.path)
        }
    }
}

/// The decision of the gate.
package enum GateVerdict: Sendable, Hashable {
    /// The request is sent as it would be without a gate.
    case go
    /// The request is sent to the addresses at these positions; nil for all addresses of the name.
    ///
    /// If an interface is given, the connection must be bound to it, so that no packet leaves through another one.
    case goTo([Int]?, boundTo: InterfaceIndex?)
    /// The name has to be resolved first.
    case lookup
    /// The routes to the addresses have to be looked up in the kernel first.
    case lookupRoutes
    /// The request waits.
    case wait(GateObstacle)
}

/// The reason why a request waits.
package enum GateObstacle: String, Sendable, Hashable, CaseIterable {
    /// The state of the network is not known yet.
    case firstState
    /// No path meets the requirement of the request.
    case path
    /// The name is being resolved.
    case name
    /// No name server responds.
    case nameServer
    /// The path was not validated yet.
    case validation
    /// A captive portal responds in place of servers.
    case portal
    /// The path does not lead to the internet.
    case internet
}

/// The inputs of the gate's decision.
package struct GateContext: Sendable, Hashable {
    /// The requirement that the request's path must meet.
    package var requirement: PathRequirement
    /// The state of the default path.
    package var status: ReachabilityStatus
    /// The destination of the connection.
    package var destination: Destination
    /// Whether an attempt found no path although the state says that there is one.
    ///
    /// The destination's own route is then looked up.
    package var needsRevalidation: Bool
    /// The interface of the default path that meets the requirement; nil if there is none, or if it was not determined.
    package var defaultInterface: InterfaceIndex?

    /// Creates the inputs for a request.
    ///
    /// The defaults are for one that has not been attempted.
    package init(
        _ requirement: PathRequirement,
        _ status: ReachabilityStatus,
        _ destination: Destination,
        needsRevalidation: Bool = false,
        defaultInterface: InterfaceIndex? = nil
    ) {
        self.requirement = requirement
        self.status = status
        self.destination = destination
        self.needsRevalidation = needsRevalidation
        self.defaultInterface = defaultInterface
    }

    /// The destination of a connection.
    ///
    /// If a proxy is used, it is the proxy.
    package enum Destination: Sendable, Hashable {
        /// A Unix socket, which needs no path.
        case unixSocket
        /// Addresses, and the route to each; nil until the routes have been looked up.
        case addresses([RouteResult]?)
        /// A host name.
        case name(GateName)
    }
}

/// The result of a route lookup for one address and a socket with a requirement.
package enum RouteResult: Sendable, Hashable {
    /// The address is this machine's own.
    case local
    /// The route uses an interface.
    case interface(InterfaceIndex)
    /// There is no route.
    case none
}

/// The state of a name's resolution since the network last changed.
package enum GateName: Sendable, Hashable {
    /// The name has not been resolved.
    case unresolved
    /// The name has not been resolved, and it means this machine by definition (`localhost`, RFC 6761, 6.3), so that no
    /// name server is needed.
    case local
    /// The name is being resolved.
    case resolving
    /// No name server responds (EAI_AGAIN).
    case temporaryFailure
    /// The name has no address, or its resolution failed with another error that waiting does not fix (EAI_NONAME).
    case failure
}
