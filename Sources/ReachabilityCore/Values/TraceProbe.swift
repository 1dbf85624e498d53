/// A packet of a trace, which is to expire at one hop.
package struct TraceProbe: Sendable, Hashable {
    /// The time to live, or hop limit: the number of the hop that discards the packet.
    package var hop: Int
    /// The number of this probe among those to the hop, from 1.
    package var attempt: Int
    /// The size of the IP packet in bytes; a TCP segment has its own.
    package var size: Int

    /// Creates a probe.
    package init(hop: Int, attempt: Int, size: Int) {
        self.hop = hop
        self.attempt = attempt
        self.size = size
    }
}

/// The outcome of a probe.
package enum TraceOutcome: Sendable, Hashable {
    /// A router or the destination sent an ICMP error.
    case icmp(ICMPError, from: IPAddress)
    /// The destination itself answered.
    case response(TraceResponse)
    /// The kernel gave up on the link-layer address of the next hop: ARP or neighbour discovery got no reply.
    case neighborUnreachable
    /// The kernel refused to send the packet, with an errno.
    case refused(errno: Int32)
}

/// The answer of a destination that is no ICMP error.
package enum TraceResponse: String, Sendable, Hashable {
    /// It accepted the TCP connection.
    case accepted
    /// It reset the TCP connection.
    case reset
    /// It sent a UDP datagram.
    case datagram
}
