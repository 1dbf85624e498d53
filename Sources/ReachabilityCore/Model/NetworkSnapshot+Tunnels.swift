/// Where a tunnel's own packets go, and all that the kernel's lookup of their route reads.
public struct TunnelEndpoint: Sendable, Hashable {
    /// The address of the other end.
    public var address: IPAddress
    /// The source address that the tunnel is given; nil if the kernel selects it.
    public var source: IPAddress?
    /// The mark of the tunnel's packets; 0 for none.
    public var mark: UInt32
    /// The TOS field of the tunnel's packets, without its ECN bits.
    public var tos: UInt8
    /// The interface that the tunnel is bound to (ip-link(8) `dev`); nil for an unbound one.
    public var interface: InterfaceIndex?

    /// Makes an endpoint.
    public init(
        address: IPAddress,
        source: IPAddress? = nil,
        mark: UInt32 = 0,
        tos: UInt8 = 0,
        interface: InterfaceIndex? = nil
    ) {
        self.address = address
        self.source = source
        self.mark = mark
        self.tos = tos
        self.interface = interface
    }

    /// Returns the lookup that the kernel makes for the tunnel's packets.
    ///
    /// - Parameter user: The user whose rules decide; the kernel sends as root.
    /// - Returns: The flow from the tunnel to its other end.
    public func flow(user: UInt32) -> ProbeFlow { flow(to: address, user: user) }

    /// The same lookup, of another destination.
    func flow(to destination: IPAddress, user: UInt32) -> ProbeFlow {
        var flow = ProbeFlow(to: destination, user: user, boundTo: interface)
        if let source { flow.source = source }
        flow.mark = mark
        flow.tos = tos
        return flow
    }
}

/// What lies beneath tunnels.
extension NetworkSnapshot {
    /// Where a tunnel's own packets go; nil where that is not known, or where the interface is no tunnel.
    ///
    /// Of a WireGuard device's peers it is the one that carries the public internet: as the device chooses, by the
    /// longest of the prefixes that the peers are to carry.
    public func endpoint(of link: Link) -> TunnelEndpoint? {
        if let remote = link.tunnelRemote { return .init(link, to: remote) }
        if let session = l2tp[link.index] { return session.endpoint }
        guard !wireGuard.isEmpty, let device = wireGuard[link.index] else { return nil }
        return device.endpoint
    }

    /// Whether a link is a session of L2TPv3, which older kernels tell by `DEVTYPE` alone.
    public func isL2TP(_ link: Link) -> Bool {
        guard let kind = link.kind else { return devices[link.index]?.deviceType == UeventMessage.l2tpType }
        return kind == "l2tp" || kind == "l2tpeth"
    }

    /// Takes L2TP's answer about a session; it names the interface, and interfaces are known by their indexes.
    mutating func apply(_ message: L2TPMessage, _ effect: inout SnapshotEffect) {
        guard let link = links.first(where: { $0.name == message.interface }) else { return }
        if l2tp.updateValue(message, forKey: link.index) != message { effect.add(.tunnelChanged) }
    }

    /// An answer of WireGuard's; of a device with many peers it takes several.
    mutating func apply(_ message: WireGuardMessage, _ effect: inout SnapshotEffect) {
        if wireGuard.updateValue(message, forKey: message.index) != message { effect.add(.tunnelChanged) }
    }

    /// An answer about where a tunnel's packets leave; of other hosts nothing is kept.
    mutating func insertTunnelEgress(_ message: RouteMessage, _ effect: inout SnapshotEffect) {
        guard message.flags & RouteMessage.cloned != 0,
            Int(message.destination.length) == message.family.bitWidth
        else { return }
        let endpoints = links.compactMap(endpoint)
        let same = endpoints.filter { $0.address == message.destination.address }
        let exact = same.filter { isAnswer(message, about: $0) }
        // A recording of an older version tells the destination alone.
        let meant = exact.isEmpty && message.source.length == 0 ? same : exact
        guard !meant.isEmpty else { return }
        if tunnelEgress.count >= endpoints.count { tunnelEgress = tunnelEgress.filter { endpoints.contains($0.key) } }
        let egress = message.type == .unicast ? message.nextHops.first?.interface : nil
        for endpoint in meant where tunnelEgress.updateValue(egress, forKey: endpoint) != .some(egress) {
            effect.add(.tunnelChanged)
        }
    }

    /// Whether an answer is to the lookup of an endpoint.
    private func isAnswer(_ message: RouteMessage, about endpoint: TunnelEndpoint) -> Bool {
        let source = message.source.length > 0 ? message.source.address : nil
        guard source == endpoint.source, message.mark == endpoint.mark, message.tos == endpoint.tos else {
            return false
        }
        let egress = message.nextHops.first?.interface
        guard let bound = endpoint.interface else { return true }
        return egress == bound || egress.flatMap { link($0)?.masterIndex } == bound
    }
}

extension TunnelEndpoint {
    /// Bit 0 of a tunnel's TOS says that it is that of the packets inside (ip-link(8) `tos inherit`).
    private static let inheritsTOS: UInt8 = 1
    /// The bits of a TOS field that are not ECN's (RFC 3168).
    private static let dscp: UInt8 = 0xFC

    /// The endpoint of a tunnel of which the kernel keeps it with the link.
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
    /// Where the session's packets go; nil if L2TP did not tell.
    public var endpoint: TunnelEndpoint? { remote.map { .init(address: $0, source: source) } }
}

extension WireGuardMessage {
    /// Where the packets to the public internet go; nil if no peer with a known endpoint is to carry them.
    public var endpoint: TunnelEndpoint? {
        for probe in [ProbeAddresses.ipv4, ProbeAddresses.ipv6].joined() {
            guard let endpoint = peer(for: probe)?.endpoint else { continue }
            return .init(address: endpoint, mark: mark)
        }
        return nil
    }

    /// The peer that carries packets to an address; nil if none does.
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
    /// Tells where packets to an endpoint leave, in the form of the kernel's answer to a lookup.
    ///
    /// - Parameters:
    ///   - egress: The interface; nil if there is no route.
    ///   - endpoint: Where the packets go, and what was looked up with it.
    public init(egress: InterfaceIndex?, to endpoint: TunnelEndpoint) {
        self.init(destination: .init(endpoint.address, length: UInt8(endpoint.address.family.bitWidth)))
        if let source = endpoint.source { self.source = .init(source, length: UInt8(source.family.bitWidth)) }
        mark = endpoint.mark
        tos = endpoint.tos
        flags = Self.cloned
        type = egress == nil ? .unreachable : .unicast
        nextHops = (egress ?? endpoint.interface).map { [.init(interface: $0)] } ?? []
    }
}
