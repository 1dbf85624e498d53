import Glibc
import LinuxSystem
import ReachabilityCore

/// Looks up routes in the kernel, several at a time, and waits for the replies: 2 µs each, whatever the tables' size.
///
/// Confined to one thread at a time by its owner. The lookups take no lock of the kernel's configuration.
final class LookupSocket {
    private let namespace: NetworkNamespaceHandle
    private var socket: NetlinkSocket
    private let makeConnector: (NetworkNamespaceHandle) -> ConnectProbe?
    private var connector: ConnectProbe?
    private let buffer = ReceiveBuffer(size: 8 << 10)
    private var sequence: UInt32 = 0

    /// The number of lookups that are sent at once: the replies of 78 fill the receive buffer that libnl requests, 64 KiB.
    private static let largestPortion = 32

    /// Opens a socket.
    ///
    /// - Parameters:
    ///   - namespace: The network namespace in which routes are looked up.
    ///   - makeConnector: Opens the socket of IPv6 that selects sources; nil where there is none to open.
    /// - Throws: ``NetlinkError`` if the kernel has none to give.
    init(
        in namespace: NetworkNamespaceHandle,
        connector makeConnector: @escaping (NetworkNamespaceHandle) -> ConnectProbe? = { ConnectProbe(in: $0) }
    ) throws(NetlinkError) {
        self.namespace = namespace
        self.makeConnector = makeConnector
        socket = try NetlinkSocket.openForRequests(in: namespace)
        connector = makeConnector(namespace)
    }

    /// Closes the socket and opens it again.
    ///
    /// - Throws: ``NetlinkError`` if the kernel has none to give; the old one stays then.
    func reopen() throws(NetlinkError) {
        socket = try NetlinkSocket.openForRequests(in: namespace)
        connector = makeConnector(namespace)
    }

    /// Looks up the probe addresses as connect(2) of a user's UDP sockets would.
    ///
    /// - Parameters:
    ///   - user: The sockets' user.
    ///   - detail: Whether to look up also each reply's route, with its metric, and IPv6's final reply.
    /// - Returns: The kernel's replies.
    /// - Throws: ``NetlinkError`` if the socket fails, or there is no reply.
    func probe(user: UInt32, detail: Bool) throws(NetlinkError) -> ProbeResults {
        let ipv4 = ProbeAddresses.ipv4.map { ProbeFlow(to: $0, user: user) }
        let ipv6 = ProbeAddresses.ipv6.map { ProbeFlow(to: $0, user: user) }
        let replies = try resolve(ipv4 + ipv6, detail: detail, connects: detail)
        return .init(ipv4: Array(replies[..<ipv4.count]), ipv6: Array(replies[ipv4.count...]))
    }

    /// Looks up one flow as it is: with its source, or without one.
    ///
    /// For a flow that is bound to a link, IPv4 replies with a route even if there is none, and the packets fail for
    /// want of a reply to ARP. So the flow's route in the table is looked up, too, which is refused then.
    ///
    /// - Parameter flow: The flow.
    /// - Returns: The route of its packets; nil if the kernel refuses.
    /// - Throws: ``NetlinkError`` if the socket fails, or there is no reply.
    func route(of flow: ProbeFlow) throws(NetlinkError) -> RouteMessage? {
        var requests = [Request(flow: flow)]
        if flow.interface != nil { requests.append(.init(flow: flow, matchesRoute: true)) }
        let replies = try exchange(requests)
        guard case .route(let route)? = replies.first, case .route? = replies.last else { return nil }
        return route
    }

    /// Looks up flows without a source; then again as connect(2) would, with the source that the kernel selects.
    ///
    /// IPv4 looks up again with the selected source, which rules on the source see only then; IPv6 does so where the
    /// first lookup fails.
    ///
    /// - Parameters:
    ///   - flows: The sockets' flows, their sources unspecified.
    ///   - detail: Whether to look up also each reply's route, with its metric.
    ///   - connects: Whether to select a source where IPv6's first lookup fails, for which the kernel looks at every
    ///     address of the machine.
    /// - Returns: The kernel's reply for each flow.
    /// - Throws: ``NetlinkError`` if the socket fails, or there is no reply.
    func resolve(
        _ flows: [ProbeFlow],
        detail: Bool = false,
        connects: Bool = true
    ) throws(NetlinkError) -> [ProbeResult] {
        var results = zip(flows, try exchange(flows.map { Request(flow: $0) })).map(Resolution.init)
        for position in results.indices { results[position].selectSource(connector, connects: connects) }
        let again = results.indices.filter { results[$0].needsSecondLookup }
        let explained = detail ? results.indices.filter { results[$0].isRoute } : []
        let sourced = detail ? again.filter { results[$0].hasSourceOfRoute } : []
        var requests = again.map { Request(flow: results[$0].flow) }
        requests += explained.map { Request(flow: results[$0].flow, matchesRoute: true) }
        requests += sourced.map { Request(flow: flows[$0], matchesRoute: true) }
        var replies = try exchange(requests)[...]
        for position in again { results[position].reply = replies.removeFirst() }
        for position in explained { results[position].match = replies.removeFirst() }
        for position in sourced { results[position].sourceMatch = replies.removeFirst() }
        return results.map(\.probeResult)
    }

    /// Looks up flows of sockets that are bound to interfaces, as connect(2) of such sockets would.
    ///
    /// IPv4 takes any destination for a neighbour of the interface where no route leads through it, and a connection
    /// then fails after some seconds without a reply to ARP. So each flow's route in the table is looked up, too, which
    /// is refused then. IPv6 looks up again with the source that a bound socket gets, if there seems to be no route.
    ///
    /// - Parameter flows: Each bound, its source unspecified.
    /// - Returns: The kernel's reply for each flow, with the route that matched.
    /// - Throws: ``NetlinkError`` if the socket fails, or there is no reply.
    func resolveBound(_ flows: [ProbeFlow]) throws(NetlinkError) -> [ProbeResult] {
        var results = zip(flows, try exchangeBound(flows)).map { BoundResolution(flow: $0, replies: $1) }
        for position in results.indices { results[position].selectSource(in: namespace) }
        let again = results.indices.filter { results[$0].needsSecondLookup }
        for (position, replies) in zip(again, try exchangeBound(again.map { results[$0].flow })) {
            results[position].replies = replies
        }
        return results.map(\.probeResult)
    }
}

// MARK: - Requests and replies

extension LookupSocket {
    /// One lookup.
    fileprivate struct Request {
        var flow: ProbeFlow
        /// Whether to reply with the route as it is in its table.
        var matchesRoute = false
    }

    /// The kernel's reply to one lookup.
    fileprivate enum Reply {
        case route(RouteMessage)
        case refused(errno: Int32)

        init?(_ event: KernelEvent) {
            switch event {
            case .route(let message): self = .route(message)
            case .error(let errno): self = .refused(errno: errno)
            default: return nil
            }
        }
    }

    /// Sends lookups, and collects the replies in the same order.
    private func exchange(_ requests: [Request]) throws(NetlinkError) -> [Reply] {
        if requests.count <= Self.largestPortion { return try exchangePortion(requests[...]) }
        var replies: [Reply] = []
        for start in stride(from: 0, to: requests.count, by: Self.largestPortion) {
            let end = min(start + Self.largestPortion, requests.count)
            replies += try exchangePortion(requests[start..<end])
        }
        return replies
    }

    /// Sends lookups at once: all replies are in the receive buffer before the first is read.
    private func exchangePortion(_ requests: ArraySlice<Request>) throws(NetlinkError) -> [Reply] {
        guard !requests.isEmpty else { return [] }
        let first = sequence &+ 1
        var bytes: [UInt8] = []
        for request in requests {
            sequence &+= 1
            bytes += NetlinkRequests.lookup(request.flow, sequence: sequence, matchesRoute: request.matchesRoute)
        }
        try socket.send(bytes)
        return try collect(requests.count, from: first)
    }

    /// For each flow, the reply for its packets, and the route in its table.
    private func exchangeBound(_ flows: [ProbeFlow]) throws(NetlinkError) -> [BoundResolution.Replies] {
        let replies = try exchange(flows.flatMap { [Request(flow: $0), Request(flow: $0, matchesRoute: true)] })
        return flows.indices.map { (replies[2 * $0], replies[2 * $0 + 1]) }
    }

    private func collect(_ count: Int, from first: UInt32) throws(NetlinkError) -> [Reply] {
        var replies = [Reply](repeating: .refused(errno: ETIMEDOUT), count: count)
        var missing = count
        while missing > 0 {
            switch socket.receive(into: buffer, waiting: true) {
            case .datagram(let length): missing -= take(length, from: first, into: &replies)
            case .foreign, .truncated: continue
            case .empty: throw NetlinkError("recvmsg", errno: ETIMEDOUT)
            case .overrun: throw NetlinkError("recvmsg", errno: ENOBUFS)
            case .failed(let errno): throw NetlinkError("recvmsg", errno: errno)
            }
        }
        return replies
    }

    /// Puts a datagram's replies in their places.
    ///
    /// - Returns: How many there were.
    private func take(_ length: Int, from first: UInt32, into replies: inout [Reply]) -> Int {
        var taken = 0
        buffer.withDatagram(length) { bytes in
            try? NetlinkDecoder().decode(bytes) { header, event in
                let position = Int(header.sequence &- first)
                guard replies.indices.contains(position), let reply = Reply(event) else { return }
                replies[position] = reply
                taken += 1
            }
        }
        return taken
    }
}

// MARK: - Resolving

/// The lookup of one flow, until its final reply.
private struct Resolution {
    var flow: ProbeFlow
    var reply: LookupSocket.Reply
    /// The route in its table, if that was looked up.
    var match: LookupSocket.Reply?
    /// The route of the first lookup, which selected the source, in its table, if that was looked up.
    var sourceMatch: LookupSocket.Reply?
    private(set) var needsSecondLookup = false
    private var isFinal = true

    init(flow: ProbeFlow, reply: LookupSocket.Reply) {
        self.flow = flow
        self.reply = reply
    }

    /// Whether the final lookup has a route to explain, or may yet find one.
    var isRoute: Bool {
        if case .route = reply { return true }
        return needsSecondLookup
    }

    /// Whether the source of the second lookup is that of the first one's route.
    var hasSourceOfRoute: Bool { needsSecondLookup && flow.family == .ipv4 }

    mutating func selectSource(_ connector: ConnectProbe?, connects: Bool) {
        switch reply {
        case .route(let message):
            guard flow.family == .ipv4, let source = message.preferredSource else { return }
            flow.source = source
            needsSecondLookup = true
        case .refused:
            guard flow.family == .ipv6 else { return }
            if connects { connect(connector) } else { isFinal = false }
        }
    }

    private mutating func connect(_ connector: ConnectProbe?) {
        switch connector?.connect(to: flow.destination) {
        case .success(let source)?:
            flow.source = source
            needsSecondLookup = true
        case .failure(let refusal)? where refusal.errno != EPERM: reply = .refused(errno: refusal.errno)
        // Neither a kernel without IPv6 nor a filter on connect(2), such as a control group's, says anything about routes.
        case .failure?, nil: isFinal = false
        }
    }

    /// The source of a socket that connected although a lookup with that source is refused.
    private var connectedSource: IPAddress? {
        flow.family == .ipv6 && needsSecondLookup ? flow.source : nil
    }

    var probeResult: ProbeResult {
        switch reply {
        case .refused(let errno):
            let reason = needsSecondLookup ? .sourceRule : ReachabilityReason(lookupErrno: errno)
            return .init(.refused(errno: errno, reason), isFinal: isFinal, connectedSource: connectedSource)
        case .route(let message):
            var selection = RouteSelection(message, source: flow.source)
            if flow.family == .ipv6, selection.nextHop.source == nil {
                return .init(.refused(errno: EADDRNOTAVAIL, .noSource))
            }
            guard case .route(let matched)? = match else { return .init(.selected(selection)) }
            selection.metric = matched.metric
            return .init(.selected(selection), matched: matched.destination, isMultipath: isMultipath)
        }
    }

    /// Whether one of the routes has several next hops: a rule on the source may make the second lookup depend on the next
    /// hop that the first one selected.
    private var isMultipath: Bool {
        [match, sourceMatch].contains { if case .route(let route)? = $0 { route.nextHops.count > 1 } else { false } }
    }
}

/// The lookup of one bound flow, until its final reply.
private struct BoundResolution {
    /// The reply for the flow's packets, and for the route in its table.
    typealias Replies = (packets: LookupSocket.Reply, match: LookupSocket.Reply)

    var flow: ProbeFlow
    var replies: Replies
    private(set) var needsSecondLookup = false

    /// Rules on the source see it in the second lookup only; and IPv6 may have a route for that source alone.
    mutating func selectSource(in namespace: NetworkNamespaceHandle) {
        switch (flow.family, replies.packets, replies.match) {
        case (.ipv4, .route(let route), .route): flow.source = route.preferredSource ?? flow.source
        case (.ipv6, .refused, _):
            let probe = ConnectProbe(in: namespace, boundTo: flow.interface)
            guard case .success(let source)? = probe?.connect(to: flow.destination) else { return }
            flow.source = source
        default: return
        }
        needsSecondLookup = !flow.source.isUnspecified
    }

    var probeResult: ProbeResult {
        guard case .route(let route) = replies.packets, case .route(let match) = replies.match else { return refusal }
        var selection = RouteSelection(route, source: flow.source)
        selection.metric = match.metric
        if flow.family == .ipv6, selection.nextHop.source == nil {
            return .init(.refused(errno: EADDRNOTAVAIL, .noSource))
        }
        // With a source, IPv6's lookup is not strict about the interface; the socket itself is.
        if flow.family == .ipv6, needsSecondLookup, let interface = flow.interface {
            selection.nextHop.interface = interface
        }
        return .init(.selected(selection), matched: match.destination, isMultipath: match.nextHops.count > 1)
    }

    private var refusal: ProbeResult {
        guard case .refused(let errno) = replies.match else { return .init(.refused(errno: EHOSTUNREACH, .noRoute)) }
        if needsSecondLookup {
            // IPv6's source is that of a socket which connected.
            let connectedSource = flow.family == .ipv6 ? flow.source : nil
            return .init(.refused(errno: errno, .sourceRule), connectedSource: connectedSource)
        }
        // IPv4's errno for a route that it would have to invent; an unreachable route gives the same.
        let isInvented = flow.family == .ipv4 && errno == EHOSTUNREACH
        return .init(.refused(errno: errno, isInvented ? .noRoute : .init(lookupErrno: errno)))
    }
}

extension RouteSelection {
    /// Creates a selection from the kernel's reply, which does not repeat a source that the request names.
    fileprivate init(_ message: RouteMessage, source: IPAddress) {
        let nextHop = message.nextHops.first
        self.init(
            table: message.table,
            type: message.type,
            metric: message.metric,
            nextHop: .init(
                interface: nextHop?.interface ?? 0,
                gateway: nextHop?.gateway,
                source: source.isUnspecified ? message.preferredSource : source
            )
        )
    }
}

extension ReachabilityReason {
    /// The reason that a refused lookup's errno gives by itself.
    init(lookupErrno errno: Int32) {
        switch errno {
        case LookupErrno.accessDenied: self = .prohibited
        case LookupErrno.invalid: self = .blackhole
        case LookupErrno.addressNotAvailable: self = .noSource
        case LookupErrno.hostUnreachable: self = .unreachable
        default: self = .noRoute
        }
    }
}
