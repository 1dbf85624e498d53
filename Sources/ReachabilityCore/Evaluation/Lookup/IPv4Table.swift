/// A look-up in one IPv4 table (`fib_table_lookup`), and the choice of a leg and a source (`fib_select_path`).
struct IPv4Table {
    let routes: [Route]
    let table: RouteTableID
    let model: LookupModel

    init(_ routes: [Route], _ table: RouteTableID, _ model: LookupModel) {
        self.routes = routes
        self.table = table
        self.model = model
    }

    /// The first route of the longest prefix that is not out.
    func look(up flow: ProbeFlow) -> TableAnswer {
        var missed: IPPrefix?
        for position in routes.indices {
            guard routes[position].message.destination.contains(flow.destination) else { continue }
            guard [0, flow.tos].contains(routes[position].message.tos) else { continue }
            if let missed, sharesLeaf(position, with: missed) { continue }
            if let answer = refusal(at: position) { return answer }
            if let legs = choices(at: position) { return select(position, legs, flow) }
            if routes[position].message.nexthopID != nil { missed = routes[position].message.destination }
        }
        return .none
    }

    private func refusal(at position: Int) -> TableAnswer? {
        let expiry = routes[position].expiry
        return TableAnswer.refusal(type(at: position), expiry: expiry)
    }

    /// A route's type; through a nexthop object, that which the object gives it now.
    func type(at position: Int) -> RouteType {
        guard routes[position].message.nexthopID == nil else { return model.snapshot.type(of: routes[position]) }
        return routes[position].message.type
    }

    /// Whether a route lies in the trie's leaf in which a nexthop object was found to be out.
    ///
    /// A leaf holds the routes of one network address whatever their length; the kernel leaves it as a whole then,
    /// although further routes in it may be good.
    private func sharesLeaf(_ position: Int, with missed: IPPrefix) -> Bool {
        routes[position].message.destination.network == missed.network
    }

    /// The legs that the flow's hash may choose, or nil if all are out.
    func choices(at position: Int) -> Choices? {
        if let id = routes[position].message.nexthopID, case .legs(let legs)? = model.snapshot.nexthopObject(id) {
            guard legs.contains(where: { !model.isOut($0, .ipv4) }) else { return nil }
            return .of(legs.count > 1 ? model.choices(ofGroup: legs) : legs)
        }
        guard routes[position].message.legs.count != 1 else {
            return isOut(position, 0) ? nil : .one(routes[position].message.legs[0])
        }
        return .of(
            routes[position].message.legs.indices.filter { !isOut(position, $0) }.map {
                routes[position].message.legs[$0]
            }
        )
    }

    /// A route of host scope keeps its leg whatever happens to its device (`RT_SCOPE_NOWHERE`).
    private func isOut(_ position: Int, _ leg: Int) -> Bool {
        if routes[position].message.scope == .host, routes[position].message.legs.count == 1 {
            return model.snapshot.linkPosition(routes[position].message.legs[leg].interface) == nil
        }
        return model.isOut(routes[position].message.legs[leg], .ipv4)
    }
}

/// Legs among which a hash chooses; the common single leg costs no array.
enum Choices {
    /// The only leg.
    case one(RouteLeg)
    /// Several.
    case several([RouteLeg])

    /// Makes choices of a list; nil if it is empty.
    static func of(_ legs: [RouteLeg]) -> Self? {
        guard let first = legs.first else { return nil }
        return legs.count == 1 ? .one(first) : .several(legs)
    }

    /// The first leg.
    var first: RouteLeg {
        switch self {
        case .one(let leg): leg
        case .several(let legs): legs[0]
        }
    }
}
