/// The walk through a family's rules (`fib_rules_lookup`).
struct RuleWalk {
    private let model: LookupModel
    /// The flow; a rule with `FIB_RULE_FIND_SADDR` gives it a source.
    private var flow: ProbeFlow
    /// Whether the socket has a source address, which such a rule does not change.
    private let hasSource: Bool
    /// Whether a rule was met that compares the source: a lookup with another source may then end differently.
    private(set) var dependsOnSource = false
    /// Whether something was met that compares the destination: another probe may then end differently.
    var dependsOnDestination = false
    /// When the first of the routes that decided expires.
    private(set) var nextExpiry: Instant?
    /// The positions of the rules that matched, in the order of the walk; recorded only for an explanation.
    var trace: [Int]?

    init(_ flow: ProbeFlow, _ model: LookupModel) {
        self.model = model
        self.flow = flow
        self.hasSource = !flow.source.isUnspecified
    }

    /// Walks the rules until one has a result.
    mutating func run() -> LookupOutcome {
        if hasSource, flow.family == .ipv4, !model.isOwn(flow.source) {
            return .refused(errno: LookupErrno.networkUnreachable, .noSource)
        }
        let rules = flow.family == .ipv4 ? model.snapshot.ipv4Rules.elements : model.snapshot.ipv6Rules.elements
        // A rule is large: read in place, it is not copied.
        let span = rules.span
        var position = 0
        while position < span.count {
            if span[position].source.length > 0 { dependsOnSource = true }
            if span[position].destination.length > 0 { dependsOnDestination = true }
            if span[position].matches(flow, hasSource: hasSource, model) {
                trace?.append(position)
                switch span[position].action {
                case .goto:
                    position = Self.target(of: position, in: rules) ?? position + 1
                    continue
                case .noOperation: break
                case .lookup:
                    if let outcome = consult(position, span) { return outcome }
                default: return Self.refusal(rules[position].action)
                }
            }
            position += 1
        }
        return .refused(errno: LookupErrno.networkUnreachable, .noRoute)
    }

    /// Returns the target of a `goto`: the first rule with the priority; nil if there is none after it (unresolved).
    static func target(of position: Int, in rules: [RuleMessage]) -> Int? {
        guard let priority = rules[position].gotoPriority else { return nil }
        for target in (position + 1)..<rules.count where rules[target].priority == priority { return target }
        return nil
    }

    /// Returns the outcome of an action that refuses.
    static func refusal(_ action: RuleAction) -> LookupOutcome {
        switch action {
        case .unreachable: .refused(errno: LookupErrno.networkUnreachable, .unreachable)
        case .prohibit: .refused(errno: LookupErrno.accessDenied, .prohibited)
        default: .refused(errno: LookupErrno.invalid, .blackhole)
        }
    }

    /// Looks the flow up in a rule's table; returns nil if the walk continues.
    private mutating func consult(_ position: Int, _ rules: Span<RuleMessage>) -> LookupOutcome? {
        let table = rules[position].table
        // Properties are read in place; a method of the snapshot would copy it.
        let key = RouteTableKey(flow.family, table)
        guard let routes = model.snapshot.routes[key]?.elements, !routes.isEmpty else { return nil }
        // Longer prefixes come first, so that a table whose first route is for all has no other.
        if routes[0].message.destination.length > 0 { dependsOnDestination = true }
        switch model.lookup(flow, hasSource: hasSource, in: routes, of: table) {
        case .none: return nil
        case .thrown:
            // The rule's source is selected nevertheless, and stays for the rules after it.
            if findsSource(position, rules) { _ = findSource(for: rules[position].source, LookupModel.loopbackIndex) }
            return nil
        case .refused(let errno, let reason, let expiry):
            note(expiry)
            if findsSource(position, rules), !findSource(for: rules[position].source, LookupModel.loopbackIndex) {
                return nil
            }
            if model.ignoresRefusals(at: position, of: flow.family) { return nil }
            return .refused(errno: errno, reason)
        case .found(var route):
            note(route.expiry)
            if route.sourceDependsOnDestination { dependsOnDestination = true }
            if findsSource(position, rules), !findSource(for: rules[position].source, route.device) {
                return nil
            }
            if let limit = rules[position].suppressPrefixLength, Int32(route.prefixLength) <= limit { return nil }
            if let group = rules[position].suppressInterfaceGroup, model.suppresses(group, &route) { return nil }
            return route.outcome(model)
        }
    }

    private mutating func note(_ expiry: Instant?) {
        guard let expiry else { return }
        nextExpiry = min(nextExpiry ?? expiry, expiry)
    }

    /// Whether a rule has matched on condition that the source which would be selected does (`FIB_RULE_FIND_SADDR`).
    private func findsSource(_ position: Int, _ rules: Span<RuleMessage>) -> Bool {
        guard flow.family == .ipv6, !hasSource else { return false }
        guard rules[position].source.length > 0 else { return false }
        return rules[position].flags.contains(.findSource)
    }

    /// Selects the source for such a rule.
    ///
    /// - Returns: Whether it lies in the rule's prefix, so that the rule's result is used.
    private mutating func findSource(for prefix: IPPrefix, _ index: InterfaceIndex) -> Bool {
        dependsOnDestination = true
        guard let source = model.ipv6Source(to: flow.destination, through: index) else { return false }
        guard prefix.contains(source) else { return false }
        flow.source = source
        return true
    }
}

extension LookupModel {
    /// Looks a flow up in a table.
    func lookup(_ flow: ProbeFlow, in table: RouteTableID) -> TableResult {
        guard let routes = snapshot.routes[.init(flow.family, table)]?.elements else { return .none }
        return lookup(flow, in: routes, of: table)
    }

    /// Looks a flow up in a table's routes.
    func lookup(_ flow: ProbeFlow, in routes: [Route], of table: RouteTableID) -> TableResult {
        lookup(flow, hasSource: !flow.source.isUnspecified, in: routes, of: table)
    }

    /// Looks a flow up in a table's routes.
    ///
    /// - Parameters:
    ///   - flow: The flow. A rule may have given it a source by which IPv6 routes are found.
    ///   - hasSource: Whether the source is the socket's own; otherwise one is selected.
    ///   - routes: The table's routes.
    ///   - table: Its number.
    /// - Returns: The table's result.
    func lookup(_ flow: ProbeFlow, hasSource: Bool, in routes: [Route], of table: RouteTableID) -> TableResult {
        switch flow.family {
        case .ipv4: IPv4Table(routes: routes, table: table, model: self).lookup(flow)
        case .ipv6: IPv6Table(routes, table, self, selectsSource: !hasSource).lookup(flow)
        }
    }

    /// Whether a route is not taken because it leads through a group of interfaces (`suppress_ifgroup`).
    ///
    /// IPv4 checks the group of a route's first next hop, IPv6 that of the next hop which the flow's hash chooses: of
    /// several, next hops through the group are removed.
    func suppresses(_ group: UInt32, _ route: inout FoundRoute) -> Bool {
        if let first = route.groupInterface { return isGroup(group, of: first) }
        route.alternatives.removeAll { isGroup(group, of: $0.interface) }
        if let first = route.alternatives.first {
            route.nextHop = first
            return false
        }
        return isGroup(group, of: route.nextHop.interface)
    }

    private func isGroup(_ group: UInt32, of index: InterfaceIndex) -> Bool {
        snapshot.linkPosition(index).map { snapshot.links[$0].group == group } ?? false
    }

    /// Whether the rules are those that every namespace begins with, and a refusal of table main is ignored.
    ///
    /// Before the first rule is ever added, `fib_lookup` does not walk the rules: it looks into main, and where that
    /// gives no route, for whatever reason, into default.
    func ignoresRefusals(at position: Int, of family: AddressFamily) -> Bool {
        let rules = snapshot.rules(family)
        guard rules.count == 3, position == 1, rules[1].family == .ipv4, rules[1].table == .main else { return false }
        guard rules[2].table == .default, rules[2].isPlain, rules[1].isPlain, rules[0].isPlain else { return false }
        return snapshot.routes[.init(.ipv4, .default)]?.isEmpty == false
    }
}

extension RuleMessage {
    /// Whether this is a rule as the kernel begins with: a table for all packets.
    fileprivate var isPlain: Bool {
        var plain = RuleMessage(family: family)
        plain.priority = priority
        plain.table = table
        plain.origin = origin
        plain.flags = flags
        return self == plain && !flags.contains(.invert)
    }
}

extension RuleMessage {
    /// Whether the rule applies to a flow of an unbound socket of this host (`fib_rule_match`).
    ///
    /// - Parameters:
    ///   - flow: The flow.
    ///   - hasSource: Whether the socket has a source address (`RT6_LOOKUP_F_HAS_SADDR`).
    ///   - model: The model, with the name of the loopback interface, which `iif` means for packets of this host.
    /// - Returns: Whether its action applies.
    func matches(_ flow: ProbeFlow, hasSource: Bool, _ model: LookupModel) -> Bool {
        let selects =
            selectsSocket(of: flow, model)
            && selectsAddresses(of: flow, hasSource: hasSource)
            && selectsTransport(of: flow)
        return selects != flags.contains(.invert)
    }

    /// An unbound socket has no output interface, no tunnel and no VRF.
    private func selectsSocket(of flow: ProbeFlow, _ model: LookupModel) -> Bool {
        guard outputInterface == nil, !isL3Master, tunnelID == 0, mark.matches(flow.mark) else { return false }
        if let users, !users.contains(flow.user) { return false }
        if let inputInterface, inputInterface != model.loopbackName { return false }
        return true
    }

    /// The unbound IPv4 source is 0.0.0.0 and is compared; the IPv6 one is missing and matches no prefix.
    private func selectsAddresses(of flow: ProbeFlow, hasSource: Bool) -> Bool {
        guard destination.contains(flow.destination) else { return false }
        guard source.length > 0 else { return true }
        if family == .ipv6, !hasSource { return flags.contains(.findSource) }
        return source.contains(flow.source)
    }

    /// The flow label of a flow is 0, and so is the TOS of any but a tunnel's.
    private func selectsTransport(of flow: ProbeFlow) -> Bool {
        guard tos == 0 || tos == flow.tos, dscp?.matches(flow.tos >> 2) ?? true, flowLabel?.matches(0) ?? true else {
            return false
        }
        if let ipProtocol, ipProtocol != flow.ipProtocol { return false }
        return (sourcePorts?.contains(flow.sourcePort) ?? true)
            && (destinationPorts?.contains(flow.destinationPort) ?? true)
    }
}

extension PortRange {
    /// Whether a port lies in the range, or equals the first port under the mask.
    func contains(_ port: UInt16) -> Bool {
        if let mask { return (port ^ first) & mask == 0 }
        return first <= port && port <= last
    }
}

/// The result of a lookup in one routing table.
enum TableResult {
    /// None: the walk through the rules continues.
    case none
    /// A route of type throw: the walk continues, too.
    case thrown
    /// A route that refuses; the walk stops.
    case refused(errno: Int32, ReachabilityReason, expiry: Instant?)
    /// A route.
    case found(FoundRoute)

    /// Returns the result of a route of a type that refuses.
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

/// A route that a table selected, with the next hops that the kernel may choose among.
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
    /// Whether another source may be selected for another destination.
    var sourceDependsOnDestination = false
    /// The interface whose group decides whether a rule suppresses the route; nil if it is the chosen next hop's.
    ///
    /// That of a route of type local is the one that the route names, not the loopback.
    let groupInterface: InterfaceIndex?

    /// The interface that the route itself names.
    var device: InterfaceIndex { groupInterface ?? nextHop.interface }

    /// Returns the outcome of a lookup that selects this route; the first next hop that can carry packets comes first.
    func outcome(_ model: LookupModel) -> LookupOutcome {
        let best = alternatives.isEmpty ? nextHop : alternatives.first { model.canCarry($0.interface) } ?? nextHop
        return .selected(.init(table: table, type: type, metric: metric, nextHop: best, alternatives: alternatives))
    }
}
