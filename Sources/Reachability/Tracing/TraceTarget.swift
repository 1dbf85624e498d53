package import ReachabilityCore

/// The destination of a trace, and the packets that are sent to it.
package struct TraceTarget: Sendable, Hashable {
    /// The protocol of the probes.
    package enum Transport: Sendable, Hashable {
        /// Datagrams to a port at which nothing is expected to receive.
        case udp
        /// Connections to a port.
        case tcp(port: UInt16)
    }

    /// The address.
    package var address: IPAddress
    /// The link of a link-local IPv6 address; 0 for none.
    package var scope: InterfaceIndex
    /// The protocol of the probes.
    package var transport: Transport
    /// The interface that the probes leave by; nil for the one that the kernel selects.
    package var interface: InterfaceIndex?

    /// Creates a target.
    package init(
        _ address: IPAddress,
        scope: InterfaceIndex = 0,
        transport: Transport = .udp,
        interface: InterfaceIndex? = nil
    ) {
        self.address = address
        self.scope = scope
        self.transport = transport
        self.interface = interface
    }

    /// The port of UDP probes, the first of those that traceroute(8) uses: firewalls that let traces through know it.
    static let datagramPort: UInt16 = 33434

    /// The port that the probes are sent to.
    var port: UInt16 {
        switch transport {
        case .udp: Self.datagramPort
        case .tcp(let port): port
        }
    }
}
