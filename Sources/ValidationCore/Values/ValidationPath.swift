public import ReachabilityCore

/// The part of a network path on which a verdict depends: another one has to be validated again.
public struct ValidationPath: Sendable, Hashable {
    /// The interface to which probes are bound.
    public var interface: InterfaceIndex
    /// Its name.
    public var name: String
    /// The gateways, IPv4's first.
    public var gateways: [IPAddress]
    /// The networks of the source addresses: IPv4's whole address, and the first 64 bits of IPv6's, of which the rest changes
    /// for privacy (RFC 8981).
    public var networks: [IPPrefix]
    /// Whether traffic costs, or is to be used sparingly.
    public var isMetered: Bool

    /// Creates a path.
    public init(
        interface: InterfaceIndex,
        name: String,
        gateways: [IPAddress] = [],
        networks: [IPPrefix] = [],
        isMetered: Bool = false
    ) {
        self.interface = interface
        self.name = name
        self.gateways = gateways
        self.networks = networks
        self.isMetered = isMetered
    }

    /// Whether it has IPv6 only, so that IPv4 addresses can be reached by a translator at most.
    package var isIPv6Only: Bool { !networks.isEmpty && networks.allSatisfy { $0.address.family == .ipv6 } }

    /// Takes from a network path what a verdict depends on; nil if it is not reachable.
    public init?(_ path: NetworkPath) {
        guard path.status.isReachable, let interface = path.interface else { return nil }
        let families = [path.ipv4, path.ipv6].compactMap(\.self)
        self.init(
            interface: interface.index,
            name: interface.name,
            gateways: families.compactMap(\.gateway),
            networks: families.map { Self.network(of: $0.source) },
            isMetered: path.isExpensive || path.isConstrained
        )
    }

    private static func network(of source: IPAddress) -> IPPrefix {
        guard source.family == .ipv6 else { return .init(source, length: 32) }
        return .init(.init(family: .ipv6, bits: (source.bits >> 64) << 64), length: 64)
    }
}
