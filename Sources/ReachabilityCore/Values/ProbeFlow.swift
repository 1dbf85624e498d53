/// A look-up of one destination, as a socket of this process makes it: unmarked, UDP, and unbound unless it says so.
public struct ProbeFlow: Sendable, Hashable {
    /// The address that is looked up, and never sent to.
    public var destination: IPAddress
    /// The source address; unspecified for an unbound socket.
    public var source: IPAddress
    /// The user who owns the socket, as `uidrange` rules see it.
    public var user: UInt32
    /// `SO_MARK`, as `fwmark` rules see it; only tunnels mark their packets here.
    public var mark: UInt32 = 0
    /// The interface that the socket is bound to (`SO_BINDTOIFINDEX`, socket(7)); nil for an unbound one.
    ///
    /// For the kernel's look-ups: the model's own are of unbound sockets, and pass over it.
    public var interface: InterfaceIndex?
    /// `IPPROTO_UDP`, as `ipproto` rules see it.
    public var ipProtocol: UInt8 = 17
    /// The ephemeral port that `sport` rules are held against.
    public var sourcePort: UInt16 = 49_152
    /// The port that `dport` rules are held against: HTTPS.
    public var destinationPort: UInt16 = 443

    /// Makes a look-up without a source.
    public init(to destination: IPAddress, user: UInt32, boundTo interface: InterfaceIndex? = nil) {
        self.destination = destination
        self.interface = interface
        self.source = .init(family: destination.family, bits: 0)
        self.user = user
    }

    /// The family of the look-up.
    public var family: AddressFamily { destination.family }
}

/// The fixed addresses that stand for the public internet; they are looked up and never sent to.
///
/// One lies in each half of IPv4 and one each in 2000::/4 and 3000::/4, so that a machine that is covered by halves is
/// seen. The IPv6 ones lie in space that nobody was given, the IPv4 ones in space that is given and hardly announced,
/// so that a router's full table, or a list of bogons, rarely has a route for them.
public enum ProbeAddresses {
    /// 22.0.0.1 and 215.0.0.1.
    public static let ipv4: [IPAddress] = [.init(ipv4: 0x1600_0001), .init(ipv4: 0xD700_0001)]
    /// 2d00::1 and 3d00::1.
    public static let ipv6: [IPAddress] = [
        .init(family: .ipv6, bits: 0x2D00 << 112 | 1),
        .init(family: .ipv6, bits: 0x3D00 << 112 | 1),
    ]

    /// The probe addresses of a family.
    public static func of(_ family: AddressFamily) -> [IPAddress] { family == .ipv4 ? ipv4 : ipv6 }
}
