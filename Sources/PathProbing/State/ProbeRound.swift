import ValidationCore

/// One round of probes: the captive portal's API if the network has announced one, then the first endpoint, and the others if
/// that does not settle the matter.
///
/// Before it begins, it may await the translator without which IPv4 addresses can't be asked.
struct ProbeRound: Sendable, Hashable {
    /// The number by which answers are told from those of earlier rounds.
    let number: UInt64
    /// Whether somebody asked for it, who awaits its end.
    var isOnDemand: Bool
    /// The findings, in the order of the endpoints; nil for those that are missing.
    private(set) var findings: [EndpointFinding?]
    /// Whether the reply of the portal's API is awaited.
    private(set) var awaitsPortal = false
    /// Whether the prefix of a translator is awaited.
    private(set) var awaitsTranslator = false
    /// The URI of the portal's API; nil if the network has announced none.
    let portalURL: String?
    private let endpoints: [ValidationEndpoint]
    private let timeout: Duration
    private let secondOpinionDelay: Duration
    /// The number of endpoints that were asked.
    private var askedCount = 0
    /// When the others are asked, even if the first has not answered.
    private var secondOpinionTime: ValidationInstant?
    /// When those that have not answered count as silent.
    private var deadline: ValidationInstant?
    /// Whether ``extend(at:)`` has set the deadline once.
    private var isExtended = false

    /// Creates a round.
    init(number: UInt64, isOnDemand: Bool, portalURL: String?, _ configuration: ValidationConfiguration) {
        self.number = number
        self.portalURL = portalURL
        self.isOnDemand = isOnDemand
        endpoints = configuration.endpoints
        timeout = configuration.timeout
        secondOpinionDelay = configuration.secondOpinionDelay
        findings = .init(repeating: nil, count: endpoints.count)
    }

    /// The next time at which ``advance(to:)`` has to be called.
    var wakeUp: ValidationInstant? { [secondOpinionTime, deadline].compactMap(\.self).min() }

    /// Whether nothing more is asked or awaited.
    var isFinished: Bool {
        guard !isWaiting else { return false }
        return received.contains { $0.meaning.isProof } || findings.allSatisfy { $0 != nil }
    }

    /// Whether something is awaited before the endpoints are asked.
    var isWaiting: Bool { awaitsPortal || awaitsTranslator }

    /// The findings that there are.
    var received: [EndpointFinding] { findings.compactMap(\.self) }

    /// Awaits the prefix of a translator, for as long as the first endpoint is awaited before others are asked.
    mutating func awaitTranslator(at now: ValidationInstant) {
        awaitsTranslator = true
        deadline = now.advanced(by: secondOpinionDelay)
    }

    /// Begins with the portal's API.
    mutating func askPortal(at now: ValidationInstant) {
        (awaitsTranslator, awaitsPortal) = (false, true)
        deadline = now.advanced(by: timeout)
    }

    /// Begins with the first endpoint; returns the positions of the endpoints to ask now.
    mutating func askFirst(at now: ValidationInstant) -> Range<Int> {
        (awaitsTranslator, awaitsPortal) = (false, false)
        secondOpinionTime = endpoints.count > 1 ? now.advanced(by: secondOpinionDelay) : nil
        return ask(1, at: now)
    }

    /// Records a finding; returns the positions of the endpoints to ask now.
    mutating func receive(_ meaning: ProbeMeaning, from position: Int, at now: ValidationInstant) -> Range<Int> {
        guard position < askedCount, findings[position] == nil else { return 0..<0 }
        findings[position] = .init(endpoint: endpoints[position], meaning: meaning, time: now)
        if meaning.isProof { return 0..<0 }
        // A portal answers quickly; what it does not let through may take as long as the timeout.
        if case .portal = meaning, let deadline {
            self.deadline = min(deadline, now.advanced(by: secondOpinionDelay))
            return ask(endpoints.count, at: now, until: self.deadline)
        }
        return ask(endpoints.count, at: now)
    }

    /// Does what is due; returns the positions of the endpoints to ask now.
    ///
    /// An earlier step that is still awaited is given up by the caller, who sees ``isWaiting`` after ``isOverdue(at:)``.
    mutating func advance(to now: ValidationInstant) -> Range<Int> {
        if isOverdue(at: now) {
            for position in 0..<askedCount where findings[position] == nil {
                findings[position] = .init(endpoint: endpoints[position], meaning: .failed(.timedOut), time: now)
            }
            return ask(endpoints.count, at: now)
        }
        guard let secondOpinionTime, secondOpinionTime <= now else { return 0..<0 }
        return ask(endpoints.count, at: now)
    }

    /// Sets the deadline again if it has passed, as if what has not been answered were asked now; only once.
    mutating func extend(at now: ValidationInstant) {
        guard isOverdue(at: now), !isExtended else { return }
        isExtended = true
        deadline = now.advanced(by: awaitsTranslator ? secondOpinionDelay : timeout)
    }

    /// Whether what was asked should have been answered.
    func isOverdue(at now: ValidationInstant) -> Bool { deadline.map { $0 <= now } ?? false }

    private mutating func ask(
        _ count: Int,
        at now: ValidationInstant,
        until end: ValidationInstant? = nil
    ) -> Range<Int> {
        let positions = askedCount..<max(min(count, endpoints.count), askedCount)
        askedCount = positions.upperBound
        if askedCount == endpoints.count { secondOpinionTime = nil }
        if !positions.isEmpty { deadline = end ?? now.advanced(by: timeout) }
        return positions
    }
}
