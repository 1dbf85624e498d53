@testable import ReachabilityCore

/// A model to which a test applies messages one by one.
struct ModelStory {
    var snapshot = NetworkSnapshot()
    /// The time of the next message.
    var now = Instant(nanoseconds: 0)

    /// Notifications' flags for a route, as the kernel sets them.
    enum Place {
        static let alone: NetlinkFlags = [.create, .exclusive]
        static let first: NetlinkFlags = .create
        static let last: NetlinkFlags = [.create, .append]
        static let instead: NetlinkFlags = .replace
        static let listed: NetlinkFlags = .multi
    }

    static func header(_ flags: NetlinkFlags = []) -> NetlinkHeader {
        .init(length: 0, type: 0, flags: flags, sequence: 0, port: 0)
    }

    /// Applies a message, and returns its effect.
    @discardableResult
    mutating func apply(_ event: KernelEvent, _ flags: NetlinkFlags = []) -> SnapshotEffect {
        snapshot.apply(event, Self.header(flags), at: now)
    }

    /// Applies the message of a link, by default up and with its carrier.
    @discardableResult
    mutating func link(
        _ index: InterfaceIndex,
        up isUp: Bool = true,
        carrier: Bool = true,
        _ change: (inout LinkMessage) -> Void = { _ in }
    ) -> SnapshotEffect {
        apply(.link(Self.link(index, up: isUp, carrier: carrier, change)))
    }

    static func link(
        _ index: InterfaceIndex,
        up isUp: Bool = true,
        carrier: Bool = true,
        _ change: (inout LinkMessage) -> Void = { _ in }
    ) -> LinkMessage {
        var message = LinkMessage(index: index)
        message.hardwareType = .ethernet
        message.name = "eth\(index)"
        message.mtu = 1500
        message.carrier = carrier
        message.flags = isUp ? (carrier ? [.up, .running, .lowerUp] : .up) : []
        message.operationalState = isUp && carrier ? .up : .down
        change(&message)
        return message
    }

    /// 192.0.2.x or 2001:db8::x.
    static func host(_ number: UInt8, _ family: AddressFamily = .ipv4) -> IPAddress {
        family == .ipv4
            ? .init(ipv4: 0xC000_0200 | UInt32(number))
            : .init(family: .ipv6, bits: 0x2001_0DB8 << 96 | UInt128(number))
    }

    static func address(
        _ number: UInt8,
        on index: InterfaceIndex,
        _ family: AddressFamily = .ipv4,
        _ flags: AddressFlags = .permanent
    ) -> AddressMessage {
        let length: UInt8 = family == .ipv4 ? 24 : 64
        return .init(index: index, address: host(number, family), prefixLength: length, flags: flags)
    }

    /// A default route through the gateway with a number, on a link.
    static func route(
        via gateway: UInt8?,
        on index: InterfaceIndex,
        _ family: AddressFamily = .ipv4,
        metric: UInt32 = 0,
        table: RouteTableID = .main,
        _ change: (inout RouteMessage) -> Void = { _ in }
    ) -> RouteMessage {
        var message = RouteMessage(destination: .all(family), table: table)
        message.metric = metric
        message.origin = 3
        message.nextHops = [.init(interface: index, gateway: gateway.map { host($0, family) })]
        change(&message)
        return message
    }

    /// The gateways' last bytes, or the devices' indexes where there is no gateway, of each route of a table in order.
    func nextHopNumbers(_ family: AddressFamily = .ipv4, _ table: RouteTableID = .main) -> [[Int]] {
        snapshot.routes(family, table).map { route in
            snapshot.nextHops(of: route).map { Int($0.gateway.map { Self.number($0) } ?? UInt8($0.interface)) }
        }
    }

    private static func number(_ address: IPAddress) -> UInt8 {
        address.family == .ipv4 ? UInt8(truncatingIfNeeded: address.ipv4Value) : UInt8(truncatingIfNeeded: address.bits)
    }
}
