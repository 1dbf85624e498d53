@testable import ReachabilityCore

/// A model that tests extend: eth0 (2) and wwan0 (3) with carrier and addresses, and the usual rules.
struct ExplainedScene {
    var snapshot = NetworkSnapshot()
    static let now = Instant(nanoseconds: 1_000)

    init() {
        snapshot.links = [Self.link(1, "lo"), Self.link(2, "eth0"), Self.link(3, "wwan0")]
        snapshot.links[0].flags.insert(.loopback)
        snapshot.ipv4Rules = [Self.rule(.ipv4, 0, .local), Self.rule(.ipv4, 32_766, .main)]
        snapshot.ipv6Rules = [Self.rule(.ipv6, 0, .local), Self.rule(.ipv6, 32_766, .main)]
        for (index, ipv4, ipv6) in [(2, 0xC000_0202, 0x2001_0DB8_0002), (3, 0xC633_6402, 0x2001_0DB8_0003)] {
            snapshot.addresses[InterfaceIndex(index)] = [
                .init(index: InterfaceIndex(index), address: .init(ipv4: UInt32(ipv4)), prefixLength: 24),
                .init(
                    index: InterfaceIndex(index),
                    address: .init(family: .ipv6, bits: UInt128(ipv6) << 80 | 1),
                    prefixLength: 48
                ),
            ]
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

    /// A default route through an interface.
    static func route(
        _ family: AddressFamily = .ipv4,
        on index: InterfaceIndex,
        metric: UInt32 = 0,
        length: UInt8 = 0
    ) -> RouteMessage {
        var route = RouteMessage(destination: .init(.init(family: family, bits: 0), length: length))
        route.metric = metric
        route.nextHops = [.init(interface: index)]
        return route
    }

    /// Sets a table's routes, which must be in the kernel's order.
    mutating func setRoutes(_ routes: RouteMessage..., table: RouteTableID = .main) {
        guard let family = routes.first?.family else { return }
        snapshot.routes[.init(family, table)] = .init(
            routes.map { Route($0, expiry: $0.lifetime == nil ? nil : Self.past) }
        )
    }

    static let past = Instant(nanoseconds: 1)

    mutating func loseCarrier(of index: Int) {
        snapshot.links[index - 1].flags = .up
        snapshot.links[index - 1].operationalState = .down
        snapshot.links[index - 1].carrier = false
    }

    var explanation: PathExplanation {
        let context = EvaluationContext(user: 0)
        let evaluation = PathEvaluator(context: context).evaluate(snapshot, at: Self.now)
        return .init(of: evaluation, in: snapshot, context: context, at: Self.now)
    }

    func family(_ family: AddressFamily = .ipv4) -> FamilyExplanation {
        explanation.families[family == .ipv4 ? 0 : 1]
    }

    /// The verdicts on the routes that the first probe's last lookup considered, in their order.
    func verdicts(_ family: AddressFamily = .ipv4) -> [RouteCandidate.Verdict] {
        self.family(family).probes.first?.lookups.last?.steps.flatMap(\.candidates).map(\.verdict) ?? []
    }

    /// The effects of the rules of the first probe's last lookup.
    func results(_ family: AddressFamily = .ipv4) -> [RuleStep.Result] {
        self.family(family).probes.first?.lookups.last?.steps.map(\.result) ?? []
    }
}
