import CNetlink
import Glibc
import ReachabilityCore

/// The sockets of an event thread, all of one network namespace.
struct EngineSockets: ~Copyable {
    /// Hears what changes.
    private(set) var events: NetlinkSocket
    /// Asks for dumps; a socket of its own, as a dump's datagrams hold many messages and are judged by no filter.
    let requests: NetlinkSocket
    /// Hears of devices; nil where the kernel has no such messages.
    let uevents: NetlinkSocket?
    /// Hears of WiFi; nil where the kernel has no generic netlink, or a sandbox forbids it.
    let generic: GenericSocket?
    /// Looks up routes.
    var lookups: LookupSocket

    /// Opens the sockets in the calling thread's namespace; they hear everything from then on.
    ///
    /// - Parameters:
    ///   - bufferSize: How much the kernel may queue of what changes, in bytes.
    ///   - destinations: The addresses whose routes are watched.
    /// - Throws: ``NetlinkError`` if one can't be opened, or a group that is needed can't be joined.
    init(bufferSize: Int, watching destinations: Set<IPAddress>) throws(NetlinkError) {
        let events = try Self.openEvents(bufferSize, destinations)
        let requests = try NetlinkSocket.open(NETLINK_ROUTE)
        let lookups = try LookupSocket()
        requests.setReceiveBuffer(Self.replyBufferSize)
        requests.setStrictChecking()
        requests.setCappedAcknowledgements()
        self.events = events
        self.requests = requests
        self.lookups = lookups
        uevents = Self.openUevents()
        generic = try? GenericSocket()
    }

    /// Room for a few datagrams: the kernel makes the next part of a dump when the last one was read.
    private static let replyBufferSize = 1 << 20

    /// The groups without which there is no verdict, and those that older kernels do not have.
    private static let groups = [
        RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
        RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE,
    ]
    private static let laterGroups = [RTNLGRP_NEXTHOP, RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF]

    /// The filter comes before the groups, so that a full table's routes never get in.
    private static func openEvents(
        _ bufferSize: Int,
        _ destinations: Set<IPAddress>
    ) throws(NetlinkError) -> NetlinkSocket {
        let socket = try NetlinkSocket.open(NETLINK_ROUTE)
        socket.setReceiveBuffer(bufferSize)
        try socket.attach(.routes(covering: destinations))
        for group in groups { try socket.join(Int32(group.rawValue)) }
        for group in laterGroups { try? socket.join(Int32(group.rawValue)) }
        return socket
    }

    private static func openUevents() -> NetlinkSocket? {
        do throws(NetlinkError) {
            let socket = try NetlinkSocket.open(NETLINK_KOBJECT_UEVENT)
            try socket.attach(.uevents)
            // Group 1 is the kernel's own; udev sends what it made of them to group 2.
            try socket.join(1)
            return socket
        } catch {
            return nil
        }
    }
}

extension EngineSockets {
    /// Hears what changes by a new socket from now on; what is queued in the one before is thrown away with it.
    ///
    /// - Parameters:
    ///   - bufferSize: How much the kernel may queue, in bytes.
    ///   - destinations: The addresses whose routes are watched.
    ///   - neighbours: Whether neighbours are heard of too.
    /// - Throws: ``NetlinkError`` if there is no new one; then all is as it was.
    mutating func renewEvents(
        bufferSize: Int,
        watching destinations: Set<IPAddress>,
        neighbours: Bool
    ) throws(NetlinkError) {
        let socket = try Self.openEvents(bufferSize, destinations)
        if neighbours { try socket.join(Int32(RTNLGRP_NEIGH.rawValue)) }
        events = socket
    }

    /// Hears of neighbours too, or no more.
    func hearNeighbours(_ hears: Bool) throws(NetlinkError) {
        let group = Int32(RTNLGRP_NEIGH.rawValue)
        if hears { try events.join(group) } else { try events.leave(group) }
    }

    /// For epoll(7).
    var ueventsDescriptor: Int32? {
        switch uevents {
        case .some(let socket): socket.descriptor
        case .none: nil
        }
    }

    /// Takes one uevent.
    func receiveUevent(into buffer: ReceiveBuffer) -> NetlinkReceipt {
        switch uevents {
        case .some(let socket): socket.receive(into: buffer)
        case .none: .empty
        }
    }
}

extension EngineSockets {
    /// For epoll(7).
    var genericDescriptor: Int32? {
        switch generic {
        case .some(let socket): socket.descriptor
        case .none: nil
        }
    }

    /// Takes one datagram of generic netlink.
    func receiveGeneric(into buffer: ReceiveBuffer) -> NetlinkReceipt {
        switch generic {
        case .some(let socket): socket.receive(into: buffer)
        case .none: .empty
        }
    }

    /// Sends a request to generic netlink; false if there is none, or it takes none.
    func sendGeneric(_ request: [UInt8]) -> Bool {
        switch generic {
        case .some(let socket): (try? socket.send(request)) != nil
        case .none: false
        }
    }

    /// Hears what a family of generic netlink tells, if that is of WiFi.
    func hear(_ family: GenericFamily) {
        switch generic {
        case .some(let socket): socket.hear(family)
        case .none: break
        }
    }
}
