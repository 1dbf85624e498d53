package import ValidationCore

/// A validation report for other processes and for people, with times of the calendar.
///
/// Its form in JSON is the member `validation` of events (``json``).
package struct ValidationSummary: Sendable, Hashable {
    /// The verdict.
    package var verdict: ValidationVerdict
    /// When the verdict began; it may have been confirmed since.
    package var since: Timestamp
    /// The time of the oldest of the answers on which the verdict rests; nil without evidence.
    package var checkedAt: Timestamp?
    /// The evidence for the verdict.
    package var basis: ValidationBasis
    /// The path that the verdict is about; nil if there is none.
    package var path: ValidationPath?
    /// The endpoints that were asked and did not answer as configured.
    package var trouble: [EndpointTrouble]
    /// The event since then after which the verdict needs revalidation; nil if there was none.
    package var pendingTrigger: ValidationTrigger?
    /// When the session ends that the portal has granted; nil if that is not known.
    package var sessionEnd: Timestamp?
    /// The number of bytes that the session had left; nil if that is not known.
    package var bytesLeft: Int64?

    /// Creates a summary; the properties describe the parameters.
    package init(
        verdict: ValidationVerdict,
        since: Timestamp,
        checkedAt: Timestamp? = nil,
        basis: ValidationBasis = .none,
        path: ValidationPath? = nil,
        trouble: [EndpointTrouble] = [],
        pendingTrigger: ValidationTrigger? = nil,
        sessionEnd: Timestamp? = nil,
        bytesLeft: Int64? = nil
    ) {
        self.verdict = verdict
        self.since = since
        self.checkedAt = checkedAt
        self.basis = basis
        self.path = path
        self.trouble = trouble
        self.pendingTrigger = pendingTrigger
        self.sessionEnd = sessionEnd
        self.bytesLeft = bytesLeft
    }
}

/// The evidence for a verdict.
package enum ValidationBasis: String, Sendable, Hashable, CaseIterable {
    /// Nothing.
    case none
    /// The endpoints' answers.
    case probes
    /// A request of the program itself.
    case traffic
    /// The API of the captive portal that the network has announced.
    case portalAPI
}

/// An endpoint that did not answer as configured.
package struct EndpointTrouble: Sendable, Hashable {
    /// The endpoint, as a user would write it.
    package var endpoint: String
    /// The kind of trouble.
    package var meaning: Meaning
    /// The fault, or the page of a portal; nil if the kind says it all.
    package var detail: String?

    /// Creates a description.
    package init(endpoint: String, meaning: Meaning, detail: String? = nil) {
        self.endpoint = endpoint
        self.meaning = meaning
        self.detail = detail
    }

    /// The kinds of trouble.
    package enum Meaning: String, Sendable, Hashable, CaseIterable {
        /// The endpoint itself has answered, but not as configured.
        case fault
        /// A portal has answered in its place.
        case portal
        /// Another has answered with a certificate of its own.
        case interception
        /// A proxy requires credentials.
        case proxyLogin
        /// The answer allows no conclusion.
        case inconclusive
        /// The time was up.
        case timedOut
        /// The connection was refused.
        case refused
        /// A router or the kernel reports that there is no way.
        case unreachable
        /// The connection was cut.
        case connectionCut
        /// No name server answers, or it can't resolve.
        case nameServer
        /// The name does not exist for the name server.
        case unknownName
    }
}

// MARK: - Reports

extension ValidationSummary {
    /// The maximum length of a portal's URL in bytes.
    ///
    /// A longer one is replaced by that of its server, which most likely leads to the same page.
    package static let maximumURLLength = 2048
    /// The maximum number of characters of what was wrong with an answer.
    package static let maximumDetailLength = 256

    /// Summarizes a report.
    ///
    /// - Parameters:
    ///   - report: The report.
    ///   - now: The current time of the clock that the report uses.
    ///   - time: The same moment of the calendar, from which the other times follow.
    package init(_ report: ValidationReport, at now: ValidationInstant, is time: Timestamp) {
        let clock = { (instant: ValidationInstant) in time.advanced(by: now.duration(to: instant)) }
        self.init(
            verdict: Self.limited(report.verdict),
            since: clock(report.since),
            checkedAt: report.checkedAt.map(clock),
            basis: .init(report.evidence),
            path: report.path,
            trouble: Self.trouble(in: report.evidence),
            pendingTrigger: report.pendingTrigger,
            sessionEnd: report.session?.end.map(clock),
            bytesLeft: report.session?.bytesLeft
        )
    }

    private static func trouble(in evidence: ValidationEvidence) -> [EndpointTrouble] {
        guard case .probes(let findings) = evidence else { return [] }
        return findings.compactMap(EndpointTrouble.init)
    }

    /// Limits what strangers chose, so that a line with it is not longer than its reader takes.
    private static func limited(_ verdict: ValidationVerdict) -> ValidationVerdict {
        switch verdict {
        case .portal(let portal):
            .portal(.init(loginURL: portal.loginURL.flatMap(limitedURL), venueURL: portal.venueURL.flatMap(limitedURL)))
        case .noInternet(.interception(let text)):
            .noInternet(.interception(String(text.prefix(maximumDetailLength))))
        case .validated, .noInternet, .notChecked: verdict
        }
    }

    /// Returns a URL; of a long one, that of its server; nil if that is too long as well.
    private static func limitedURL(_ url: String) -> String? {
        guard url.utf8.count > maximumURLLength else { return url }
        let parts = url.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        let origin = parts.prefix(3).joined(separator: "/") + "/"
        return origin.utf8.count > maximumURLLength ? nil : origin
    }
}

extension ValidationBasis {
    fileprivate init(_ evidence: ValidationEvidence) {
        switch evidence {
        case .none: self = .none
        case .probes: self = .probes
        case .traffic: self = .traffic
        case .portalAPI: self = .portalAPI
        }
    }
}

extension EndpointTrouble {
    /// Describes what was found; nil if the endpoint has answered as configured.
    fileprivate init?(_ finding: EndpointFinding) {
        guard let (meaning, detail) = Self.parts(of: finding.meaning) else { return nil }
        let text = detail.map { String($0.prefix(ValidationSummary.maximumDetailLength)) }
        self.init(endpoint: "\(finding.endpoint)", meaning: meaning, detail: text)
    }

    private static func parts(of meaning: ProbeMeaning) -> (Meaning, String?)? {
        switch meaning {
        case .succeeded: nil
        case .endpointFault(let text): (.fault, text)
        case .portal(let url): (.portal, url)
        case .interception(let text): (.interception, text)
        case .proxyLogin: (.proxyLogin, nil)
        case .inconclusive(let text): (.inconclusive, text)
        case .failed(let failure): (self.meaning(of: failure), nil)
        }
    }

    private static func meaning(of failure: ProbeFailure) -> Meaning {
        switch failure {
        case .timedOut: .timedOut
        case .refused: .refused
        case .unreachable: .unreachable
        case .connectionCut: .connectionCut
        case .nameServer: .nameServer
        case .unknownName: .unknownName
        }
    }
}
