/// The meaning of an ICMP error about a packet that was sent (RFC 792, RFC 1812, RFC 4443).
package enum ICMPError: Sendable, Hashable {
    /// The packet's time to live, or hop limit, was used up in transit.
    case timeExceeded
    /// The sender of the error has no route to the destination, or one that says unreachable.
    case networkUnreachable
    /// The destination does not answer on its link, or its router is told that it is unreachable.
    case hostUnreachable
    /// The destination does not have the protocol.
    case protocolUnreachable
    /// Nothing receives at the destination's port.
    case portUnreachable
    /// A firewall or a route of type prohibit rejects the packet.
    case prohibited
    /// The packet is larger than the next link takes; 0 if the sender does not say how large it may be.
    case packetTooBig(mtu: UInt32)
    /// Another error, by its numbers.
    case other(type: UInt8, code: UInt8)
}

extension ICMPError {
    /// Returns the meaning of an error's numbers.
    ///
    /// - Parameters:
    ///   - family: `ipv4` for ICMP, `ipv6` for ICMPv6, whose numbers differ.
    ///   - type: The type of the message.
    ///   - code: The code of the message.
    ///   - mtu: The MTU that the message has, if it is of that type.
    package init(_ family: AddressFamily, type: UInt8, code: UInt8, mtu: UInt32) {
        self = family == .ipv4 ? Self.icmp(type, code, mtu) : Self.icmpv6(type, code, mtu)
    }

    /// `linux/icmp.h`: ICMP_DEST_UNREACH is 3, ICMP_TIME_EXCEEDED is 11.
    private static func icmp(_ type: UInt8, _ code: UInt8, _ mtu: UInt32) -> Self {
        switch (type, code) {
        case (11, 0): .timeExceeded
        case (3, 0), (3, 6), (3, 11): .networkUnreachable
        case (3, 1), (3, 7), (3, 12): .hostUnreachable
        case (3, 2): .protocolUnreachable
        case (3, 3): .portUnreachable
        case (3, 4): .packetTooBig(mtu: mtu)
        case (3, 9), (3, 10), (3, 13): .prohibited
        default: .other(type: type, code: code)
        }
    }

    /// `linux/icmpv6.h`: ICMPV6_DEST_UNREACH is 1, ICMPV6_PKT_TOOBIG is 2, ICMPV6_TIME_EXCEED is 3.
    private static func icmpv6(_ type: UInt8, _ code: UInt8, _ mtu: UInt32) -> Self {
        switch (type, code) {
        case (3, 0): .timeExceeded
        case (1, 0), (1, 6): .networkUnreachable
        case (1, 3): .hostUnreachable
        case (4, 1): .protocolUnreachable
        case (1, 4): .portUnreachable
        case (1, 1), (1, 5): .prohibited
        case (2, _): .packetTooBig(mtu: mtu)
        default: .other(type: type, code: code)
        }
    }
}
