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
