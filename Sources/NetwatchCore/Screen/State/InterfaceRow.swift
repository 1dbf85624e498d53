import ReachabilityCore

/// One interface as the table shows it.
struct InterfaceRow: Sendable, Hashable {
    let index: InterfaceIndex
    let name: String
    let kind: InterfaceKind
    let condition: LinkSign
    /// Whether it was set up.
    let isUp: Bool
    /// Whether the driver sees a carrier.
    let hasCarrier: Bool
    let operationalState: OperationalState
    /// With prefix lengths, the most useful first.
    let addresses: [String]
    /// The default routes through it: gateway and metric.
    let routes: [String]
    let role: Role

    /// The role of an interface for the path, in the order in which they are shown.
    enum Role: Int, Sendable, Hashable {
        /// The path leaves through it.
        case path
        /// It carries the path's interface.
        case carrier
        /// It has a default route.
        case candidate
        /// It could carry packets.
        case usable
        /// It was set up.
        case waiting
        /// It was set down.
        case off
        /// It only leads back.
        case loopback
    }
}

/// Makes the rows of the table of interfaces.
struct InterfaceRows {
    let snapshot: NetworkSnapshot
    let path: NetworkPath
    let context: EvaluationContext
    let words: PathWords

    /// The path's interface first, then by use, then by number.
    func rows() -> [InterfaceRow] {
        let evaluator = PathEvaluator(context: context)
        let routes = RouteWords(snapshot: snapshot).byInterface()
        return snapshot.links.map { link in
            let kind = evaluator.describe(link.index, in: snapshot)?.kind ?? .other
            return row(link, kind, routes[link.index] ?? [])
        }.sorted { ($0.role.rawValue, $0.index) < ($1.role.rawValue, $1.index) }
    }

    private func row(_ link: Link, _ kind: InterfaceKind, _ routes: [String]) -> InterfaceRow {
        .init(
            index: link.index,
            name: words.safe(link.name),
            kind: kind,
            condition: .init(link, in: snapshot),
            isUp: link.flags.contains(.up),
            hasCarrier: link.flags.contains(.up) && link.carrier,
            operationalState: link.operationalState,
            addresses: AddressWords.addresses(snapshot.addresses[link.index] ?? []),
            routes: routes,
            role: role(link, kind, hasRoutes: !routes.isEmpty)
        )
    }

    private func role(_ link: Link, _ kind: InterfaceKind, hasRoutes: Bool) -> InterfaceRow.Role {
        let own = [path.interface, path.ipv4?.interface, path.ipv6?.interface].compactMap { $0?.index }
        let carriers = (path.carriers + (path.ipv4?.carriers ?? []) + (path.ipv6?.carriers ?? [])).map(\.index)
        if own.contains(link.index) { return .path }
        if carriers.contains(link.index) { return .carrier }
        if hasRoutes { return .candidate }
        if kind == .loopback { return .loopback }
        if link.canCarry { return .usable }
        return link.flags.contains(.up) ? .waiting : .off
    }
}
