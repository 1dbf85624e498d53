import CNetlink
import Glibc
import LinuxSystem
import ReachabilityCore

/// The sockets of a ``NetlinkReceiver``, all of one network namespace.
struct ReceiverSockets {
    /// Receives changes of links, addresses, routes and rules.
    private(set) var events: NetlinkSocket
    /// Requests dumps; a socket of its own, as a dump's datagrams hold many messages, of which a filter sees the first.
    let requests: NetlinkSocket
    /// Receives the uevents of devices; nil where the kernel has none.
    let uevents: NetlinkSocket?
    /// Receives nl80211's events about interfaces and associations, and teams' options; nil where there is no generic
    /// netlink.
    ///
    /// A sandbox may forbid it. On a kernel without these families it receives only that one was registered.
    let generic: NetlinkSocket?

    private let namespace: NetworkNamespaceHandle

    /// Opens the sockets; they receive everything from then on.
    ///
    /// - Parameters:
    ///   - namespace: The network namespace that is watched.
    ///   - bufferSize: How many bytes of changes the kernel may queue.
    ///   - destinations: The addresses whose own routes are received.
    /// - Throws: ``ReachabilityError`` if a socket cannot be opened, or a required group cannot be joined.
    init(
        in namespace: NetworkNamespaceHandle,
        bufferSize: Int,
        destinations: Set<IPAddress>
    ) throws(ReachabilityError) {
        self.namespace = namespace
        do throws(NetlinkError) {
            events = try Self.openEvents(in: namespace, bufferSize, destinations)
            requests = try NetlinkSocket.open(NETLINK_ROUTE, in: namespace)
        } catch {
            throw ReachabilityError(error)
        }
        requests.setReceiveBuffer(Self.replyBufferSize)
        requests.setStrictChecking()
        requests.setCappedAcknowledgements()
        uevents = try? Self.openUevents(in: namespace)
        generic = try? Self.openGeneric(in: namespace)
    }

    /// Receives changes through a new socket from now on; what is queued in the old one is dropped with it.
    ///
    /// - Parameters:
    ///   - bufferSize: How many bytes the kernel may queue.
    ///   - destinations: The addresses whose own routes are received.
    ///   - receivesNeighbours: Whether to join the neighbours' group, too.
    /// - Throws: ``NetlinkError`` if there is no new socket; the old one stays then.
    mutating func renewEvents(
        bufferSize: Int,
        destinations: Set<IPAddress>,
        receivesNeighbours: Bool
    ) throws(NetlinkError) {
        let socket = try Self.openEvents(in: namespace, bufferSize, destinations)
        if receivesNeighbours { try socket.join(Int32(RTNLGRP_NEIGH.rawValue)) }
        events = socket
    }

    /// Joins the neighbours' group, or leaves it.
    func receiveNeighbours(_ receives: Bool) throws(NetlinkError) {
        let group = Int32(RTNLGRP_NEIGH.rawValue)
        if receives { try events.join(group) } else { try events.leave(group) }
    }

    /// Joins the groups of a family of generic netlink whose events are decoded.
    func join(_ family: GenericFamily) {
        guard let generic else { return }
        for name in Self.groups(of: family.name) {
            // A socket that is in a group already stays in it.
            if let number = family.groups[name] { try? generic.join(Int32(truncatingIfNeeded: number)) }
        }
    }
}

extension ReceiverSockets {
    /// Room for a few datagrams: the kernel creates the next part of a dump when the last one was read.
    private static let replyBufferSize = 1 << 20
    /// Room for the frames of some hundred associations; libnl sets 32 KiB.
    private static let genericBufferSize = 256 << 10

    /// The groups without which there is no verdict, and those that older kernels do not have.
    private static let requiredGroups = [
        RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
        RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE,
    ]
    private static let optionalGroups = [RTNLGRP_NEXTHOP, RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF]
    /// The kernel's own uevents; udev sends its version of them to group 2.
    private static let kernelUevents: Int32 = 1
    /// `notify` of `nlctrl`, the one group whose number is fixed (`GENL_ID_CTRL`).
    private static let controlGroup: Int32 = 0x10
    /// The groups of nl80211 for interfaces and associations; not `scan` and `regulatory`, which never end.
    private static let wirelessGroups = ["config", "mlme"]
    /// `TEAM_GENL_CHANGE_EVENT_MC_GRP_NAME`, which needs no privilege.
    private static let teamGroups = ["change_event"]

    private static func groups(of family: String) -> [String] {
        switch family {
        case GenericFamilies.wirelessName: wirelessGroups
        case GenericFamilies.teamName: teamGroups
        default: []
        }
    }

    /// Attaches the filter before joining the groups, so that a full table's routes never get in.
    private static func openEvents(
        in namespace: NetworkNamespaceHandle,
        _ bufferSize: Int,
        _ destinations: Set<IPAddress>
    ) throws(NetlinkError) -> NetlinkSocket {
        let socket = try NetlinkSocket.open(NETLINK_ROUTE, in: namespace)
        socket.setReceiveBuffer(bufferSize)
        try SocketFilter.routes(covering: destinations).attach(to: socket.descriptor)
        for group in requiredGroups { try socket.join(Int32(group.rawValue)) }
        for group in optionalGroups { try? socket.join(Int32(group.rawValue)) }
        return socket
    }

    private static func openUevents(in namespace: NetworkNamespaceHandle) throws(NetlinkError) -> NetlinkSocket {
        let socket = try NetlinkSocket.open(NETLINK_KOBJECT_UEVENT, in: namespace)
        try SocketFilter.uevents.attach(to: socket.descriptor)
        try socket.join(kernelUevents)
        return socket
    }

    private static func openGeneric(in namespace: NetworkNamespaceHandle) throws(NetlinkError) -> NetlinkSocket {
        let socket = try NetlinkSocket.open(NETLINK_GENERIC, in: namespace)
        socket.setReceiveBuffer(genericBufferSize)
        try SocketFilter.wireless.attach(to: socket.descriptor)
        try socket.join(controlGroup)
        return socket
    }
}
