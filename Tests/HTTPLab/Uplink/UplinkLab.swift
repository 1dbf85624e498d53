import Glibc
package import NetworkLab

/// A machine with one uplink, and the network behind it: two network namespaces connected by a veth pair.
///
/// ```swift
/// let lab = try UplinkLab()
/// let server = try JournalServer(in: lab)
/// try lab.begin(.linkDown)
/// ```
/// The machine is 192.0.2.2 on `wan0`; its default route goes to the outer network at 192.0.2.1. The link can fail and
/// return as in each ``Outage``; the sockets on both sides stay open meanwhile.
package final class UplinkLab: Sendable {
    /// The machine's namespace, for clients.
    package let machine: LabNamespace
    /// The namespace behind the link, for servers.
    package let world: LabNamespace

    /// The name of the machine's interface.
    package static let interface = "wan0"
    /// The address of the outer network.
    package static let worldAddress = "192.0.2.1"
    private static let machinePrefix = "192.0.2.2/24"
    private static let far = "far0"

    /// Creates two namespaces and connects them, with the link up.
    package init() throws(LabError) {
        machine = try LabNamespace()
        world = try LabNamespace()
        // With different interface indexes, the carrier of each end is announced immediately.
        try machine.rtnl.createVeth(
            Self.interface,
            .init(index: 10),
            peer: Self.far,
            .init(index: 20, namespace: world)
        )
        try world.rtnl.setUp(Self.far)
        try world.rtnl.addAddress("\(Self.worldAddress)/24", on: Self.far)
        try machine.rtnl.setUp(Self.interface)
        try machine.rtnl.addAddress(Self.machinePrefix, on: Self.interface)
        try addDefaultRoute()
    }

    /// Starts an outage of the link.
    ///
    /// - Throws: The kernel's errno, for example if the outage has already started.
    package func begin(_ outage: Outage) throws(LabError) {
        switch outage {
        case .carrierLost: try world.rtnl.setDown(Self.far)
        case .linkDown: try machine.rtnl.setDown(Self.interface)
        case .addressRemoved: try machine.rtnl.deleteAddress(Self.machinePrefix, on: Self.interface)
        }
        try announceCarriers()
    }

    /// Ends an outage, and restores the addresses and routes that it removed.
    package func end(_ outage: Outage) throws(LabError) {
        switch outage {
        case .carrierLost:
            try world.rtnl.setUp(Self.far)
        case .linkDown:
            try machine.rtnl.setUp(Self.interface)
            try addDefaultRoute()
        case .addressRemoved:
            try machine.rtnl.addAddress(Self.machinePrefix, on: Self.interface)
            try addDefaultRoute()
        }
        try announceCarriers()
    }

    /// Announces the carrier of both ends now, as by ``NetworkLab/Rtnl/announceCarrier(_:)``: until then, an end sends
    /// nothing.
    private func announceCarriers() throws(LabError) {
        _ = try machine.rtnl.link(Self.interface)
        _ = try world.rtnl.link(Self.far)
    }

    private func addDefaultRoute() throws(LabError) {
        try machine.rtnl.addRoute("default", via: Self.worldAddress, on: Self.interface)
    }
}

/// The kinds of outage of an uplink.
package enum Outage: Sendable, Hashable, CaseIterable {
    /// The other end is down: addresses and IPv4 routes stay, but packets are lost.
    case carrierLost
    /// `ip link set down`: the routes through the interface are removed, its IPv4 addresses stay.
    case linkDown
    /// The interface's address is removed, and the routes with it.
    case addressRemoved
}
