extension MonitorStateMachine {
    /// Whether an answer to a ``MonitorAction/probe(_:name:)`` is still about the interface that was meant.
    public func expectsDevice(_ index: InterfaceIndex, name: String) -> Bool {
        devices.expects(index, name: name) || tunnels.expects(index, name: name)
    }

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

    /// Whether a verdict depends on what a device is, and that is being found out.
    func awaitsDevice(_ path: NetworkPath) -> Bool {
        (isAsking && tunnels.awaitsFirstAnswer) || path.reasons.contains(.deviceProbing)
    }

    /// Whether devices are asked about, or were when the recording was made.
    private var isAsking: Bool { confirms || replay?.holdsProbes ?? false }

    /// Learns on which tunnels a new verdict rests.
    mutating func noteTunnels(of evaluation: PathEvaluation, at now: Instant) {
        guard isAsking else { return }
        tunnels.use(evaluation.ipv4.tunnels + evaluation.ipv6.tunnels, in: snapshot, at: now)
    }
}
