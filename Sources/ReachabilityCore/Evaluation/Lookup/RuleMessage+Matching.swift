extension RuleMessage {
    /// Whether the rule applies to a flow of an unbound socket of this host (`fib_rule_match`).
    ///
    /// - Parameters:
    ///   - flow: What is looked up.
    ///   - hasSource: Whether the socket has a source address (`RT6_LOOKUP_F_HAS_SADDR`).
    ///   - model: Tells the name of the loopback interface, which `iif` means for packets of this host.
    /// - Returns: Whether its action is to be taken.
    func matches(_ flow: ProbeFlow, hasSource: Bool, _ model: LookupModel) -> Bool {
        let selects =
            selectsSocket(of: flow, model)
            && selectsAddresses(of: flow, hasSource: hasSource)
            && selectsTransport(of: flow)
        return selects != flags.contains(.invert)
    }

    /// An unbound socket has no output interface, no tunnel and no VRF.
    private func selectsSocket(of flow: ProbeFlow, _ model: LookupModel) -> Bool {
        guard outputInterface == nil, !isL3Master, tunnelID == 0, mark.matches(flow.mark) else { return false }
        if let users, !users.contains(flow.user) { return false }
        if let inputInterface, inputInterface != model.loopbackName { return false }
        return true
    }

    /// The unbound IPv4 source is 0.0.0.0 and is compared; the IPv6 one is missing and matches no prefix.
    private func selectsAddresses(of flow: ProbeFlow, hasSource: Bool) -> Bool {
        guard destination.contains(flow.destination) else { return false }
        guard source.length > 0 else { return true }
        if family == .ipv6, !hasSource { return flags.contains(.findSource) }
        return source.contains(flow.source)
    }

    /// The flow label of a flow is 0, and so is the TOS of any but a tunnel's.
    private func selectsTransport(of flow: ProbeFlow) -> Bool {
        guard tos == 0 || tos == flow.tos, dscp?.matches(flow.tos >> 2) ?? true, flowLabel?.matches(0) ?? true else {
            return false
        }
        if let ipProtocol, ipProtocol != flow.ipProtocol { return false }
        return (sourcePorts?.contains(flow.sourcePort) ?? true)
            && (destinationPorts?.contains(flow.destinationPort) ?? true)
    }
}

extension PortRange {
    /// Whether a port lies in the range, or equals the first port under the mask.
    func contains(_ port: UInt16) -> Bool {
        if let mask { return (port ^ first) & mask == 0 }
        return first <= port && port <= last
    }
}
