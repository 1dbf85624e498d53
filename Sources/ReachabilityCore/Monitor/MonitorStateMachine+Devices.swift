extension MonitorStateMachine {
    /// Whether an answer to a ``MonitorAction/probe(_:name:)`` is still about the interface that was meant.
    public func expectsDevice(_ index: InterfaceIndex, name: String) -> Bool {
        devices.expects(index, name: name) || tunnels.expects(index, name: name)
    }

    /// Whether a ``MonitorAction/probe(_:name:)`` is about where the packets of an interface leave, not about its device.
    public func isAskingTunnel(_ index: InterfaceIndex) -> Bool { tunnels.isAsking(index) }

    /// Takes a message that answers a ``MonitorAction/probe(_:name:)``.
    ///
    /// The last one of each answer is a uevent with ``UeventMessage/probe``, whatever was found.
    public mutating func receiveDevice(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) {
        absorb(snapshot.apply(event, header, at: now), at: now)
        endAwaiting(event)
    }

    /// Lets a verdict go on that waited for this.
    mutating func endAwaiting(_ event: KernelEvent) {
        guard case .uevent(let message) = event, message.probe != nil else { return }
        tunnels.answered(message)
        if undecidedSince != nil { isDirty = true }
    }

    /// Sees whether a message is about an interface whose device is to be looked at.
    mutating func noteDevice(_ event: KernelEvent) {
        guard let index = devices.note(event) else { return }
        snapshot.awaitDevice(index)
    }

    /// Whether a verdict depends on what a device is, or where a tunnel leads, and that is being found out.
    ///
    /// The way beneath a tunnel may have moved with what made the verdict another: half a millisecond tells.
    func awaitsDevice(_ path: NetworkPath) -> Bool {
        if path.reasons.contains(.deviceProbing) { return true }
        guard isAsking else { return false }
        guard let published = publisher.published else { return tunnels.awaitsFirstAnswer }
        return tunnels.awaitsFirstAnswer || (tunnels.isPending && published.status != path.status)
    }

    /// Whether devices are asked about, or were when the recording was made.
    private var isAsking: Bool { confirms || replay?.holdsProbes ?? false }

    /// The other ends of the tunnels that the verdict rests on: routes that cover them are to be heard.
    public var tunnelDestinations: Set<IPAddress> {
        Set(tunnels.used.compactMap { index in snapshot.link(index).flatMap(snapshot.endpoint)?.address })
    }

    /// Learns that routes may have changed that carry tunnels' packets, and which the model does not hold.
    public mutating func noteHiddenRoutes(at now: Instant) { tunnels.noteHiddenChange(at: now) }

    /// Learns on which tunnels a new verdict rests.
    mutating func noteTunnels(of evaluation: PathEvaluation, at now: Instant) {
        guard isAsking else { return }
        tunnels.use(evaluation.ipv4.tunnels + evaluation.ipv6.tunnels, in: snapshot, at: now)
    }
}

extension KernelEvent {
    /// Whether this answers a question about a tunnel, and is no change by itself.
    var tellsOfTunnel: Bool {
        switch self {
        case .wireGuard, .l2tp: true
        case .route(let message): message.flags & RouteMessage.cloned != 0
        case .uevent(let message): message.probe != nil
        default: false
        }
    }
}
