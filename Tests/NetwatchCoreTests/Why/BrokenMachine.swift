import NetwatchCore

@testable import ReachabilityCore

/// A model of a machine that a test breaks: eth0 (2) has a carrier, and neither address nor route.
struct BrokenMachine {
    var snapshot = NetworkSnapshot()
    var kindRules: [KindRule] = []
    static let now = Instant(nanoseconds: 1_000)

    init() {
        snapshot.links = [Self.link(1, "lo"), Self.link(2, "eth0")]
        snapshot.links[0].flags.insert(.loopback)
        snapshot.links[0].hardwareType = .loopback
        for family in [AddressFamily.ipv4, .ipv6] {
            add(Self.rule(family, 0, .local))
            add(Self.rule(family, 32_766, .main))
        }
    }

    static func link(_ index: InterfaceIndex, _ name: String) -> Link {
        .init(
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
    }

    static func rule(_ family: AddressFamily, _ priority: UInt32, _ table: RouteTableID) -> RuleMessage {
        var rule = RuleMessage(family: family)
        rule.priority = priority
        rule.table = table
        return rule
    }

    /// Adds a rule after the existing ones.
    mutating func add(_ rule: RuleMessage) {
        if rule.family == .ipv4 {
            snapshot.ipv4Rules.elements.append(rule)
        } else {
            snapshot.ipv6Rules.elements.append(rule)
        }
    }

    /// Inserts a rule before all but that of table local.
    mutating func insert(_ rule: RuleMessage) {
        if rule.family == .ipv4 {
            snapshot.ipv4Rules.elements.insert(rule, at: 1)
        } else {
            snapshot.ipv6Rules.elements.insert(rule, at: 1)
        }
    }

    /// Adds an interface like eth0.
    mutating func addLink(_ index: InterfaceIndex, _ name: String, _ change: (inout Link) -> Void = { _ in }) {
        var link = Self.link(index, name)
        change(&link)
        snapshot.links.append(link)
    }

    /// Changes an interface.
    mutating func alter(_ index: InterfaceIndex, _ change: (inout Link) -> Void) {
        for position in snapshot.links.indices where snapshot.links[position].index == index {
            change(&snapshot.links[position])
        }
    }

    mutating func setDown(_ index: InterfaceIndex) {
        alter(index) { link in
            link.flags = []
            link.operationalState = .down
        }
    }

    mutating func loseCarrier(_ index: InterfaceIndex) {
        alter(index) { link in
            link.flags = .up
            link.operationalState = .down
            link.carrier = false
        }
    }

    /// Adds an address, written `192.0.2.2/24`, to an interface.
    mutating func address(_ text: String, on index: InterfaceIndex = 2, _ flags: AddressFlags = .permanent) {
        let prefix = Self.prefix(text)
        snapshot.addresses[index, default: []].append(
            .init(index: index, address: prefix.address, prefixLength: prefix.length, flags: flags)
        )
    }

    /// Adds a route after those of its table, which must be in the kernel's order.
    mutating func route(
        _ destination: String = "0.0.0.0/0",
        via gateway: String? = nil,
        on index: InterfaceIndex = 2,
        metric: UInt32 = 0,
        table: RouteTableID = .main,
        expiry: Instant? = nil,
        _ change: (inout RouteMessage) -> Void = { _ in }
    ) {
        var message = RouteMessage(destination: Self.prefix(destination), table: table)
        message.metric = metric
        message.nextHops = [.init(interface: index, gateway: gateway.flatMap { IPAddress($0) })]
        change(&message)
        snapshot.routes[.init(message.family, table), default: []].append(.init(message, expiry: expiry))
    }

    mutating func removeRoutes() { snapshot.routes = [:] }

    /// Removes the expired routes: a dump lists them without a lifetime.
    mutating func removeExpiredRoutes() {
        for route in snapshot.routes.values.flatMap(\.self) where route.expiry.map({ $0 <= Self.now }) ?? false {
            var message = route.message
            message.lifetime = .zero
            let header = NetlinkHeader(length: 0, type: 0, flags: .multi, sequence: 0, port: 0)
            snapshot.apply(.route(message), header, at: Self.now)
        }
    }

    /// Adds a route that refuses.
    mutating func refusal(
        _ type: RouteType,
        _ destination: String = "0.0.0.0/0",
        metric: UInt32 = 0,
        table: RouteTableID = .main
    ) {
        route(destination, metric: metric, table: table) { route in
            route.type = type
            route.nextHops = []
        }
    }

    private static func prefix(_ text: String) -> IPPrefix {
        let parts = text.split(separator: "/")
        return .init(IPAddress(String(parts[0])) ?? .init(ipv4: 0), length: UInt8(parts[1]) ?? 0)
    }

    /// The diagnosis.
    var sentences: [Sentence] {
        let context = EvaluationContext(user: 0, kindRules: kindRules)
        let evaluation = PathEvaluator(context: context).evaluate(snapshot, at: Self.now)
        let explanation = PathExplanation(of: evaluation, in: snapshot, context: context, at: Self.now)
        return WhySentence.of(explanation, snapshot: snapshot, evaluation: evaluation)
    }
}
