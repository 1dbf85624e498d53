import Glibc
package import NetworkLab

/// A machine with one uplink, and the world behind it: two network namespaces joined by a veth pair.
///
/// ```swift
/// let lab = try UplinkLab()
/// let server = try JournalServer(in: lab)
/// try lab.begin(.linkDown)
/// ```
/// The machine is 192.0.2.2 on `wan0`, its default route leads to the world at 192.0.2.1. The link may go away and come
/// back in each way of ``Outage``; sockets of both sides live on meanwhile, as they would.
package final class UplinkLab: Sendable {
    /// The machine's namespace, in which clients are.
    package let machine: LabNamespace
    /// The namespace behind the link, in which servers are.
    package let world: LabNamespace

    /// The name of the machine's interface.
    package static let interface = "wan0"
    /// The address of the world.
    package static let worldAddress = "192.0.2.1"
    private static let machinePrefix = "192.0.2.2/24"
    private static let far = "far0"

    /// Joins two new namespaces, with the link up.
    package init() throws(LabError) {
        machine = try LabNamespace()
        world = try LabNamespace()
        // With different indexes each end's carrier is announced at once.
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

    /// Takes the link away.
    ///
    /// - Throws: The kernel's errno, such as for an outage that has begun already.
    package func begin(_ outage: Outage) throws(LabError) {
        switch outage {
        case .carrierLost: try world.rtnl.setDown(Self.far)
        case .linkDown: try machine.rtnl.setDown(Self.interface)
        case .addressRemoved: try machine.rtnl.deleteAddress(Self.machinePrefix, on: Self.interface)
        }
        try announceCarriers()
    }

    /// Brings the link back, with all that its outage took.
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

    /// Makes the kernel settle both ends now, as for ``NetworkLab/Rtnl/announceCarrier(_:)``: until it has, an end sends
    /// nothing.
    private func announceCarriers() throws(LabError) {
        _ = try machine.rtnl.link(Self.interface)
        _ = try world.rtnl.link(Self.far)
    }

    private func addDefaultRoute() throws(LabError) {
        try machine.rtnl.addRoute("default", via: Self.worldAddress, on: Self.interface)
    }
}

/// How an uplink goes away.
package enum Outage: Sendable, Hashable, CaseIterable {
    /// The other end is down: addresses and IPv4 routes stay, and lead nowhere.
    case carrierLost
    /// `ip link set down`: the routes through the interface go, its IPv4 addresses stay.
    case linkDown
    /// The interface's address goes, and the routes with it.
    case addressRemoved
}
