/// What one routing table says to a look-up.
enum TableAnswer {
    /// Nothing: the walk through the rules goes on.
    case none
    /// A route of type throw: the walk goes on, too.
    case thrown
    /// A route that refuses; the walk stops.
    case refused(errno: Int32, Reason, expiry: Instant?)
    /// A route.
    case found(FoundRoute)

    /// What a route's type means, where it is one that refuses.
    ///
    /// - Returns: Nil for the types that carry packets.
    static func refusal(_ type: RouteType, expiry: Instant?) -> Self? {
        switch type {
        case .blackhole: .refused(errno: LookupErrno.invalid, .blackhole, expiry: expiry)
        case .unreachable: .refused(errno: LookupErrno.hostUnreachable, .unreachable, expiry: expiry)
        case .prohibit: .refused(errno: LookupErrno.accessDenied, .prohibited, expiry: expiry)
        case .throw: .thrown
        case .unicast, .local, .broadcast, .anycast, .multicast: nil
        default: .refused(errno: LookupErrno.invalid, .blackhole, expiry: expiry)
        }
    }
}

/// A route that a table gave, with the ways that the kernel may choose among.
struct FoundRoute {
    /// The table.
    let table: RouteTableID
    /// The prefix length, for rules that suppress short ones.
    let prefixLength: UInt8
    /// The route's type.
    let type: RouteType
    /// Its metric.
    let metric: UInt32
    /// When it expires.
    let expiry: Instant?
    /// The first next hop that may be chosen, with its source.
    var nextHop: SelectedNextHop
    /// Every next hop that may be chosen, where there is more than one.
    var alternatives: [SelectedNextHop] = []
    /// Whether another destination might be given another source.
    var sourceDependsOnDestination = false
    /// The interface whose group decides whether a rule suppresses the route; nil if it is the chosen next hop's.
    ///
    /// That of a route of type local is the one that the route names, not the loopback.
    let groupInterface: InterfaceIndex?

    /// The interface that the route itself names.
    var device: InterfaceIndex { groupInterface ?? nextHop.interface }

    /// The outcome of a look-up that takes this route; of several next hops, the first that can carry comes first.
    func outcome(_ model: LookupModel) -> LookupOutcome {
        let best = alternatives.isEmpty ? nextHop : alternatives.first { model.canCarry($0.interface) } ?? nextHop
        return .selected(.init(table: table, type: type, metric: metric, nextHop: best, alternatives: alternatives))
    }
}

extension LookupModel {
    /// Whether an interface exists and can carry packets now.
    func canCarry(_ index: InterfaceIndex) -> Bool {
        snapshot.linkPosition(index).map { snapshot.canCarry(linkAt: $0) } ?? false
    }
}
