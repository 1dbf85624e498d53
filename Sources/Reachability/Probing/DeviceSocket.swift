import CNetlink
import Glibc
import LinuxSystem
import ReachabilityCore

/// The sockets for questions about devices: generic netlink, on which ioctl(2) works as on any other, and a socket for
/// the lookups of tunnels' routes.
///
/// Confined to one thread at a time by its owner.
struct DeviceSocket: ~Copyable {
    private let namespace: NetworkNamespaceHandle
    private let socket: NetlinkSocket
    private var lookups: LookupSocket
    private let buffer = ReceiveBuffer(size: 64 << 10)
    private var sequence: UInt32 = 0
    private var sysfs: NamespaceSysfs?
    private var hasTriedSysfs = false

    /// Opens the sockets.
    ///
    /// - Parameter namespace: The network namespace of the devices.
    /// - Throws: ``NetlinkError`` if the kernel has none to give.
    init(in namespace: NetworkNamespaceHandle) throws(NetlinkError) {
        let socket = try NetlinkSocket.open(NETLINK_GENERIC, in: namespace)
        socket.setCappedAcknowledgements()
        try socket.setReceiveTimeout(Self.replyTimeout)
        lookups = try LookupSocket(in: namespace)
        self.namespace = namespace
        self.socket = socket
    }

    /// The kernel replies within the send, once it has the configuration lock.
    private static let replyTimeout = Duration.seconds(2)

    /// For ioctl(2).
    var descriptor: Int32 { socket.descriptor }

    /// Where the namespace has its interfaces in sysfs, as a view of its own shows it; nil if the kernel refuses one.
    mutating func namespaceSysfs() -> String? {
        if !hasTriedSysfs { sysfs = NamespaceSysfs(of: namespace) }
        hasTriedSysfs = true
        switch sysfs {
        case .some(let view): return view.interfaces
        case .none: return nil
        }
    }

    /// Returns the number of nl80211; 0 where there is none.
    mutating func wirelessFamily() -> UInt16 {
        var families = GenericFamilies()
        try? ask(NetlinkRequests.families(sequence: nextSequence()), .init()) { event in
            if case .family(let family) = event { families.note(family) }
        }
        return families.nl80211
    }

    /// Returns nl80211's interface; nil if it is not one.
    mutating func wirelessInterface(_ index: InterfaceIndex, family: UInt16) -> WirelessMessage? {
        wireless(NetlinkRequests.wirelessInterface(index, family: family, sequence: nextSequence()), family).last
    }

    /// Returns the stations that a Wi-Fi interface is associated with; none if nl80211 refuses.
    mutating func wirelessStations(_ index: InterfaceIndex, family: UInt16) -> [WirelessMessage] {
        wireless(NetlinkRequests.wirelessStations(index, family: family, sequence: nextSequence()), family)
    }

    /// Returns the access points that a Wi-Fi interface's last scan found; none if nl80211 refuses.
    mutating func wirelessScan(_ index: InterfaceIndex, family: UInt16) -> [WirelessMessage] {
        wireless(NetlinkRequests.wirelessScan(index, family: family, sequence: nextSequence()), family)
    }

    /// Returns nl80211's replies to a request with the last sequence number.
    private func wireless(_ request: [UInt8], _ family: UInt16) -> [WirelessMessage] {
        var messages: [WirelessMessage] = []
        try? ask(request, .init(GenericFamilies.wirelessName, family)) { event in
            if case .wireless(let found) = event { messages.append(found) }
        }
        return messages
    }

    /// Returns a WireGuard device with all its peers.
    ///
    /// - Throws: ``NetlinkError``; EPERM without `CAP_NET_ADMIN`.
    mutating func wireGuardDevice(_ index: InterfaceIndex, family: UInt16) throws(NetlinkError) -> WireGuardMessage {
        let request = NetlinkRequests.wireGuardDevice(index, family: family, sequence: nextSequence())
        var device = WireGuardMessage(index: index)
        try ask(request, .init(GenericFamilies.wireGuardName, family)) { event in
            guard case .wireGuard(let part) = event else { return }
            if part.mark != 0 { device.mark = part.mark }
            device.peers += part.peers
        }
        buffer.erase()
        return device
    }

    /// Returns a team's options.
    ///
    /// - Throws: ``NetlinkError``; EPERM without `CAP_NET_ADMIN` in the first user namespace.
    mutating func teamOptions(_ index: InterfaceIndex, family: UInt16) throws(NetlinkError) -> [TeamMessage] {
        let request = NetlinkRequests.teamOptions(index, family: family, sequence: nextSequence())
        var messages: [TeamMessage] = []
        try ask(request, .init(GenericFamilies.teamName, family)) { event in
            if case .team(let message) = event { messages.append(message) }
        }
        return messages
    }

    /// Returns the L2TP session of an interface with the addresses of its tunnel; nil if there is none.
    ///
    /// - Throws: ``NetlinkError``; EPERM without `CAP_NET_ADMIN`.
    mutating func l2tpSession(_ name: String, family: UInt16) throws(NetlinkError) -> L2TPMessage? {
        let sessions = try l2tp(NetlinkRequests.l2tpSessions(family: family, sequence: nextSequence()), family)
        guard var session = sessions.first(where: { $0.interface == name }) else { return nil }
        let request = NetlinkRequests.l2tpTunnel(session.tunnel, family: family, sequence: nextSequence())
        let tunnel = try l2tp(request, family).first
        session.source = tunnel?.source
        session.remote = tunnel?.remote
        return session
    }

    private func l2tp(_ request: [UInt8], _ family: UInt16) throws(NetlinkError) -> [L2TPMessage] {
        var messages: [L2TPMessage] = []
        try ask(request, .init(GenericFamilies.l2tpName, family)) { event in
            if case .l2tp(let message) = event { messages.append(message) }
        }
        return messages
    }

    /// Looks up the interface by which packets leave.
    ///
    /// - Parameters:
    ///   - flow: The packets.
    ///   - selectsSource: Look up again with the source that the first lookup selects, as connect(2) does.
    /// - Returns: The interface; nil if the kernel has no route.
    /// - Throws: ``NetlinkError`` if the socket fails, or there is no reply.
    mutating func egress(of flow: ProbeFlow, selectsSource: Bool) throws(NetlinkError) -> InterfaceIndex? {
        if selectsSource, flow.source.isUnspecified {
            guard case .selected(let selection) = try lookups.resolve([flow]).first?.outcome else { return nil }
            return selection.nextHop.interface
        }
        guard let route = try lookups.route(of: flow) else { return nil }
        return route.type == .unicast || route.type == .local ? route.nextHops.first?.interface : nil
    }

    private mutating func nextSequence() -> UInt32 {
        sequence &+= 1
        return sequence
    }

    /// Sends a request and takes its replies to the end, or to the error that refuses it.
    private func ask(
        _ request: [UInt8],
        _ families: GenericFamilies,
        _ take: (KernelEvent) -> Void
    ) throws(NetlinkError) {
        try socket.send(request)
        var end: Int32?
        while end == nil {
            let length = try socket.receiveReply(into: buffer)
            end = read(length, families, take)
        }
        if let end, end != 0 { throw NetlinkError("generic netlink", errno: end) }
    }

    /// Passes a datagram's messages on.
    ///
    /// - Returns: The errno with which the replies to the last request end; nil if more follow.
    private func read(_ length: Int, _ families: GenericFamilies, _ take: (KernelEvent) -> Void) -> Int32? {
        var end: Int32?
        buffer.withDatagram(length) { bytes in
            let decoder = NetlinkDecoder(protocolNumber: NetlinkDecoder.generic, families: families)
            try? decoder.decode(bytes) { header, event in
                // A late reply to an earlier request.
                guard header.sequence == sequence else { return }
                switch event {
                case .done(let errno), .error(let errno): end = errno
                default:
                    take(event)
                    // A request that is no dump has one reply, as no acknowledgement was asked for.
                    if !header.flags.contains(.multi) { end = 0 }
                }
            }
        }
        return end
    }
}
