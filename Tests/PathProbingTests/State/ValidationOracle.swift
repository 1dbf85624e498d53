import PathProbing
import ReachabilityCore
import ValidationCore

/// Checks a story's promises by what the state was given and what it did, without its decisions.
final class ValidationOracle {
    /// The promises that were broken.
    let faults = Box<[String]>([])
    /// The names of verdicts, triggers and reasons that occurred.
    let seen = Box<Set<String>>([])
    private let configuration: ValidationConfiguration
    private var path: ValidationPath?
    /// When the path began.
    private var pathStart: ValidationInstant?
    /// The observations on this path that were given while their round ran, by their time.
    private var observations: [(time: ValidationInstant, meaning: Meaning)] = []
    private var lastTraffic: ValidationInstant?
    private var sent: [ValidationInstant] = []
    private var lastRoundStart: ValidationInstant?
    /// The round that runs, and the endpoints that were asked.
    private var running: (number: UInt64, asked: [Int])?
    private var hasReason = false
    /// Whether an answer of the round that runs was no proof.
    private var isContested = false
    private var openChecks = 0
    /// Whether requests wait.
    private var isDemanded = false
    /// Whether they did when the round that runs began.
    private var isRoundDemanded = false
    /// Whether a portal was announced since the last round began.
    private var isAnnounced = false
    /// The number of observations when the last trigger came that was not followed by one; nil if there is none.
    private var triggerCount: Int?
    /// The number of the path for which a translator was asked for and is awaited.
    private var translatorPath: UInt64?
    /// When the round began of which only the query for a translator was sent so far.
    private var announcedStart: ValidationInstant?

    private enum Meaning { case proof, portal, trouble }

    init(_ configuration: ValidationConfiguration) { self.configuration = configuration }

    /// Checks one step.
    func check(
        _ input: ValidationStory.Input,
        _ before: ValidationReport,
        _ actions: [ValidationAction],
        _ story: ValidationStory
    ) {
        if case .event(let event) = input { take(event, before, story) }
        note(before, story.now)
        for action in actions { take(action, before, story) }
        checkReport(story.state.report, input, story)
    }

    private func expect(_ holds: Bool, _ promise: @autoclosure () -> String) {
        if !holds { faults.value.append(promise()) }
    }

    // MARK: What is given

    private func take(_ event: ValidationEvent, _ before: ValidationReport, _ story: ValidationStory) {
        switch event {
        case .pathChanged(let new):
            guard new != path else { return }
            (path, pathStart, observations, lastTraffic, hasReason) = (new, story.now, [], nil, true)
            (translatorPath, triggerCount) = (nil, nil)
        case .requestSucceeded(let number, true) where number == story.state.pathNumber && path != nil:
            observations.append((story.now, .proof))
            (lastTraffic, hasReason, isAnnounced) = (story.now, false, false)
        case .requestFailed(let number):
            hasReason = true
            if number == story.state.pathNumber { expectProbe(of: before) }
        case .gatewayFailed(let address, let interface):
            hasReason = true
            if path?.interface == interface, path?.gateways.contains(address) == true { expectProbe(of: before) }
        case .requestSucceeded(_, false): hasReason = true
        case .portalAnnounced: (hasReason, isAnnounced) = (true, true)
        case .translatorFound(let number, _): if number == translatorPath { translatorPath = nil }
        case .translatorAnnounced: break
        case .requestSucceeded: break
        case .checkRequested: openChecks += 1
        case .demandChanged(let isDemanded): self.isDemanded = isDemanded
        case .answered(let round, let position, let outcome): observe(round, position, outcome, story.now)
        case .portalReplied(let round, let reply):
            guard running?.number == round, let reply else { return }
            observations.append((story.now, reply.isCaptive ? .portal : .trouble))
            hasReason = true
        }
    }

    /// From now on the verdict needs revalidation, until something is observed.
    private func expectProbe(of before: ValidationReport) {
        guard path != nil, before.verdict == .validated || before.verdict == .notChecked else { return }
        triggerCount = observations.count
    }

    private func observe(_ round: UInt64, _ position: Int, _ outcome: ProbeOutcome, _ now: ValidationInstant) {
        guard let running, running.number == round, running.asked.contains(position) else { return }
        // A stray answer may be one to another kind of question.
        let isHTTP = if case .http = configuration.endpoints[position].probe { true } else { false }
        switch outcome {
        case .response where !isHTTP: observations.append((now, .trouble))
        case .response(let response) where response.status == 204: observations.append((now, .proof))
        case .connected, .nameAnswer: observations.append((now, .proof))
        case .response: observations.append((now, .portal))
        case .certificateRefused, .certificateOutdated, .proxyLogin, .failed, .unusable:
            observations.append((now, .trouble))
        }
        // A proof ends the round, and with it what was to be found out, unless other answers outweigh it.
        isContested = isContested || observations.last?.meaning != .proof
        hasReason = isContested || isAnnounced
    }

    /// Silence and the end of a session are seen only by time.
    private func note(_ before: ValidationReport, _ now: ValidationInstant) {
        if let end = before.session?.end, end <= now { hasReason = true }
        guard running != nil, let start = lastRoundStart, start.duration(to: now) >= configuration.timeout else {
            return
        }
        observations.append((now, .trouble))
        hasReason = true
    }

    // MARK: What is done

    private func take(_ action: ValidationAction, _ before: ValidationReport, _ story: ValidationStory) {
        switch action {
        case .probe(let round, let position): probe(round, position, before, story)
        case .askPortal(let round, let url):
            expect(url.hasPrefix("https://"), "the portal's API \(url) is asked")
            probe(round, nil, before, story)
        case .findTranslator(let number):
            expect(path?.isIPv6Only == true, "a translator is asked for on a path with IPv4")
            expect(before.nat64 == nil, "a translator is asked for that is known")
            expect(number == story.state.pathNumber && translatorPath != number, "a translator is asked for twice")
            translatorPath = number
            // The query is the beginning of a round.
            (announcedStart, isAnnounced, isRoundDemanded) = (story.now, false, isDemanded)
            pay(story.now)
        case .cancel: (running, announcedStart) = (nil, nil)
        case .publish(let report): expect(report.path == path, "a report is about another path")
        case .endChecks(let report):
            expect(openChecks > 0, "checks end that nobody asked for")
            expect(report == story.state.report || report.path == path, "a check ends with an old report")
            openChecks = 0
        }
    }

    private func probe(_ round: UInt64, _ position: Int?, _ before: ValidationReport, _ story: ValidationStory) {
        let now = story.now
        expect(path != nil, "a probe is sent without a path")
        let isAutomatic = openChecks == 0
        if running?.number != round { start(round, isAutomatic: isAutomatic, before, now) }
        if let position {
            expect(running?.asked.contains(position) == false, "an endpoint is asked twice in a round")
            running?.asked.append(position)
        }
        pay(now)
    }

    /// Checks that a packet may be sent.
    private func pay(_ now: ValidationInstant) {
        sent.append(now)
        guard openChecks == 0, !isRoundDemanded else { return }
        let recent = sent.count { $0.advanced(by: .seconds(86_400)) > now }
        expect(recent <= configuration.probesPerDay, "\(recent) probes in 24 hours")
        expect(path?.isMetered != true || configuration.probesMeteredPaths, "a metered path is probed")
    }

    private func start(_ round: UInt64, isAutomatic: Bool, _ before: ValidationReport, _ now: ValidationInstant) {
        expect(running == nil || before.path != path, "two rounds run at once")
        let begin = announcedStart ?? now
        if isAutomatic, let last = lastRoundStart {
            expect(last.duration(to: begin) >= configuration.minimumInterval, "rounds follow too quickly")
        }
        expect(!isAutomatic || before.verdict != .validated || hasReason, "a path that works is probed")
        running = (round, [])
        isContested = false
        if announcedStart == nil { (isAnnounced, isRoundDemanded) = (false, isDemanded) }
        (lastRoundStart, announcedStart) = (begin, nil)
    }

    // MARK: What is reported

    private func checkReport(_ report: ValidationReport, _ input: ValidationStory.Input, _ story: ValidationStory) {
        remember(report)
        expect(report.path == path, "the report is about another path")
        expect(
            (report.checkedAt == nil) == (report.verdict == .notChecked),
            "\(report.verdict) at \(String(describing: report.checkedAt))"
        )
        expect(report.since <= story.now, "a verdict begins in the future")
        if let count = triggerCount, observations.count > count { triggerCount = nil }
        expect(triggerCount == nil || report.pendingTrigger != nil, "a trigger is forgotten")
        expect(report.nat64 == nil || path?.isIPv6Only == true, "a path with IPv4 has a translator")
        if case .event(.requestSucceeded(let number, true)) = input, number == story.state.pathNumber, path != nil {
            expect(report.verdict == .validated && report.checkedAt == story.now, "traffic does not count")
        }
        guard let checkedAt = report.checkedAt, let pathStart else { return }
        expect(checkedAt >= pathStart && checkedAt <= story.now, "the evidence is not of this path")
        expect(checkedAt >= lastTraffic ?? checkedAt, "evidence of before the last answer contradicts it")
        let meanings = observations.filter { $0.time == checkedAt }.map(\.meaning)
        expect(meanings.contains { Self.supports($0, report.verdict) }, "\(report.verdict) is older than it says")
        checkFindings(report)
    }

    private static func supports(_ meaning: Meaning, _ verdict: ValidationVerdict) -> Bool {
        switch (verdict, meaning) {
        case (.validated, .proof), (.portal, .portal), (.noInternet, .trouble): true
        default: false
        }
    }

    /// Endpoints that differ are never called 'no internet'.
    private func checkFindings(_ report: ValidationReport) {
        guard case .noInternet(let reason) = report.verdict, case .probes(let findings) = report.evidence else {
            return
        }
        switch reason {
        case .interception, .proxyLogin: return
        default: break
        }
        let areFailures = findings.allSatisfy { if case .failed = $0.meaning { true } else { false } }
        expect(areFailures && findings.count == configuration.endpoints.count, "endpoints differ: \(findings)")
    }

    private func remember(_ report: ValidationReport) {
        if let pendingTrigger = report.pendingTrigger { seen.value.insert(pendingTrigger.rawValue) }
        if report.session != nil { seen.value.insert("session") }
        if report.nat64 != nil { seen.value.insert("nat64") }
        if report.evidence == .traffic { seen.value.insert("traffic") }
        if report.evidence == .portalAPI { seen.value.insert("portalAPI") }
        switch report.verdict {
        case .validated: seen.value.insert("validated")
        case .portal: seen.value.insert("portal")
        case .notChecked: seen.value.insert("notChecked")
        case .noInternet(let reason): seen.value.insert(reason.name)
        }
    }

    /// Checks that nothing is stuck, after three days on a path that works.
    func checkEnd(_ story: ValidationStory) {
        expect(openChecks == 0, "a check never ends")
        expect(running == nil, "a round never ends")
        let canProbe = !configuration.endpoints.isEmpty && configuration.endpoints.count <= configuration.probesPerDay
        expect(!canProbe || story.verdict == .validated, "a path that works is \(story.verdict)")
        expect(story.verdict != .validated || story.state.wakeUp(after: story.now) == nil, "a path that works wakes up")
    }
}
