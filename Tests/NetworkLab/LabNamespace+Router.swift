import Glibc
package import ReachabilityCore

extension LabNamespace {
    /// Advertises a default router on a link, once and to all nodes (RFC 4861 §4.2), as radvd(8) does.
    ///
    /// - Parameters:
    ///   - router: Its link-local address, which the interface has.
    ///   - lifetime: For how long it may be used, in seconds.
    ///   - interface: The index of the interface to send it by.
    ///   - options: The options, in the form of RFC 4861 §4.6; none by default.
    /// - Throws: The errno of what the kernel refused.
    package func advertiseRouter(
        _ router: IPAddress,
        lifetime: UInt16,
        on interface: Int32,
        options: [UInt8] = []
    ) throws {
        try run {
            let type = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
            let icmp = Int32(IPPROTO_ICMPV6)
            let descriptor = OwnedDescriptor(try systemCall("socket of ICMPv6") { socket(AF_INET6, type, icmp) })
            try setOption(descriptor.number, level: SOL_SOCKET, Self.bindToInterface, interface, "SO_BINDTOIFINDEX")
            // Nodes drop an advertisement that a router may have passed on.
            let ipv6 = Int32(IPPROTO_IPV6)
            try setOption(descriptor.number, level: ipv6, IPV6_MULTICAST_HOPS, 255, "IPV6_MULTICAST_HOPS")
            try withSocketAddress(router, 0) { address, length throws(LabError) in
                try systemCall("bind to \(router)") { bind(descriptor.number, address, length) }
            }
            // Type, code, checksum (the kernel's), hop limit, flags, lifetime, reachable time, retransmission time.
            let octets: [UInt8] = [134, 0, 0, 0, 64, 0, UInt8(lifetime >> 8), UInt8(truncatingIfNeeded: lifetime)]
            let message = octets + [UInt8](repeating: 0, count: 8) + options
            let allNodes = IPAddress(family: .ipv6, bits: 0xFF02 << 112 | 1)
            try withSocketAddress(allNodes, 0) { address, length throws(LabError) in
                try systemCall("send a router advertisement") {
                    sendto(descriptor.number, message, message.count, 0, address, length)
                }
            }
        }
    }

    /// `SO_BINDTOIFINDEX` (asm-generic/socket.h).
    private static let bindToInterface: Int32 = 62
}
