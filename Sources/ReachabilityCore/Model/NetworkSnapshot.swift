/// The model of a machine's network at one moment: what the evaluation reads, and all it reads.
///
/// Each collection is kept in the kernel's own order, because the kernel's choices depend on it.
public struct NetworkSnapshot: Sendable, Hashable {
    /// The interfaces, in the order of their indexes; ``link(_:)`` finds one.
    public internal(set) var links: [Link] = []
    /// Each interface's addresses of both families, in the kernel's order.
    public internal(set) var addresses: [InterfaceIndex: [AddressMessage]] = [:]
    /// The default-like routes of each table.
    ///
    /// Longest prefix first; then (IPv6) longest source prefix; then as the kernel walks them: for IPv4 by descending
    /// TOS, ascending metric, and order of insertion; for IPv6 by ascending metric and order of insertion.
    public internal(set) var routes: [RouteTableKey: [Route]] = [:]
    /// The routes whose lifetime has ended, and which no route through the same interface has followed.
    ///
    /// Nothing uses them; they tell why there is no route.
    public internal(set) var expiredRoutes: [RouteTableKey: [RouteMessage]] = [:]
    /// The rules for IPv4, in the order in which the kernel walks them.
    public internal(set) var ipv4Rules: [RuleMessage] = []
    /// The rules for IPv6, in the order in which the kernel walks them.
    public internal(set) var ipv6Rules: [RuleMessage] = []
    /// The nexthop objects by their ids.
    public internal(set) var nexthops: [UInt32: NexthopMessage] = [:]
    /// What is known of the gateways of routes that compete.
    public internal(set) var neighbours: [NeighbourKey: NeighbourState] = [:]
    /// The settings that decide about routes.
    public internal(set) var settings: [SettingsKey: InterfaceSettings] = [:]
    /// What sysfs or a uevent said of an interface's device.
    public internal(set) var devices: [InterfaceIndex: UeventMessage] = [:]

    /// The interfaces whose devices are being looked at for the first time.
    public internal(set) var awaitedDevices: Set<InterfaceIndex> = []
    /// What nl80211 said of an interface, which makes it a WiFi one.
    public internal(set) var wireless: [InterfaceIndex: WirelessState] = [:]
    /// What WireGuard said of a device.
    public internal(set) var wireGuard: [InterfaceIndex: WireGuardMessage] = [:]
    /// The options of teams.
    public internal(set) var teams: [InterfaceIndex: TeamMessage] = [:]
    /// What L2TP said of an interface's session and its tunnel.
    public internal(set) var l2tp: [InterfaceIndex: L2TPMessage] = [:]
    /// The interface through which the kernel sends a tunnel's own packets; nil for none.
    public internal(set) var tunnelEgress: [TunnelEndpoint: InterfaceIndex?] = [:]
    /// The bridges and other masters that have, or have had, a port that leads out of the machine.
    public internal(set) var mastersWithUplink: Set<InterfaceIndex> = []

    /// Makes the model of a machine with nothing.
    public init() {}

    /// The interface with an index, or nil, in logarithmic time.
    public func link(_ index: InterfaceIndex) -> Link? {
        linkPosition(index).map { links[$0] }
    }

    /// Where an interface stands in ``links``.
    func linkPosition(_ index: InterfaceIndex) -> Int? {
        var low = 0
        var high = links.count
        while low < high {
            let middle = (low + high) / 2
            if links[middle].index < index { low = middle + 1 } else { high = middle }
        }
        return low < links.count && links[low].index == index ? low : nil
    }

    /// The rules of a family, in the order in which the kernel walks them.
    public func rules(_ family: AddressFamily) -> [RuleMessage] {
        family == .ipv4 ? ipv4Rules : ipv6Rules
    }

    /// The default-like routes of a table, in the kernel's order.
    public func routes(_ family: AddressFamily, _ table: RouteTableID) -> [Route] {
        routes[.init(family, table)] ?? []
    }
}
