/// A verdict with its age and the evidence for it.
public struct ValidationReport: Sendable, Hashable {
    /// The verdict.
    public var verdict: ValidationVerdict
    /// The path that it is about; nil if there is none.
    public var path: ValidationPath?
    /// When this verdict began; it may have been confirmed since.
    public var since: ValidationInstant
    /// The time of the oldest of the answers on which the verdict rests, in the newest evidence.
    ///
    /// Nil without evidence.
    public var checkedAt: ValidationInstant?
    /// The evidence.
    public var evidence: ValidationEvidence
    /// The event since then after which the verdict needs revalidation; nil if there was none.
    ///
    /// It stays until a probe has been answered: on a metered path, that may be until somebody asks for one.
    public var pendingTrigger: ValidationTrigger?
    /// The limits of the session that a portal has granted; nil if none are known.
    public var session: PortalSession?
    /// The translator of a path without IPv4; nil for other paths, and if none was found.
    ///
    /// Name servers are asked for it together with the endpoints: a path that is not probed may have one all the same.
    public var nat64: NAT64Discovery?

    /// Creates a report.
    public init(
        verdict: ValidationVerdict,
        path: ValidationPath?,
        since: ValidationInstant,
        checkedAt: ValidationInstant? = nil,
        evidence: ValidationEvidence = .none,
        pendingTrigger: ValidationTrigger? = nil,
        session: PortalSession? = nil,
        nat64: NAT64Discovery? = nil
    ) {
        self.verdict = verdict
        self.path = path
        self.since = since
        self.checkedAt = checkedAt
        self.evidence = evidence
        self.pendingTrigger = pendingTrigger
        self.session = session
        self.nat64 = nat64
    }

    /// Returns how long ago the evidence was obtained; nil without evidence.
    public func age(at now: ValidationInstant) -> Duration? { checkedAt.map { max($0.duration(to: now), .zero) } }

    /// The endpoints that did not answer as configured although the path works: the trouble is theirs.
    public var endpointsInTrouble: [EndpointFinding] {
        guard verdict == .validated, case .probes(let findings) = evidence else { return [] }
        return findings.filter { !$0.meaning.isProof || $0.meaning.isFault }
    }

    /// Whether addresses can be reached, but names can't be resolved.
    public var isNameServerInTrouble: Bool { endpointsInTrouble.contains { $0.meaning == .failed(.nameServer) } }
}

/// The evidence for a verdict.
public enum ValidationEvidence: Sendable, Hashable {
    /// There is none.
    case none
    /// The endpoints' answers; those that were not asked, or whose answer was not awaited, are missing.
    case probes([EndpointFinding])
    /// A request of the program itself, over https, that was answered.
    case traffic
    /// The API of the captive portal that the network has announced (RFC 8910).
    case portalAPI
}

/// An event after which a path is probed.
public enum ValidationTrigger: String, Sendable, Hashable, CaseIterable {
    /// The path has changed.
    case pathChanged
    /// A request over the path has failed.
    case requestFailed
    /// The kernel reports that the gateway does not answer (NUD_FAILED).
    case gatewayFailed
    /// The network has announced a captive portal (RFC 8910).
    case portalAnnounced
    /// The session that the portal has granted has ended.
    case sessionEnded
    /// A first failure needs confirmation.
    case confirmation
    /// A request over plain HTTP was answered on a path that counts as one without internet.
    case requestSucceeded
}

/// The meaning of an endpoint's response.
public struct EndpointFinding: Sendable, Hashable {
    /// The endpoint.
    public var endpoint: ValidationEndpoint
    /// The meaning.
    public var meaning: ProbeMeaning
    /// When the answer was received, or the timeout elapsed.
    public var time: ValidationInstant

    /// Creates a finding.
    public init(endpoint: ValidationEndpoint, meaning: ProbeMeaning, time: ValidationInstant) {
        self.endpoint = endpoint
        self.meaning = meaning
        self.time = time
    }
}

/// The meaning of an answer, or of its lack.
public enum ProbeMeaning: Sendable, Hashable {
    /// The answer is the expected one.
    case succeeded(ProofStrength)
    /// The endpoint itself has answered, as its certificate proves, but not as configured. The path works.
    case endpointFault(String)
    /// Another has answered in its place, with this page to log in at, if it gave one.
    case portal(String?)
    /// Another has answered in its place with a certificate of its own.
    case interception(String)
    /// A proxy requires credentials.
    case proxyLogin
    /// There was no answer.
    case failed(ProbeFailure)
    /// There was an answer that allows no conclusion.
    case inconclusive(String)

    /// Whether it proves that the path works.
    package var isProof: Bool { strength != nil }

    /// Whether the endpoint is at fault.
    package var isFault: Bool { if case .endpointFault = self { true } else { false } }

    /// How strongly it proves that the path works; nil if it does not.
    package var strength: ProofStrength? {
        switch self {
        case .succeeded(let strength): strength
        case .endpointFault: .authenticated
        case .portal, .interception, .proxyLogin, .failed, .inconclusive: nil
        }
    }
}

/// How strongly an answer proves that it came from the endpoint itself.
public enum ProofStrength: UInt8, Sendable, Hashable, CaseIterable, Comparable {
    /// Something accepted a connection, or a name server answered: a portal lets that happen.
    case connection
    /// The expected content, over plain HTTP.
    case content
    /// The expected certificate.
    case authenticated

    /// Orders from weak to strong.
    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Why there was no answer.
public enum ProbeFailure: Sendable, Hashable {
    /// The time is up.
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
