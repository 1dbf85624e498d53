@testable import ReachabilityCore

/// A machine that a test describes: the loopback and the kernel's initial rules, and what the test adds.
struct Machine {
    /// The model.
    var snapshot = NetworkSnapshot()
    /// The user's rules for kinds.
    var kindRules: [KindRule] = []
    /// The moment of the evaluation.
    static let now = Instant(nanoseconds: 1_000_000_000)

    init() {
        snapshot.ipv4Rules = [
            Self.rule(.ipv4, 0, .local), Self.rule(.ipv4, 32_766, .main), Self.rule(.ipv4, 32_767, .default),
        ]
        snapshot.ipv6Rules = [Self.rule(.ipv6, 0, .local), Self.rule(.ipv6, 32_766, .main)]
        link(1, "lo") { link in
            link.hardwareType = .loopback
            link.flags = [.up, .loopback, .running, .lowerUp]
            link.operationalState = .unknown
        }
        address(1, "127.0.0.1/8", scope: .host)
        address(1, "::1/128")
    }

    /// A rule for all packets.
    static func rule(_ family: AddressFamily, _ priority: UInt32, _ table: RouteTableID) -> RuleMessage {
        var rule = RuleMessage(family: family)
        rule.priority = priority
        rule.table = table
        return rule
    }

    /// Adds an interface that is up with carrier; the closure changes it.
    mutating func link(_ index: InterfaceIndex, _ name: String, _ alter: (inout Link) -> Void = { _ in }) {
        var link = Link(
            index: index,
            name: name,
            hardwareType: .ethernet,
            flags: [.up, .running, .lowerUp],
            operationalState: .up,
            carrier: true,
            mtu: 1500,
            group: 0,
            prefersTemporaryAddresses: false,
            usesOwnAddressesOnly: false,
            usesOptimisticAddresses: false
        )
        alter(&link)
        snapshot.links.removeAll { $0.index == index }
        snapshot.links.append(link)
        snapshot.links.sort { $0.index < $1.index }
    }

    /// Changes an interface.
    mutating func alter(_ index: InterfaceIndex, _ alter: (inout Link) -> Void) {
        for position in snapshot.links.indices where snapshot.links[position].index == index {
            alter(&snapshot.links[position])
        }
    }

    /// Removes an interface's carrier.
    mutating func loseCarrier(_ index: InterfaceIndex) {
        alter(index) { link in
            link.flags.subtract([.running, .lowerUp])
            link.operationalState = .down
        }
    }

    /// Adds an address after those that an interface has.
    mutating func address(
        _ index: InterfaceIndex,
        _ text: String,
        scope: RouteScope = .universe,
        _ flags: AddressFlags = []
    ) {
        let prefix = IPPrefix(test: text)
        snapshot.addresses[index, default: []].append(
            .init(index: index, address: prefix.address, prefixLength: prefix.length, scope: scope, flags: flags)
        )
    }

    /// Adds a route where the model puts it; the closure changes it.
    mutating func route(
        _ destination: String = "0.0.0.0/0",
        via gateway: String? = nil,
        on index: InterfaceIndex? = nil,
        metric: UInt32 = 0,
        table: RouteTableID = .main,
        _ alter: (inout Route) -> Void = { _ in }
    ) {
        var message = RouteMessage(destination: .init(test: destination), table: table)
        message.metric = metric
        if let index { message.nextHops = [.init(interface: index, gateway: gateway.flatMap(IPAddress.init))] }
        var route = Route(message)
        alter(&route)
        var routes = snapshot.routes[.init(message.family, table)] ?? []
        let position = routes.firstIndex { route.message.precedes($0.message) } ?? routes.count
        routes.insert(route, at: position)
        snapshot.routes[.init(message.family, table)] = routes
    }

    /// Adds a rule after those of its priority; the closure changes it.
    mutating func rule(
        _ family: AddressFamily,
        _ priority: UInt32,
        table: RouteTableID = .main,
        _ alter: (inout RuleMessage) -> Void = { _ in }
    ) {
        var rule = Self.rule(family, priority, table)
        alter(&rule)
        var rules = snapshot.rules(family)
        rules.insert(rule, at: rules.firstIndex { $0.priority > priority } ?? rules.count)
        if family == .ipv4 { snapshot.ipv4Rules.elements = rules } else { snapshot.ipv6Rules.elements = rules }
    }

    /// The same for IPv4.
    mutating func rule(
        _ priority: UInt32,
        table: RouteTableID = .main,
        _ alter: (inout RuleMessage) -> Void = { _ in }
    ) {
        rule(.ipv4, priority, table: table, alter)
    }

    /// Sets the state of a neighbour.
    mutating func neighbour(_ address: String, on index: InterfaceIndex, _ state: NeighbourState) {
        guard let address = IPAddress(address) else { return }
        snapshot.neighbours[.init(index: index, address: address)] = state
    }

    /// Changes a family's settings of an interface, or of all.
    mutating func settings(
        _ family: AddressFamily,
        _ index: InterfaceIndex = NetconfMessage.allInterfaces,
        _ alter: (inout InterfaceSettings) -> Void
    ) {
        alter(&snapshot.settings[.init(family, index), default: .init()])
    }
}

// MARK: - Results

extension Machine {
    /// The final outcome for a family's first probe, or for an address.
    func connect(_ family: AddressFamily = .ipv4, to address: String? = nil) -> LookupOutcome {
        RouteLookup.connect(.init(to: destination(family, address), user: 0), in: snapshot, at: Self.now)
    }

    /// One lookup, from a source if one is given.
    func lookup(_ family: AddressFamily = .ipv4, to address: String? = nil, from source: String? = nil) -> LookupOutcome
    {
        var flow = ProbeFlow(to: destination(family, address), user: 0)
        if let source = source.flatMap(IPAddress.init) { flow.source = source }
        return RouteLookup.lookup(flow, in: snapshot, at: Self.now)
    }

    /// The evaluation.
    func evaluate() -> PathEvaluation {
        PathEvaluator(context: .init(user: 0, kindRules: kindRules)).evaluate(snapshot, at: Self.now)
    }

    private func destination(_ family: AddressFamily, _ address: String?) -> IPAddress {
        address.flatMap(IPAddress.init) ?? ProbeAddresses.of(family)[0]
    }
}

extension LookupOutcome {
    /// The egress interface; nil if there is none.
    var interface: InterfaceIndex? { selection?.nextHop.interface }
    /// The source as text.
    var source: String? { selection?.nextHop.source.map { "\($0)" } }
    /// The gateway as text.
    var gateway: String? { selection?.nextHop.gateway.map { "\($0)" } }
    /// The interfaces of all next hops that may be chosen.
    var interfaces: [InterfaceIndex]? {
        selection.map { $0.alternatives.isEmpty ? [$0.nextHop.interface] : $0.alternatives.map(\.interface) }
    }

    /// The errno of a refusal.
    var errno: Int32? {
        guard case .refused(let errno, _) = self else { return nil }
        return errno
    }

    private var selection: RouteSelection? {
        guard case .selected(let selection) = self else { return nil }
        return selection
    }
}

extension IPPrefix {
    /// Parses a prefix that a test contains; any other text is a mistake in the test.
    init(test text: String) {
        let parts = text.split(separator: "/")
        guard parts.count == 2, let address = IPAddress(String(parts[0])), let length = UInt8(parts[1]) else {
            preconditionFailure("'\(text)' is no prefix")
        }
        self.init(address, length: length)
    }
}
