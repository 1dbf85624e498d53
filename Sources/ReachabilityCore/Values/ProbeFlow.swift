/// The flow of a route lookup: a UDP socket of this process, by default unmarked and unbound.
package struct ProbeFlow: Sendable, Hashable {
    /// The destination address; no packet is sent to it.
    package var destination: IPAddress
    /// The source address; unspecified for an unbound socket.
    package var source: IPAddress
    /// The user who owns the socket, for `uidrange` rules.
    package var user: UInt32
    /// `SO_MARK`, for `fwmark` rules; only tunnels set it.
    package var mark: UInt32 = 0
    /// The TOS field without its ECN bits, for `tos` and `dscp` rules and IPv4 routes; only tunnels set it.
    package var tos: UInt8 = 0
    /// The interface that the socket is bound to (`SO_BINDTOIFINDEX`, socket(7)); nil for an unbound socket.
    ///
    /// Only the kernel's lookups use it; the model evaluates unbound sockets.
    package var interface: InterfaceIndex?
    /// `IPPROTO_UDP`, for `ipproto` rules.
    package var ipProtocol: UInt8 = 17
    /// An ephemeral port, for `sport` rules.
    package var sourcePort: UInt16 = 49_152
    /// The port of HTTPS, for `dport` rules.
    package var destinationPort: UInt16 = 443

    /// Creates a flow without a source.
    package init(to destination: IPAddress, user: UInt32, boundTo interface: InterfaceIndex? = nil) {
        self.destination = destination
        self.interface = interface
        self.source = .init(family: destination.family, bits: 0)
        self.user = user
    }

    /// The address family of the flow.
    package var family: AddressFamily { destination.family }
}

/// The fixed addresses that represent the public internet; they are looked up and no packet is sent to them.
///
/// There is one in each half of IPv4 and one each in 2000::/4 and 3000::/4, so that a machine with routes for only one
/// half is detected. The IPv6 addresses are unallocated, the IPv4 addresses are allocated but hardly announced, so a
/// router's full table or a list of bogons rarely has a route for them.
package enum ProbeAddresses {
    /// 22.0.0.1 and 215.0.0.1.
    package static let ipv4: [IPAddress] = [.init(ipv4: 0x1600_0001), .init(ipv4: 0xD700_0001)]
    /// 2d00::1 and 3d00::1.
    package static let ipv6: [IPAddress] = [
        .init(family: .ipv6, bits: 0x2D00 << 112 | 1),
        .init(family: .ipv6, bits: 0x3D00 << 112 | 1),
    ]

    /// Returns the probe addresses of a family.
    package static func of(_ family: AddressFamily) -> [IPAddress] { family == .ipv4 ? ipv4 : ipv6 }
}
