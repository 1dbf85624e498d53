/// The choice among default routes of equal metric, which follows the state of their gateways (`fib_select_default`).
extension IPv4Table {
    /// Whether the choice comes up: a unicast default route with one leg, and behind it another of its metric.
    ///
    /// The kernel looks for rivals wherever a table has several defaults, but those before the selected one, which were
    /// passed over, only keep it from finding any.
    func isAmongDefaults(_ position: Int) -> Bool {
        let next = position + 1
        guard next < routes.count, routes[next].message.metric == routes[position].message.metric else { return false }
        guard routes[position].message.destination.length == 0, routes[position].message.type == .unicast else {
            return false
        }
        return legs(at: position).count == 1
    }

    /// The routes that may be chosen, each as its place in the table.
    ///
    /// Where several gateways' entries are valid and not reachable, the kernel takes turns, and remembers whose turn
    /// it is in a place that nobody can read: so each that some turn would choose is named.
    func equalDefaults(_ selected: Int) -> [Int] {
        let rivals = rivals(of: selected)
        guard rivals.count > 1 else { return [selected] }
        let states = rivals.map { firstLeg(at: $0).flatMap { model.neighbour(of: $0) } }
        var chosen: [Int] = []
        for turn in -1..<rivals.count {
            let choice = rivals[Self.choice(among: states, turn: turn) ?? 0]
            if !chosen.contains(choice) { chosen.append(choice) }
        }
        return chosen
    }

    /// The routes that compete: as good as the selected one, through a gateway, none in between that is unlike.
    ///
    /// One with several legs competes, and wins, with its first, even where that is dead.
    private func rivals(of selected: Int) -> [Int] {
        var rivals: [Int] = []
        var metric = routes[selected].message.metric
        for position in routes.indices where routes[position].message.destination.length == 0 {
            let message = routes[position].message
            guard message.tos == 0 else { continue }
            if message.metric > metric { break }
            guard hasLiveLeg(at: position) else { continue }
            metric = message.metric
            guard message.scope == routes[selected].message.scope, message.type == .unicast,
                firstLeg(at: position)?.gateway != nil
            else { continue }
            if rivals.isEmpty, position != selected { break }
            rivals.append(position)
        }
        return rivals
    }

    /// Whether the route has a leg whose device is up: a missing carrier does not count here.
    private func hasLiveLeg(at position: Int) -> Bool {
        legs(at: position).contains { leg in
            guard let place = model.snapshot.linkPosition(leg.interface) else { return false }
            return model.snapshot.links[place].flags.contains(.up) && !leg.flags.contains(.dead)
                && !model.excluded.contains(leg.interface)
        }
    }

    private func legs(at position: Int) -> [RouteLeg] {
        if let id = routes[position].message.nexthopID, case .legs(let legs)? = model.snapshot.nexthopObject(id) {
            return legs
        }
        return routes[position].message.legs
    }

    /// What `fib_detect_death` leads to when it was a route's turn before; nil: the selected route stays.
    private static func choice(among states: [NeighbourState?], turn: Int) -> Int? {
        var lastResort: Int?
        for order in states.indices {
            guard let state = states[order], state != .reachable else { return order }
            let isValid = !state.isDisjoint(with: .valid)
            if isValid, order != turn { return order }
            if isValid || (lastResort == nil && order > turn && state != .incomplete) { lastResort = order }
        }
        return lastResort
    }
}
