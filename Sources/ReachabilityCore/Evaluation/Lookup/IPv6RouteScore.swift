/// The choice among the routes of one prefix (`rt6_select`, `find_rr_leaf`).
struct IPv6RouteScore {
    private let routes: [Route]
    private let model: LookupModel
    private let reachable: Bool
    private var best: IPv6Table.Match?
    private var bestScore = -1

    /// Makes a choice.
    ///
    /// - Parameters:
    ///   - table: The table.
    ///   - reachable: Whether gateways whose neighbour entry has failed are passed over (`RT6_LOOKUP_F_REACHABLE`).
    init(_ table: IPv6Table, reachable: Bool) {
        self.routes = table.routes
        self.model = table.model
        self.reachable = reachable
    }

    /// The best route of a prefix: the first with the best score among those of the lowest metric; if none of these
    /// is usable, among all the others, whatever their metric.
    consuming func best(of range: Range<Int>) -> IPv6Table.Match? {
        let metric = routes[range.lowerBound].message.metric
        let rest = range.first { routes[$0].message.metric != metric } ?? range.upperBound
        consider(range.lowerBound..<rest)
        if best == nil { consider(rest..<range.upperBound) }
        return best
    }

    /// Compares routes; one whose nexthop object is a blackhole ends the comparison and wins it.
    private mutating func consider(_ range: Range<Int>) {
        for position in range {
            if let expiry = routes[position].expiry, expiry < model.now { continue }
            if let id = routes[position].message.nexthopID, let object = model.snapshot.nexthopObject(id) {
                guard case .legs(let legs) = object else {
                    best = .blackhole(position)
                    return
                }
                if let leg = legs.first(where: { beats($0, position) }) { best = .route(position, leg) }
            } else {
                considerOwnLegs(position)
            }
        }
    }

    private mutating func considerOwnLegs(_ position: Int) {
        let type = routes[position].message.type
        if TableAnswer.refusal(type, expiry: nil) != nil {
            if beats(nil, position) { best = .refusal(position) }
            return
        }
        for leg in routes[position].message.legs.indices where beats(routes[position].message.legs[leg], position) {
            best = .route(position, routes[position].message.legs[leg])
        }
    }

    /// Whether a leg scores better than the best so far, and notes that it is the best then (`find_match`).
    private mutating func beats(_ leg: RouteLeg?, _ position: Int) -> Bool {
        if let leg {
            let isLocal = routes[position].message.type == .local || routes[position].message.type == .anycast
            guard !model.isOut(leg, .ipv6, needsCarrier: !isLocal), Self.isReachable(leg, reachable, model) else {
                return false
            }
        }
        let score = Self.score(routes[position].message.preference)
        guard score > bestScore else { return false }
        bestScore = score
        return true
    }

    /// Whether a leg counts while failed gateways are passed over (`rt6_check_neigh`).
    static func isReachable(_ leg: RouteLeg, _ reachable: Bool, _ model: LookupModel) -> Bool {
        guard reachable, let state = model.neighbour(of: leg) else { return true }
        return !state.contains(.failed) || !state.isDisjoint(with: .valid)
    }

    /// `rt6_score_route` without an output interface: what the router's advertisement prefers (RFC 4191).
    private static func score(_ preference: RouterPreference) -> Int {
        switch preference {
        case .high: 3
        case .medium, .invalid: 2
        case .low: 1
        }
    }
}
