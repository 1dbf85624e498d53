import Glibc
import NetworkLab

extension ServerConnection {
    /// The traffic class (DSCP and ECN) of the packet that has completed the client's handshake; see `IP_RECVTOS` in
    /// ip(7) and `IPV6_RECVTCLASS` in ipv6(7).
    package func trafficClass() throws -> Int32 {
        var domain: Int32 = 0
        var length = socklen_t(MemoryLayout.size(ofValue: domain))
        try systemCall("SO_DOMAIN") { getsockopt(descriptor.number, SOL_SOCKET, SO_DOMAIN, &domain, &length) }
        // The options are those of the packet, as a list of control messages; linux/in.h, linux/in6.h.
        let (level, receive, options): (Int32, Int32, Int32) =
            domain == AF_INET6 ? (Int32(IPPROTO_IPV6), IPV6_RECVTCLASS, 6) : (Int32(IPPROTO_IP), IP_RECVTOS, 9)
        try setOption(descriptor.number, level: level, receive, 1, "the traffic class of received packets")
        var message = [Int32](repeating: -1, count: 64)
        length = socklen_t(message.count * 4)
        try systemCall("the options of a packet") { getsockopt(descriptor.number, level, options, &message, &length) }
        // A header of 16 bytes precedes the value.
        return length >= 20 ? message[4] : -1
    }
}
