import NetworkLab
import ReachabilityCore

/// A small machine in its own namespace; the far ends of its links are in another one.
final class OracleWorld {
    /// The machine.
    let lab: LabNamespace
    /// The namespace of the cables' far ends.
    let far: LabNamespace
    /// Its interfaces, the loopback aside; each one's cable ends in the far namespace as `far` + the same name.
    static let cables = ["eth1", "eth2", "eth3", "eth4"]
    /// An interface without a cable.
    static let block = "ifb1"

    /// Whether the loopback interface is up, which does not change.
    let hasLoopback: Bool

    /// Builds the machine with all cables plugged.
    init(hasLoopback: Bool = true) throws {
        self.hasLoopback = hasLoopback
        lab = try LabNamespace()
        far = try LabNamespace()
        try Self.quieten(lab)
        try Self.quieten(far)
        if !hasLoopback { try lab.rtnl.setDown("lo") }
        for name in Self.cables { try plug(name) }
        try lab.rtnl.createIFB(Self.block, .init(index: newIndex(for: Self.block)))
        try lab.rtnl.setUp(Self.block)
        // Tentative addresses stay tentative here; on the other interfaces they are usable immediately.
        try lab.setSysctl("net.ipv6.conf.eth1.dad_transmits", to: 100)
    }

    /// An rtnetlink socket in the machine's namespace.
    var rtnl: Rtnl { lab.rtnl }

    /// All interfaces, the loopback included.
    static let interfaces = ["lo"] + cables + [block]

    /// The index of each interface.
    private(set) var indexes: [String: InterfaceIndex] = ["lo": 1]
    private var nextIndex: InterfaceIndex = 10

    /// The index that an interface has; 0 for one that does not exist.
    func index(of name: String) -> InterfaceIndex { indexes[name] ?? 0 }

    /// The number of an interface, which does not change when it is plugged in again.
    static func number(of name: String) -> Int { (interfaces.firstIndex(of: name) ?? 0) + 1 }

    private func newIndex(for name: String) -> InterfaceIndex {
        nextIndex += 1
        indexes[name] = nextIndex
        return nextIndex
    }

    /// Makes a cable, both ends up; the indexes differ, so that changes of carrier are announced immediately.
    ///
    /// New interfaces have higher indexes, as usual: the kernel takes interfaces in the order in which they were made.
    func plug(_ name: String) throws {
        let index = newIndex(for: name)
        let here = LinkOptions(index: index, group: UInt32(index % 2))
        let there = LinkOptions(index: index + 1_000, namespace: far)
        try lab.rtnl.createVeth(name, here, peer: "far" + name, there)
        try lab.rtnl.setUp(name)
        try far.rtnl.setUp("far" + name)
        if name != Self.bareCable { try lab.rtnl.addAddress(Self.lastAddress(of: name, index)) }
    }

    /// The only cable that may lack IPv4 addresses; multipath routes do not use it.
    ///
    /// A next hop whose device has lost its last address, and then its carrier, is not marked as without carrier: when
    /// an address is added, the kernel assumes a carrier.
    static let bareCable = "eth4"

    /// An address of scope host, which is not selected as a source.
    private static func lastAddress(of name: String, _ index: InterfaceIndex) -> AddressMessage {
        let address = IPAddress(ipv4: 0x0A09_0001 | UInt32(number(of: name)) << 8)
        return .init(index: index, address: address, prefixLength: 32, scope: .host)
    }

    /// Whether an interface has its carrier now.
    func hasCarrier(_ name: String) -> Bool { (try? rtnl.link(name).flags.contains(.lowerUp)) ?? false }

    /// Briefly restores the carrier of each interface without one.
    ///
    /// Routes with several next hops are balanced again then; a change of `ignore_routes_with_linkdown` alone does not do
    /// it.
    func rebalance() throws {
        for name in Self.cables where try !lab.rtnl.link(name).flags.contains(.lowerUp) {
            guard try lab.rtnl.link(name).flags.contains(.up) else { continue }
            try far.rtnl.setUp("far" + name)
            // A request for one link makes the kernel complete its change of carrier.
            _ = try lab.rtnl.link(name)
            try far.rtnl.setDown("far" + name)
            _ = try lab.rtnl.link(name)
        }
    }

    /// Prevents changes by the kernel itself: no router solicitation, no generated addresses, no probing of routers.
    private static func quieten(_ lab: LabNamespace) throws {
        for name in ["all", "default"] {
            try lab.setSysctl("net.ipv6.conf.\(name).accept_ra", to: 0)
            try lab.setSysctl("net.ipv6.conf.\(name).router_probe_interval", to: 86_400)
            try lab.setSysctl("net.ipv6.conf.\(name).dad_transmits", to: 0)
        }
        try lab.setSysctl("net.ipv6.conf.default.addr_gen_mode", to: 1)
        // Needed for optimistic addresses; netlink does not distinguish it from `use_optimistic`.
        try lab.setSysctl("net.ipv6.conf.default.optimistic_dad", to: 1)
    }
}
