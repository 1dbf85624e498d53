/// Where a tunnel's own packets go.
public struct TunnelEndpoint: Sendable, Hashable {
    /// The address of the other end.
    public var address: IPAddress
    /// The mark of the tunnel's packets; 0 for none.
    public var mark: UInt32

    /// Makes an endpoint.
    public init(address: IPAddress, mark: UInt32 = 0) {
        self.address = address
        self.mark = mark
    }
}

/// What lies beneath tunnels.
extension NetworkSnapshot {
    /// Where a tunnel's own packets go; nil where that is not known, or where the interface is no tunnel.
    ///
    /// Of a WireGuard device's peers it is the one that carries the public internet: as the device chooses, by the
    /// longest of the prefixes that the peers are to carry.
    public func endpoint(of link: Link) -> TunnelEndpoint? {
        if let remote = link.tunnelRemote { return .init(address: remote) }
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
    mutating func insertWay(_ message: RouteMessage, _ effect: inout SnapshotEffect) {
        guard message.flags & RouteMessage.cloned != 0,
            Int(message.destination.length) == message.family.bitWidth
        else { return }
        let remotes = links.compactMap { endpoint(of: $0)?.address }
        guard remotes.contains(message.destination.address) else { return }
        if tunnelWays.count >= remotes.count { tunnelWays = tunnelWays.filter { remotes.contains($0.key) } }
        let way = message.type == .unicast ? message.legs.first?.interface : nil
        let old = tunnelWays.updateValue(way, forKey: message.destination.address)
        if old != .some(way) { effect.add(.tunnelChanged) }
    }
}

extension L2TPMessage {
    /// Where the session's packets go; nil if L2TP did not tell.
    public var endpoint: TunnelEndpoint? { remote.map { .init(address: $0) } }
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
    /// Tells where packets to an endpoint leave, in the form of the kernel's answer about one host.
    ///
    /// - Parameters:
    ///   - way: The interface; nil if there is no route.
    ///   - endpoint: The host.
    public init(way: InterfaceIndex?, to endpoint: IPAddress) {
        self.init(destination: .init(endpoint, length: UInt8(endpoint.family.bitWidth)))
        flags = Self.cloned
        type = way == nil ? .unreachable : .unicast
        legs = way.map { [.init(interface: $0)] } ?? []
    }
}
