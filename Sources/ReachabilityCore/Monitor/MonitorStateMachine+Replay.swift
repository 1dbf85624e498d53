extension MonitorStateMachine {
    /// Makes a machine that goes through a recording: it asks nothing, and the model's word counts.
    ///
    /// - Parameters:
    ///   - context: Whose sockets are judged, and the user's own rules.
    ///   - settle: How long a path must stay the same before a change is published.
    ///   - settleGoingDown: The same for changes from reachable to not reachable; nil takes `settle`.
    /// - Returns: The machine; feed it with ``replay(_:_:at:)``, and take its notices with ``next(at:)``.
    public static func replaying(
        context: EvaluationContext,
        settle: Duration = .zero,
        settleGoingDown: Duration? = nil
    ) -> Self {
        var machine = Self(
            context,
            confirms: false,
            settle: settle,
            settleGoingDown: settleGoingDown,
            counters: .init()
        )
        machine.ipv4.trustModel()
        machine.ipv6.trustModel()
        machine.replay = .init()
        return machine
    }

    /// Takes a message of a recording: a request for a dump, an answer to one, or a notification.
    ///
    /// What is published first is what the dumps say with which a recording begins; without dumps, what the first
    /// notification says.
    ///
    /// - Parameters:
    ///   - event: The message.
    ///   - header: Its head: its sequence number tells to which request an answer belongs.
    ///   - now: When it was recorded.
    public mutating func replay(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) {
        switch event {
        case .request(let request):
            for subject in replay?.begin(request, header.sequence, at: now) ?? [] { assembly.begin(subject) }
        case .done, .error: endReplayed(header.sequence, at: now)
        case .familiesRequested: replay?.holdsProbes = true
        default: takeReplayed(event, header, at: now)
        }
    }

    /// Learns that the recording ends here: what was held back is judged now, a dump without its end is not.
    public mutating func finishReplay(at now: Instant) {
        assembly.cancel()
        replay?.finish()
        snapshot.awaitNoDevice()
        beginJudging()
    }

    /// When what the recording told so far makes a verdict; nil if it needs more.
    var replayJudgement: Instant? {
        guard let replay, replay.isComplete else { return nil }
        let beginning = Instant(nanoseconds: .min)
        return publisher.published == nil ? beginning : replay.judgement ?? beginning
    }

    private mutating func takeReplayed(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) {
        if replay?.holdsProbes ?? false { noteDevice(event) }
        if header.flags.contains(.multi), let subjects = replay?.answer(header.sequence, at: now) {
            for subject in subjects { assembly.take(event, header, of: subject, at: now) }
            return
        }
        if !header.flags.contains(.multi) {
            counters.events += 1
            assembly.note(event, header, at: now)
        }
        let effect = snapshot.apply(event, header, at: now)
        noteUplink(event)
        if effect.changed, !event.tellsOfTunnel { tunnels.noteChange() }
        absorb(effect, at: now)
        endAwaiting(event)
        if replay?.endsPreface(at: now) ?? false { beginJudging() }
    }

    private mutating func endReplayed(_ sequence: UInt32, at now: Instant) {
        guard let isLast = replay?.end(sequence, at: now) else { return }
        counters.dumps += 1
        guard isLast else { return }
        let effect = assembly.commit(to: &snapshot)
        noteUplinks()
        absorb(effect, at: now)
        if replay?.isComplete ?? false { beginJudging() }
    }

    /// Supplies what every kernel has and the recording did not tell: the rules for the main and the default table.
    private mutating func beginJudging() {
        isDirty = true
        modelVerdict.invalidate()
        for family in AddressFamily.allCases where snapshot.rules(family).isEmpty {
            for (priority, table) in [(32_766, RouteTableID.main), (32_767, .default)] {
                var rule = RuleMessage(family: family)
                rule.priority = UInt32(priority)
                rule.table = table
                let header = NetlinkHeader(length: 0, type: 0, flags: [], sequence: 0, port: 0)
                snapshot.apply(.rule(rule), header, at: .init(nanoseconds: 0))
            }
        }
    }
}
