/// The queries about interfaces that the kernel's messages leave open: what their devices are, and where tunnels lead.
///
/// An interface's device is examined once the interface is set up, since it carries nothing before, and again when its
/// name changes. A tunnel's endpoint changes without a message, and the route to it with any route. So a tunnel is asked
/// for when an evaluation first depends on it, and again after changes that may affect its route, one query at a time.
struct InterfaceQueries: Sendable, Hashable {
    private var waiting: [InterfaceQuery] = []
    /// The interfaces whose devices were, or are being, examined, by the names that they had.
    private var examined: [InterfaceIndex: String] = [:]
    private var egress: [InterfaceIndex: TunnelQuery] = [:]
    private var hasRouteChange = false

    private struct TunnelQuery: Sendable, Hashable {
        var name: String
        /// When to ask next; nil if nothing has changed since the last query.
        var due: Instant?
        /// When the last query was made.
        var asked: Instant?
        var isAsked = false
        var wasReported = false
        /// Whether the query was refused because the process lacks the privilege.
        var isForbidden = false
    }

    /// Whether a reply is about an interface that was asked for, under the name that it had.
    func expects(_ index: InterfaceIndex, name: String) -> Bool {
        examined[index] == name || egress[index].map { $0.isAsked && $0.name == name } ?? false
    }

    /// Asks for everything again.
    mutating func reset() { self = .init() }

    // MARK: Devices

    /// Records interfaces that appear, are set up and disappear.
    ///
    /// Virtual interfaces name their kind (`IFLA_INFO_KIND`), so a thousand containers cause no query.
    ///
    /// - Returns: The interface that is to be examined now, if the message is about one.
    mutating func note(_ event: KernelEvent) -> InterfaceIndex? {
        switch event {
        case .link(let message): return note(message)
        case .linkRemoved(let message) where message.family == 0:
            examined[message.index] = nil
            waiting.removeAll { $0.index == message.index }
            return nil
        default: return nil
        }
    }

    private mutating func note(_ message: LinkMessage) -> InterfaceIndex? {
        guard message.kind == nil, message.family == 0, !message.isPartial, message.hardwareType != .loopback,
            message.flags.contains(.up), let name = message.name, examined[message.index] != name
        else { return nil }
        examined[message.index] = name
        waiting.removeAll { $0.index == message.index }
        waiting.append(.init(index: message.index, name: name))
        return message.index
    }

    /// Returns the next query about a device.
    mutating func nextDevice() -> InterfaceQuery? { waiting.isEmpty ? nil : waiting.removeFirst() }

    /// Examines every device again.
    mutating func resetDevices() {
        waiting = []
        examined = [:]
    }

    // MARK: Tunnels

    /// The tunnels that the last evaluation depends on.
    var tunnels: [InterfaceIndex] { Array(egress.keys) }

    /// Records which tunnels a new evaluation depends on, and forgets the others.
    mutating func use(_ evaluation: PathEvaluation, in snapshot: NetworkSnapshot, at now: Instant) {
        let (ipv4, ipv6) = (evaluation.ipv4.tunnels, evaluation.ipv6.tunnels)
        guard !ipv4.isEmpty || !ipv6.isEmpty || !egress.isEmpty else { return }
        let used = ipv4 + ipv6
        defer { hasRouteChange = false }
        for index in egress.keys where !used.contains(index) { egress[index] = nil }
        for index in used {
            guard let link = snapshot.link(index), snapshot.mayReportEgress(of: link) else { continue }
            if egress[index]?.name != link.name {
                egress[index] = .init(name: link.name, due: now, wasReported: snapshot.hasReportedEgress(of: link))
            } else if let query = egress[index], hasRouteChange {
                schedule(index, query, at: now)
            }
        }
    }

    /// Records a change that may affect a tunnel's route.
    mutating func noteChange() {
        if !egress.isEmpty { hasRouteChange = true }
    }

    /// Records a change of a route that may carry a tunnel's packets, and that the model does not contain.
    mutating func noteHiddenChange(at now: Instant) {
        for (index, query) in egress { schedule(index, query, at: now) }
    }

    private mutating func schedule(_ index: InterfaceIndex, _ query: TunnelQuery, at now: Instant) {
        guard !query.isForbidden, query.due == nil else { return }
        egress[index]?.due = query.asked.map { max(now, $0.advanced(by: Pacing.tunnelQuery)) } ?? now
    }

    /// When ``nextTunnel(at:)`` returns a query.
    var deadline: Instant? { egress.values.lazy.filter { !$0.isAsked }.compactMap(\.due).min() }

    /// Returns the query about a tunnel that is due.
    mutating func nextTunnel(at now: Instant) -> InterfaceQuery? {
        guard !egress.isEmpty else { return nil }
        for (index, query) in egress where !query.isAsked {
            guard let due = query.due, due <= now else { continue }
            egress[index]?.due = nil
            egress[index]?.isAsked = true
            egress[index]?.asked = now
            return .init(index: index, name: query.name)
        }
        return nil
    }

    /// Whether a query asks for a tunnel's egress interface.
    func isAskingTunnel(_ index: InterfaceIndex) -> Bool { egress[index]?.isAsked ?? false }

    /// Takes a message that may end a reply, and returns whether it does.
    mutating func end(_ event: KernelEvent) -> Bool {
        guard case .uevent(let message) = event, let probe = message.probe else { return false }
        guard egress[message.index]?.name == message.interface else { return true }
        egress[message.index]?.isAsked = false
        egress[message.index]?.wasReported = true
        guard case .failed = probe else { return true }
        egress[message.index]?.isForbidden = true
        egress[message.index]?.due = nil
        return true
    }

    /// Whether the egress interface of a tunnel was never reported.
    var awaitsFirstTunnelReply: Bool { egress.values.contains { !$0.wasReported } }

    /// Whether to wait for a reply about a tunnel before a path is published.
    ///
    /// The route of a tunnel's packets may have changed with what changed the path: half a millisecond decides.
    func awaitsTunnel(path: NetworkPath, published: NetworkPath?) -> Bool {
        if awaitsFirstTunnelReply { return true }
        guard let published, published.status != path.status else { return false }
        return egress.values.contains { $0.isAsked || $0.due != nil }
    }
}

/// A query about an interface.
struct InterfaceQuery: Sendable, Hashable {
    var index: InterfaceIndex
    var name: String
}

extension NetworkSnapshot {
    /// Whether a tunnel's endpoint, or a team's active port, is known or can be asked for.
    ///
    /// A session of L2TP is asked for once its device is known.
    fileprivate func mayReportEgress(of link: Link) -> Bool {
        if isL2TP(link) { return !devices.awaited.contains(link.index) }
        return link.kind == "wireguard" || link.kind == "team" || link.tunnelRemote != nil
    }

    /// Whether it was asked for before, and reported.
    ///
    /// The reply about a session of L2TP follows the one about its device.
    fileprivate func hasReportedEgress(of link: Link) -> Bool {
        isL2TP(link) ? tunnels.l2tp[link.index] != nil : devices[link.index]?.probe != nil
    }
}
