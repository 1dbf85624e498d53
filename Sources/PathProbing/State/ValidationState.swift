import ReachabilityCore
package import ValidationCore

/// Decides when the current path is probed, what the answers mean, and what is published.
///
/// It has no clock and sends nothing: events come in with their time, and each returns the actions to perform. The caller also
/// calls ``advance(to:)`` at ``wakeUp(after:)``; if it could not do so in time, it calls ``extendRound(at:)`` before.
///
/// - A round of probes follows a ``ValidationTrigger``. While the path is validated and there is none, nothing is sent.
/// - While it is not validated, rounds are repeated after pauses that grow.
/// - A metered path is probed on demand only, unless the configuration allows more.
/// - While requests wait for the verdict, rounds are on demand: also on a metered path, and whatever the budget. The pauses stay.
/// - A request that was answered over https is as good as a probe. One over plain HTTP is not: a portal answers those, too.
/// - A path that was validated does not lose its verdict by one silent round, unless a router or gateway reports a failure.
package struct ValidationState: Sendable {
    private let configuration: ValidationConfiguration
    /// The verdict on the current path, with its evidence.
    package private(set) var report: ValidationReport
    /// The number of the current path, by which events about requests are told from those of earlier paths.
    package private(set) var pathNumber: UInt64 = 0
    private var pacing: ProbePacing
    private var round: ProbeRound?
    private var roundCount: UInt64 = 0
    private var announcements: [InterfaceIndex: NetworkAnnouncements] = [:]
    /// Whether the portal's API was announced after the round began, or was not asked for another reason.
    private var isPortalUnasked = false
    /// The findings from the name servers of the current path.
    private var revelation = Revelation.unknown
    /// The number of checks that await the end of the round.
    private var checkCount = 0
    /// Whether requests wait until the path is validated.
    private var isDemanded = false
    /// The number of rounds in succession that did not confirm that the path is validated.
    private var failureCount = 0
    private var gatewayHasFailed = false
    /// Whether a plain HTTP request has ended a pause since the verdict began; one may.
    private var hasEndedPause = false
    private var actions: [ValidationAction] = []

    /// The findings of name servers on a translator.
    private enum Revelation: Hashable {
        /// None was asked, or none has answered.
        case unknown
        case awaited
        case prefix(NAT64Prefix?)
    }

    /// The duration of a verdict from which its end makes pauses short again.
    private static let steadyTime = Duration.seconds(60)

    /// Creates a state without a path.
    package init(_ configuration: ValidationConfiguration, at now: ValidationInstant) {
        self.configuration = configuration
        pacing = .init(configuration)
        report = .init(verdict: .notChecked, path: nil, since: now)
    }

    /// Whether the path was asked about without a conclusion, or there is nothing to ask.
    package var isInconclusive: Bool {
        report.verdict == .notChecked && report.path != nil && (report.evidence != .none || !canAsk)
    }

    /// Returns the next time at which ``advance(to:)`` has to be called; nil if only an event can change anything.
    package func wakeUp(after now: ValidationInstant) -> ValidationInstant? {
        [round?.wakeUp, nextRound(at: now), report.session?.end, translatorEnd(at: now)].compactMap(\.self).min()
    }

    /// Handles an event.
    ///
    /// - Returns: The actions, in their order.
    package mutating func receive(_ event: ValidationEvent, at now: ValidationInstant) -> [ValidationAction] {
        switch event {
        case .pathChanged(let path): pathChanged(path, at: now)
        case .gatewayFailed(let address, let interface): gatewayFailed(address, interface)
        case .requestSucceeded(let path, let isAuthenticated): requestSucceeded(on: path, isAuthenticated, at: now)
        case .requestFailed(let path): requestFailed(on: path)
        case .portalAnnounced(let url, let interface, let source): portalAnnounced(url, interface, by: source)
        case .translatorAnnounced(let prefix, let lifetime, let interface):
            let end = now.advanced(by: lifetime)
            announcements[interface, default: .init()].announceTranslator(prefix, until: end, at: now)
        case .translatorFound(let path, let prefixes): translatorFound(prefixes, on: path, at: now)
        case .checkRequested: checkRequested(at: now)
        case .demandChanged(let isDemanded): self.isDemanded = isDemanded
        case .answered(let number, let position, let outcome): answered(number, position, outcome, at: now)
        case .portalReplied(let number, let reply): portalReplied(number, reply, at: now)
        }
        return advance(to: now)
    }

    /// Extends the round of probes if its time is up, because the process did not run when it was: answers may have arrived
    /// that are yet to be handled.
    ///
    /// A round is extended only once, so that it also ends on a machine that is always late.
    package mutating func extendRound(at now: ValidationInstant) { round?.extend(at: now) }

    /// Does what is due.
    ///
    /// - Returns: The actions, in their order.
    package mutating func advance(to now: ValidationInstant) -> [ValidationAction] {
        updateTranslator(at: now)
        advanceRound(to: now)
        endSession(at: now)
        if let time = nextRound(at: now), time <= now { startRound(isOnDemand: false, at: now) }
        defer { actions = [] }
        return actions
    }
}

// MARK: - Events

extension ValidationState {
    private mutating func pathChanged(_ path: ValidationPath?, at now: ValidationInstant) {
        guard path != report.path else { return }
        cancelRound()
        // What a router announces precedes the path, and ends with it.
        if let old = report.path?.interface { leave(old, for: path?.interface) }
        pathNumber += 1
        pacing.reset()
        (isPortalUnasked, revelation) = (false, .unknown)
        clearPendingTrigger()
        report = .init(verdict: .notChecked, path: path, since: now, pendingTrigger: path == nil ? nil : .pathChanged)
        report.nat64 = translator(at: now)
        actions.append(.publish(report))
        guard checkCount > 0 else { return }
        if canAsk { startRound(isOnDemand: true, at: now) } else { endChecks() }
    }

    private mutating func leave(_ old: InterfaceIndex, for new: InterfaceIndex?) {
        if old == new { announcements[old]?.announcePortal(nil, by: .lease) } else { announcements[old] = nil }
    }

    private mutating func gatewayFailed(_ address: IPAddress, _ interface: InterfaceIndex) {
        guard let path = report.path, path.interface == interface, path.gateways.contains(address) else { return }
        gatewayHasFailed = true
        if report.verdict == .validated || report.verdict == .notChecked { report.pendingTrigger = .gatewayFailed }
    }

    private mutating func requestSucceeded(on path: UInt64, _ isAuthenticated: Bool, at now: ValidationInstant) {
        guard path == pathNumber, report.path != nil else { return }
        guard isAuthenticated else { return hintOfRecovery() }
        if round?.isOnDemand == false { cancelRound() }
        isPortalUnasked = false
        shortenPauses(before: .validated, at: now)
        set(.validated, .traffic, checkedAt: now, at: now)
    }

    /// A portal answers plain HTTP, too; where nothing was answered before, it is a reason to probe earlier.
    private mutating func hintOfRecovery() {
        guard case .noInternet = report.verdict, !hasEndedPause else { return }
        hasEndedPause = true
        report.pendingTrigger = .requestSucceeded
        pacing.endPause()
    }

    private mutating func requestFailed(on path: UInt64) {
        guard path == pathNumber, report.path != nil, report.pendingTrigger == nil else { return }
        if report.verdict == .validated || report.verdict == .notChecked { report.pendingTrigger = .requestFailed }
    }

    private mutating func portalAnnounced(_ url: String, _ interface: InterfaceIndex, by source: AnnouncementSource) {
        let old = announcements[interface]?.portalURL
        let usable = PortalURL.isUsable(url) ? url : nil
        announcements[interface, default: .init()].announcePortal(usable, by: source)
        guard report.path?.interface == interface, announcement != old else { return }
        isPortalUnasked = announcement != nil
        guard isPortalUnasked else { return }
        report.pendingTrigger = .portalAnnounced
        pacing.endPause()
    }

    private mutating func checkRequested(at now: ValidationInstant) {
        checkCount += 1
        guard canAsk else { return endChecks() }
        if round == nil { startRound(isOnDemand: true, at: now) }
        round?.isOnDemand = true
    }

    private mutating func answered(
        _ number: UInt64,
        _ position: Int,
        _ outcome: ProbeOutcome,
        at now: ValidationInstant
    ) {
        guard round?.number == number, configuration.endpoints.indices.contains(position) else { return }
        let meaning = ProbeMeaning(outcome, of: configuration.endpoints[position])
        probe(round?.receive(meaning, from: position, at: now) ?? 0..<0, at: now)
        if round?.isFinished == true { concludeRound(at: now) }
    }

    private mutating func portalReplied(_ number: UInt64, _ reply: PortalReply?, at now: ValidationInstant) {
        guard round?.number == number, round?.awaitsPortal == true else { return }
        if let reply, reply.isCaptive {
            let portal = CaptivePortal(loginURL: reply.loginURL, venueURL: reply.venueURL)
            shortenPauses(before: .portal(portal), at: now)
            endRound(at: now)
            return set(.portal(portal), .portalAPI, checkedAt: now, at: now)
        }
        if reply != nil, report.evidence == .portalAPI { withdraw(at: now) }
        if let session = reply?.session(at: now), report.session != session {
            report.session = session
            actions.append(.publish(report))
        }
        probe(round?.askFirst(at: now) ?? 0..<0, at: now)
        if round?.isFinished == true { concludeRound(at: now) }
    }

    private mutating func translatorFound(
        _ prefixes: [NAT64Prefix]?,
        on path: UInt64,
        at now: ValidationInstant
    ) {
        guard path == pathNumber, revelation == .awaited else { return }
        revelation = prefixes.map { .prefix($0.first) } ?? .unknown
        updateTranslator(at: now)
        if round?.awaitsTranslator == true { beginRound(at: now) }
    }

    /// Ends the verdict that there is a portal, because the portal says so; that the path works is not known yet.
    private mutating func withdraw(at now: ValidationInstant) {
        report.verdict = .notChecked
        report.evidence = .none
        report.checkedAt = nil
        report.since = now
        actions.append(.publish(report))
    }

    private mutating func endSession(at now: ValidationInstant) {
        guard let end = report.session?.end, end <= now else { return }
        report.session = nil
        report.pendingTrigger = report.pendingTrigger ?? .sessionEnded
        actions.append(.publish(report))
    }
}

// MARK: - Rounds

extension ValidationState {
    /// Whether there is anything to ask on the current path.
    private var canAsk: Bool { report.path != nil && roundSize > 0 }

    private var announcement: String? { report.path.flatMap { announcements[$0.interface]?.portalURL } }

    /// Whether the name servers are to be asked for a translator, with the next round.
    private var needsTranslator: Bool {
        report.path?.isIPv6Only == true && report.nat64 == nil && revelation == .unknown
            && !configuration.endpoints.isEmpty
    }

    /// The maximum number of probes of a round.
    private var roundSize: Int {
        configuration.endpoints.count + (announcement == nil ? 0 : 1) + (needsTranslator ? 1 : 0)
    }

    /// Returns when the next round may begin that nobody asks for; nil if none is needed or allowed.
    private func nextRound(at now: ValidationInstant) -> ValidationInstant? {
        guard round == nil, canAsk, let path = report.path else { return nil }
        guard !path.isMetered || configuration.probesMeteredPaths || isDemanded else { return nil }
        guard report.pendingTrigger != nil || report.verdict != .validated else { return nil }
        return isDemanded ? pacing.earliestTimeOnDemand(at: now) : pacing.earliestTime(for: roundSize, at: now)
    }

    private mutating func startRound(isOnDemand: Bool, at now: ValidationInstant) {
        roundCount += 1
        pacing.roundStarted(at: now)
        isPortalUnasked = false
        round = .init(number: roundCount, isOnDemand: isOnDemand, portalURL: announcement, configuration)
        guard needsTranslator else { return beginRound(at: now) }
        revelation = .awaited
        pacing.probeSent(at: now)
        actions.append(.findTranslator(path: pathNumber))
        let needsPrefix = configuration.endpoints.contains { $0.ipv4Address != nil }
        if needsPrefix { round?.awaitTranslator(at: now) } else { beginRound(at: now) }
    }

    private mutating func beginRound(at now: ValidationInstant) {
        guard let url = round?.portalURL else { return probe(round?.askFirst(at: now) ?? 0..<0, at: now) }
        round?.askPortal(at: now)
        pacing.probeSent(at: now)
        actions.append(.askPortal(round: roundCount, url: url))
    }

    private mutating func probe(_ positions: Range<Int>, at now: ValidationInstant) {
        for position in positions {
            pacing.probeSent(at: now)
            actions.append(.probe(round: roundCount, position: position))
        }
    }

    private mutating func advanceRound(to now: ValidationInstant) {
        guard let current = round else { return }
        if current.isWaiting {
            guard current.isOverdue(at: now) else { return }
            return current.awaitsPortal ? portalReplied(current.number, nil, at: now) : beginRound(at: now)
        }
        probe(round?.advance(to: now) ?? 0..<0, at: now)
        if round?.isFinished == true { concludeRound(at: now) }
    }

    private mutating func cancelRound() {
        guard let number = round?.number else { return }
        round = nil
        actions.append(.cancel(round: number))
    }

    private mutating func endRound(at now: ValidationInstant, needsConfirmation: Bool = false) {
        cancelRound()
        pacing.roundEnded(at: now, needsConfirmation: needsConfirmation)
        if isPortalUnasked { pacing.endPause() }
    }

    private mutating func endChecks() {
        guard checkCount > 0 else { return }
        checkCount = 0
        actions.append(.endChecks(report))
    }
}

// MARK: - Translators

extension ValidationState {
    /// Returns the translator of the current path; a router's takes precedence over what a name server reveals (RFC 8781, 5).
    private func translator(at now: ValidationInstant) -> NAT64Discovery? {
        guard let path = report.path, path.isIPv6Only else { return nil }
        if let (prefix, _) = announcements[path.interface]?.translator(at: now) {
            return .init(prefix: prefix, source: .routerAdvertisement)
        }
        guard case .prefix(let prefix?) = revelation else { return nil }
        return .init(prefix: prefix, source: .nameServer)
    }

    /// Returns when the translator that a router has announced ends.
    private func translatorEnd(at now: ValidationInstant) -> ValidationInstant? {
        guard let path = report.path, report.nat64?.source == .routerAdvertisement else { return nil }
        return announcements[path.interface]?.translator(at: now)?.end
    }

    private mutating func updateTranslator(at now: ValidationInstant) {
        let new = translator(at: now)
        guard new != report.nat64 else { return }
        report.nat64 = new
        actions.append(.publish(report))
        // What could not be asked before can be now.
        if new != nil, report.verdict != .validated { pacing.endPause() }
    }
}

// MARK: - Verdicts

extension ValidationState {
    private mutating func concludeRound(at now: ValidationInstant) {
        let findings = round?.received ?? []
        let conclusion = Conclusion(findings.map(\.meaning))
        let supporting = findings.filter { $0.meaning.supports(conclusion) }
        guard let oldest = supporting.map(\.time).min(), let verdict = ValidationVerdict(conclusion) else {
            return endInconclusively(findings, at: now)
        }
        // A request may have been answered while the round ran.
        if verdict != report.verdict, let checkedAt = report.checkedAt, oldest < checkedAt {
            return endInconclusively(findings, at: now)
        }
        if needsConfirmation(conclusion, by: supporting.count) { return postpone(at: now) }
        shortenPauses(before: verdict, at: now)
        endRound(at: now)
        set(verdict, .probes(findings), checkedAt: oldest, at: now)
    }

    /// A round without a conclusion leaves the verdict as it is, and the trigger pending.
    ///
    /// Where there is no verdict, what was tried instead is published, unless it is the same as before.
    private mutating func endInconclusively(_ findings: [EndpointFinding], at now: ValidationInstant) {
        endRound(at: now)
        if report.verdict == .notChecked {
            let old = report.evidence
            report.evidence = .probes(findings)
            if report.evidence.meanings != old.meanings { actions.append(.publish(report)) }
        }
        endChecks()
    }

    /// Whether a path that was validated keeps its verdict for another round.
    private func needsConfirmation(_ conclusion: Conclusion, by count: Int) -> Bool {
        guard report.verdict == .validated, failureCount + 1 < configuration.failuresBeforeLoss else { return false }
        return switch conclusion {
        case .validated, .unknown: false
        case .portal: count < 2
        case .noInternet(_, let isHard): !isHard && !gatewayHasFailed
        }
    }

    private mutating func postpone(at now: ValidationInstant) {
        failureCount += 1
        report.pendingTrigger = .confirmation
        endRound(at: now, needsConfirmation: true)
        // A check is about now: it ends when the failure is confirmed, or refuted.
        if checkCount > 0 { startRound(isOnDemand: true, at: now) }
    }

    private mutating func set(
        _ verdict: ValidationVerdict,
        _ evidence: ValidationEvidence,
        checkedAt: ValidationInstant,
        at now: ValidationInstant
    ) {
        let old = report
        report.verdict = verdict
        report.evidence = evidence
        report.checkedAt = checkedAt
        clearPendingTrigger()
        if case .portal = verdict { report.session = nil }
        if verdict != old.verdict {
            report.since = now
            hasEndedPause = false
        }
        if report.isChange(after: old) { actions.append(.publish(report)) }
        if round == nil { endChecks() }
    }

    /// Makes pauses short again if a verdict that has lasted ends.
    private mutating func shortenPauses(before verdict: ValidationVerdict, at now: ValidationInstant) {
        guard verdict != report.verdict, report.since.duration(to: now) >= Self.steadyTime else { return }
        pacing.reset()
    }

    private mutating func clearPendingTrigger() {
        report.pendingTrigger = isPortalUnasked ? .portalAnnounced : nil
        failureCount = 0
        gatewayHasFailed = false
    }
}

extension ValidationReport {
    /// Whether subscribers want to know, not only those who read the current report.
    fileprivate func isChange(after old: Self) -> Bool {
        verdict != old.verdict || session != old.session
            || endpointsInTrouble.map(\.endpoint) != old.endpointsInTrouble.map(\.endpoint)
    }
}

extension ValidationEvidence {
    /// The answers without their times.
    fileprivate var meanings: [ValidationEndpoint: ProbeMeaning] {
        guard case .probes(let findings) = self else { return [:] }
        return Dictionary(findings.map { ($0.endpoint, $0.meaning) }) { first, _ in first }
    }
}

extension ValidationVerdict {
    /// Makes a verdict of a conclusion; nil if there is none.
    fileprivate init?(_ conclusion: Conclusion) {
        switch conclusion {
        case .validated: self = .validated
        case .portal(let url): self = .portal(.init(loginURL: url))
        case .noInternet(let reason, _): self = .noInternet(reason)
        case .unknown: return nil
        }
    }
}
