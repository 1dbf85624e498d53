package import ReachabilityCore

/// One interface as the table shows it.
package struct InterfaceRow: Sendable, Hashable {
    let index: InterfaceIndex
    /// The name, as a screen can show it.
    package let name: String
    /// The kind.
    package let kind: InterfaceKind
    /// Its condition in a word.
    package let condition: LinkSign
    /// Whether it was set up.
    let isUp: Bool
    /// Whether the driver sees a carrier.
    let hasCarrier: Bool
    let operationalState: OperationalState
    /// With prefix lengths, the most useful first.
    package let addresses: [String]
    /// The default routes through it: gateway and metric.
    package let routes: [String]
    /// Its role for the path.
    package let role: Role

    /// The role of an interface for the path, in the order in which they are shown.
    package enum Role: Int, Sendable, Hashable {
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
package struct InterfaceRows {
    let snapshot: NetworkSnapshot
    let path: NetworkPath
    let context: EvaluationContext
    let words: PathWords

    /// Creates the source of rows.
    ///
    /// - Parameters:
    ///   - snapshot: The model of the machine's network.
    ///   - path: The path that it has.
    ///   - context: The context of evaluations, which decides about the kinds of interfaces.
    ///   - words: The words for names.
    package init(snapshot: NetworkSnapshot, path: NetworkPath, context: EvaluationContext, words: PathWords) {
        (self.snapshot, self.path, self.context, self.words) = (snapshot, path, context, words)
    }

    /// Returns the rows: the path's interface first, then by use, then by number.
    package func rows() -> [InterfaceRow] {
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
