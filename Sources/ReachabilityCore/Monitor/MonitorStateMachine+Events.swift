extension MonitorStateMachine {
    /// Takes a message that the kernel sent by itself: from the event socket or the uevent socket.
    public mutating func receive(_ event: KernelEvent, _ header: NetlinkHeader, at now: Instant) {
        counters.events += 1
        noteDevice(event)
        assembly.note(event, header, at: now)
        let isUrgent = !canPostpone || relevance.concerns(event, snapshot, evaluation)
        let effect = snapshot.apply(event, header, at: now)
        noteUplink(event)
        if effect.changed { tunnels.noteChange() }
        if case .ignored = event { tunnels.noteHiddenChange(at: now) }
        let wasDirty = isDirty
        let isPostponed = !isUrgent && !wasDirty
        absorb(effect, about: event.onlyFamily, explains: !isPostponed, at: now)
        if needsAnswers, !effect.changed, let reason = event.likelyReason { suspect(reason) }
        guard isDirty else { return }
        if isPostponed { postpone(effect.reasons, at: now) } else { urgentEvents += 1 }
    }

    /// Whether a message may wait that hardly alters the verdict: there is one, and the next is not under way.
    private var canPostpone: Bool { confirms && publisher.hasPublished && !isDirty && undecidedSince == nil }

    /// Judges a little later, together with what else has come by then; what is judged before has its own reasons.
    private mutating func postpone(_ reasons: [Reason], at now: Instant) {
        isDirty = false
        for reason in reasons where !postponedReasons.contains(reason) { postponedReasons.append(reason) }
        // Judging looks at every address, the more the more interfaces there are.
        postponed = postponed ?? now.advanced(by: Self.leisure + Self.leisurePerLink * snapshot.links.count)
    }

    /// How long a message may wait that hardly alters the verdict.
    private static let leisure = Duration.milliseconds(50)
    private static let leisurePerLink = Duration.microseconds(100)

    /// Asks the kernel anew after a message that changed nothing in a model which is not, or not wholly, true.
    private mutating func suspect(_ reason: Reason) {
        isDirty = true
        hasCurrentAnswers = false
        publisher.note([reason])
    }

    /// Counts a datagram that did not come from the kernel, and that nobody believed.
    public mutating func ignoreForeign() { counters.foreign += 1 }

    /// Counts a message that could not be decoded.
    public mutating func ignoreMalformed() { counters.malformed += 1 }

    /// Learns that the kernel dropped messages because the event socket's buffer was full, or that one was cut off.
    ///
    /// What is still queued there is older than the loss; everything is read again, and only the net difference is
    /// published.
    public mutating func overrun(at now: Instant) {
        counters.overruns += 1
        resync(.overrun)
    }

    /// Learns how long the machine was suspended since it was started: `CLOCK_BOOTTIME` minus `CLOCK_MONOTONIC`.
    ///
    /// To be called at the start, and whenever the clocks may have been set.
    public mutating func measureSuspension(_ total: Duration, at now: Instant) {
        defer { suspendedTime = total }
        // The clocks are not read at one moment; a suspension lasts longer than a thread is kept from running between.
        guard let before = suspendedTime, total - before >= .milliseconds(100) else { return }
        counters.suspends += 1
        if var notice = publisher.announce(.suspend, .resumed) {
            notice.suspended = total - before
            notices.append(notice)
        }
        publisher.note([.resumed])
        modelChanges &+= 1
        isDirty = true
        hasCurrentAnswers = false
        questions.ask(at: now, inDetail: true)
    }

    /// Reads everything again because messages were lost; until then the kernel's look-ups are the verdict.
    mutating func resync(_ reason: Reason) {
        if !isResyncing, publisher.published != nil {
            counters.resyncs += 1
            if let notice = publisher.announce(.resync, reason) { notices.append(notice) }
            publisher.note([reason])
            isResyncing = true
        }
        ipv4.distrustModel()
        ipv6.distrustModel()
        devices.forgetAll()
        tunnels.forgetAll()
        assembly.cancel()
        hasFinishedReadings = false
        earlierReadings = [:]
        reading.restart(.loss, with: contestedNeighbours)
        isDirty = true
        hasCurrentAnswers = false
    }

    /// Takes what a message or a reading changed, of one family only or (nil) of both.
    mutating func absorb(
        _ effect: SnapshotEffect,
        about family: AddressFamily? = nil,
        explains: Bool = true,
        at now: Instant
    ) {
        if confirms, !effect.doubts.isEmpty { reading.request(effect.doubts, .doubt) }
        if !effect.roams.isEmpty { report(effect.roams) }
        guard effect.changed || !effect.predictions.isEmpty else { return }
        modelChanges &+= 1
        isDirty = true
        hasCurrentAnswers = false
        modelVerdict.invalidate(family)
        if explains { publisher.note(effect.reasons) }
        if effect.reasons.contains(where: \.isAboutRoutes) {
            routesChanged = true
            relevance.invalidate()
        }
        if !effect.predictions.isEmpty { questions.ask(at: now, inDetail: false) }
    }
}

extension MonitorStateMachine {
    /// Remembers the master of a link that leads out: a bridge that has lost such a port has lost its carrier.
    mutating func noteUplink(_ event: KernelEvent) {
        guard case .link(let message) = event, let link = snapshot.link(message.index) else { return }
        noteUplink(link)
    }

    /// The same of all links, after a reading.
    mutating func noteUplinks() {
        for link in snapshot.links { noteUplink(link) }
    }

    private mutating func noteUplink(_ link: Link) {
        guard let master = link.masterIndex, !snapshot.mastersWithUplink.contains(master) else { return }
        guard UplinkPort.leadsOut(link, in: snapshot, rules: evaluator.context.kindRules) else { return }
        snapshot.mastersWithUplink.insert(master)
    }
}

extension Reason {
    /// Whether other routes may compete now.
    fileprivate var isAboutRoutes: Bool {
        switch self {
        case .routeAdded, .routeRemoved, .routeReplaced, .routeFlushed, .nexthopChanged: true
        default: false
        }
    }
}

extension KernelEvent {
    /// The family that a message is about, if the other's paths can't depend on it.
    ///
    /// A neighbour of one family may be the gateway of the other's routes (RFC 5549).
    fileprivate var onlyFamily: AddressFamily? {
        switch self {
        case .route(let message), .routeRemoved(let message): message.family
        case .rule(let message), .ruleRemoved(let message): message.family
        case .address(let message), .addressRemoved(let message): message.address.family
        case .netconf(let message), .netconfRemoved(let message): message.family
        default: nil
        }
    }

    /// What a message is about, if it may alter the kernel's answers.
    fileprivate var likelyReason: Reason? {
        switch self {
        case .route: .routeAdded
        case .routeRemoved: .routeRemoved
        case .rule, .ruleRemoved: .ruleChanged
        case .nexthop, .nexthopRemoved: .nexthopChanged
        case .address: .addressAdded
        case .addressRemoved: .addressRemoved
        case .link: .linkChanged
        case .linkRemoved: .linkRemoved
        case .neighbour, .neighbourRemoved: .neighbourChanged
        case .netconf, .netconfRemoved: .settingChanged
        case .traffic, .uevent, .family, .familiesRequested, .wireless, .wireGuard, .team, .l2tp: nil
        case .done, .error, .overrun, .request, .ignored: nil
        }
    }
}
