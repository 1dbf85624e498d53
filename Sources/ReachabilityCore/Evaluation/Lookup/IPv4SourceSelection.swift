/// The selection of an IPv4 source address (`inet_select_addr`).
extension LookupModel {
    /// The source for an interface; where it has none that fits, another interface's is borrowed.
    ///
    /// - Parameters:
    ///   - index: The interface that packets leave through.
    ///   - gateway: The next hop's left-aligned bits; 0 if there is none.
    ///   - scope: The route's scope: no address of a narrower one is used.
    /// - Returns: The address, or nil if there is none that may be used.
    func ipv4Source(through index: InterfaceIndex, gateway: UInt128, scope: RouteScope) -> IPAddress? {
        own(of: index, gateway, scope) ?? borrowed(for: index, scope)
    }

    /// Whether an IPv4 address is this host's, as a source must be (`__ip_dev_find`).
    ///
    /// The subnets of a loopback interface are local as a whole while it is up.
    func isOwn(_ source: IPAddress) -> Bool {
        for (index, entries) in snapshot.addresses {
            let isLoopback = snapshot.link(index)?.flags.isSuperset(of: [.loopback, .up]) ?? false
            for entry in entries where entry.address.family == .ipv4 {
                if entry.address == source || (isLoopback && entry.subnet.contains(source)) { return true }
            }
        }
        return false
    }

    /// The primary address whose subnet the gateway lies in, else the first.
    private func own(of index: InterfaceIndex, _ gateway: UInt128, _ scope: RouteScope) -> IPAddress? {
        guard let addresses = snapshot.addresses[index] else { return nil }
        var first: IPAddress?
        for entry in addresses where entry.isPrimaryIPv4 {
            guard min(entry.scope, .host) <= scope else { continue }
            if gateway == 0 || entry.subnet.contains(.init(family: .ipv4, bits: gateway)) { return entry.address }
            if first == nil { first = entry.address }
        }
        return first
    }

    /// The first address of the domain's interfaces whose scope is wide enough; a VRF's own come first.
    private func borrowed(for index: InterfaceIndex, _ scope: RouteScope) -> IPAddress? {
        let domain = layer3Domain(of: index)
        if let domain, let address = lendable(of: domain, scope) { return address }
        for position in snapshot.links.indices where layer3Domain(ofLinkAt: position) == domain {
            if let address = lendable(of: snapshot.links[position].index, scope) { return address }
        }
        return nil
    }

    private func lendable(of index: InterfaceIndex, _ scope: RouteScope) -> IPAddress? {
        snapshot.addresses[index]?.first { $0.isPrimaryIPv4 && $0.scope != .link && $0.scope <= scope }?.address
    }
}

extension AddressMessage {
    fileprivate var isPrimaryIPv4: Bool { address.family == .ipv4 && !flags.contains(.secondary) }

    /// `inet_ifa_match`: of a point-to-point interface, the subnet of the other end.
    fileprivate var subnet: IPPrefix { .init(peer ?? address, length: prefixLength) }
}
