/// Something about an interface that leaves its kind open, and that a rule of the user's would settle.
public enum InterfaceHint: Sendable, Hashable {
    /// Its driver, here by its name, serves tethered phones as well as Ethernet adapters.
    case tethering(driver: String)
    /// A point-to-point session, which may run over a modem or over DSL.
    case pointToPoint
    /// Its device could not be identified, and why.
    case unidentified(String)
}

/// How it is known what carries a tunnel.
public enum TunnelBasis: Sendable, Hashable {
    /// The kernel says how it sends to the tunnel's other end.
    case endpoint(IPAddress)
    /// The other end is known; the best default path that does not go through the tunnel is taken to lead there.
    case defaultPath(to: IPAddress)
    /// The other end is not known, for a reason if there is one: the best default path beside the tunnel counts.
    case anyDefaultPath(String?)
}

extension Explainer {
    /// What leaves an interface's kind open, if something does.
    func hint(about interface: NetworkInterface) -> InterfaceHint? {
        guard interface.kindSource != .rule, let link = model.snapshot.link(interface.index) else { return nil }
        if link.kind == "ppp" || (link.kind == nil && link.hardwareType == .ppp) { return .pointToPoint }
        guard link.kind == nil, let device = model.snapshot.devices[interface.index] else { return nil }
        if interface.kind == .other, case .failed(let why) = device.probe { return .unidentified(why) }
        guard interface.kind == .wired, let driver = device.driver, DeviceDriver(driver) == .tethering else {
            return nil
        }
        return .tethering(driver: driver)
    }

    /// How it is known what carries an interface; nil if that is no tunnel, or one that names what is beneath.
    func basis(of interface: NetworkInterface) -> TunnelBasis? {
        guard interface.kind == .tunnel, let link = model.snapshot.link(interface.index), link.lowerIndex == nil else {
            return nil
        }
        if let endpoint = model.snapshot.endpoint(of: link) {
            let isKnown = model.snapshot.tunnelEgress[endpoint] != nil
            return isKnown ? .endpoint(endpoint.address) : .defaultPath(to: endpoint.address)
        }
        guard case .failed(let why) = model.snapshot.devices[interface.index]?.probe else {
            return .anyDefaultPath(nil)
        }
        return .anyDefaultPath(why)
    }
}
