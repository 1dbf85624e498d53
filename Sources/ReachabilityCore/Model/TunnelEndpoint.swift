/// The endpoint of a tunnel's own packets, and everything that the kernel's lookup of their route reads.
package struct TunnelEndpoint: Sendable, Hashable {
    /// The address of the other end.
    package var address: IPAddress
    /// The source address that the tunnel is given; nil if the kernel selects it.
    package var source: IPAddress?
    /// The mark of the tunnel's packets; 0 for none.
    package var mark: UInt32 = 0
    /// The TOS field of the tunnel's packets, without its ECN bits.
    package var tos: UInt8 = 0
    /// The interface that the tunnel is bound to (ip-link(8) `dev`); nil for an unbound one.
    package var interface: InterfaceIndex?

    /// Returns the lookup that the kernel makes for the tunnel's packets.
    ///
    /// - Parameters:
    ///   - destination: The destination; nil for the tunnel's other end.
    ///   - user: The user whose rules decide; the kernel sends as root.
    /// - Returns: The flow from the tunnel.
    package func flow(to destination: IPAddress? = nil, user: UInt32) -> ProbeFlow {
        var flow = ProbeFlow(to: destination ?? address, user: user, boundTo: interface)
        if let source { flow.source = source }
        flow.mark = mark
        flow.tos = tos
        return flow
    }
}

extension TunnelEndpoint {
    /// Bit 0 of a tunnel's TOS says that it is that of the packets inside (ip-link(8) `tos inherit`).
    private static let inheritsTOS: UInt8 = 1
    /// The bits of a TOS field that are not ECN's (RFC 3168).
    private static let dscp: UInt8 = 0xFC

    /// Makes the endpoint of a tunnel that the kernel keeps with the link.
    fileprivate init(_ link: Link, to remote: IPAddress) {
        self.init(
            address: remote,
            source: link.tunnelSource,
            mark: link.tunnelMark,
            tos: link.tunnelTOS & Self.inheritsTOS != 0 ? 0 : link.tunnelTOS & Self.dscp,
            interface: link.lowerNamespace == nil ? link.lowerIndex : nil
        )
    }
}

extension L2TPMessage {
    /// The endpoint of the session's packets; nil if L2TP did not report it.
    package var endpoint: TunnelEndpoint? { remote.map { .init(address: $0, source: source) } }
}

extension WireGuardMessage {
    /// The endpoint of the packets to the public internet; nil if no peer with a known endpoint carries them.
    package var endpoint: TunnelEndpoint? {
        for probe in [ProbeAddresses.ipv4, ProbeAddresses.ipv6].joined() {
            guard let endpoint = peer(for: probe)?.endpoint else { continue }
            return .init(address: endpoint, mark: mark)
        }
        return nil
    }

    /// Returns the peer that carries packets to an address.
    private func peer(for address: IPAddress) -> Peer? {
        var best: (peer: Peer, length: UInt8)?
        for peer in peers {
            for prefix in peer.allowed where prefix.contains(address) && prefix.length >= best?.length ?? 0 {
                best = (peer, prefix.length)
            }
        }
        return best?.peer
    }
}

extension RouteMessage {
    /// Makes the kernel's reply to the lookup of a tunnel's endpoint.
    ///
    /// - Parameters:
    ///   - egress: The interface; nil if there is no route.
    ///   - endpoint: The endpoint.
    package init(egress: InterfaceIndex?, to endpoint: TunnelEndpoint) {
        self.init(destination: .init(endpoint.address, length: UInt8(endpoint.address.family.bitWidth)))
        if let source = endpoint.source { self.source = .init(source, length: UInt8(source.family.bitWidth)) }
        mark = endpoint.mark
        tos = endpoint.tos
        flags = Self.cloned
        type = egress == nil ? .unreachable : .unicast
        nextHops = (egress ?? endpoint.interface).map { [.init(interface: $0)] } ?? []
    }
}

/// The properties of tunnels beyond their links, by WireGuard and L2TP, and the egress interfaces of their own packets.
package struct TunnelTable: Sendable, Hashable {
    /// The WireGuard devices, by interface.
    package internal(set) var wireGuard: [InterfaceIndex: WireGuardMessage] = [:]
    /// The L2TP sessions and their tunnels, by interface.
    package internal(set) var l2tp: [InterfaceIndex: L2TPMessage] = [:]
    /// The interface through which the kernel sends a tunnel's own packets; nil for none.
    package internal(set) var egress: [TunnelEndpoint: InterfaceIndex?] = [:]

    /// Returns the endpoint of a tunnel's own packets; nil if it is not known, or if the interface is no tunnel.
    ///
    /// Of a WireGuard device's peers it is that of the peer which carries the public internet: as the device chooses, by
    /// the longest of the peers' allowed prefixes.
    package func endpoint(of link: Link) -> TunnelEndpoint? {
        if let remote = link.tunnelRemote { return .init(link, to: remote) }
        if let session = l2tp[link.index] { return session.endpoint }
        guard !wireGuard.isEmpty, let device = wireGuard[link.index] else { return nil }
        return device.endpoint
    }

    /// Takes WireGuard's description of a device.
    mutating func apply(_ message: WireGuardMessage, _ effect: inout SnapshotEffect) {
        if wireGuard.updateValue(message, forKey: message.index) != message { effect.add(.tunnelChanged) }
    }

    /// Takes L2TP's description of a session: it names the interface, and interfaces are identified by their indexes.
    mutating func apply(_ message: L2TPMessage, _ links: [Link], _ effect: inout SnapshotEffect) {
        guard let link = links.first(where: { $0.name == message.interface }) else { return }
        if l2tp.updateValue(message, forKey: link.index) != message { effect.add(.tunnelChanged) }
    }

    /// Takes a reply about a tunnel's egress interface; replies about other hosts are dropped.
    mutating func apply(_ message: RouteMessage, _ links: [Link], _ effect: inout SnapshotEffect) {
        guard message.flags & RouteMessage.cloned != 0,
            Int(message.destination.length) == message.family.bitWidth
        else { return }
        let endpoints = links.compactMap(endpoint)
        let same = endpoints.filter { $0.address == message.destination.address }
        let exact = same.filter { Self.isReply(message, about: $0, links) }
        // A recording of an older version contains the destination alone.
        let meant = exact.isEmpty && message.source.length == 0 ? same : exact
        guard !meant.isEmpty else { return }
        if egress.count >= endpoints.count { egress = egress.filter { endpoints.contains($0.key) } }
        let interface = message.type == .unicast ? message.nextHops.first?.interface : nil
        for endpoint in meant where egress.updateValue(interface, forKey: endpoint) != .some(interface) {
            effect.add(.tunnelChanged)
        }
    }

    /// Whether a message is the reply to the lookup of an endpoint.
    private static func isReply(_ message: RouteMessage, about endpoint: TunnelEndpoint, _ links: [Link]) -> Bool {
        let source = message.source.length > 0 ? message.source.address : nil
        guard source == endpoint.source, message.mark == endpoint.mark, message.tos == endpoint.tos else {
            return false
        }
        guard let bound = endpoint.interface else { return true }
        guard let egress = message.nextHops.first?.interface else { return false }
        return egress == bound || links.contains { $0.index == egress && $0.masterIndex == bound }
    }

    /// Forgets an interface that is gone.
    mutating func remove(_ index: InterfaceIndex) {
        wireGuard[index] = nil
        l2tp[index] = nil
    }
}
