extension MonitorStateMachine {
    /// Joins the neighbours' group when gateways compete, and leaves it when none do any more.
    ///
    /// The neighbours' states at that time are read, of the gateways' interfaces alone.
    mutating func neighbourWatch() -> Bool? {
        guard confirms, routesChanged, reading.isDone else { return nil }
        routesChanged = false
        let before = contested
        contested = Contest.interfaces(in: snapshot)
        guard contested != before else { return nil }
        reading.request(neighbours(of: contested.subtracting(before)), .doubt)
        guard contested.isEmpty != before.isEmpty else { return nil }
        return !contested.isEmpty
    }

    /// What is to be read again of neighbours when everything is.
    var contestedNeighbours: [DumpSubject] { neighbours(of: contested) }

    private func neighbours(of interfaces: Set<InterfaceIndex>) -> [DumpSubject] {
        interfaces.sorted().flatMap { interface in
            AddressFamily.allCases.map { .neighbours($0, interface: interface) }
        }
    }
}
