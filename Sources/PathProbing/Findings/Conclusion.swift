package import ValidationCore

/// The conclusion from the responses of several endpoints.
///
/// Two endpoints that differ are the trouble of an endpoint, never of the path: a path on which one of them proves to be
/// itself leads to the internet.
package enum Conclusion: Sendable, Hashable {
    /// The path works.
    case validated
    /// A portal answers, with this page to log in at.
    case portal(String?)
    /// The path does not work; hard evidence needs no confirmation.
    case noInternet(NoInternetReason, isHard: Bool)
    /// The answers allow no conclusion.
    case unknown

    /// Combines the meanings of answers.
    ///
    /// The first row that applies counts:
    ///
    /// | the answers | conclusion |
    /// |---|---|
    /// | one with the endpoint's certificate | validated |
    /// | a portal's, and none with the expected content; or a portal's and a foreign certificate | portal |
    /// | one with a foreign certificate | no internet: intercepted |
    /// | one with the expected content | validated |
    /// | a proxy's that requires credentials | no internet: the proxy's login |
    /// | a connection or a name | validated |
    /// | one that allows no conclusion | unknown |
    /// | none | no internet: by the failures |
    ///
    /// - Parameter meanings: The meanings of the answers, in the order of the endpoints.
    package init(_ meanings: [ProbeMeaning]) {
        let strongest = meanings.compactMap(\.strength).max()
        let interception = meanings.lazy.compactMap(\.interceptionText).first
        if strongest == .authenticated {
            self = .validated
        } else if meanings.contains(where: \.isPortal), strongest != .content || interception != nil {
            self = .portal(meanings.lazy.compactMap(\.portalURL).first)
        } else if let interception {
            self = .noInternet(.interception(interception), isHard: true)
        } else if strongest == .content {
            self = .validated
        } else if meanings.contains(.proxyLogin) {
            self = .noInternet(.proxyLogin, isHard: true)
        } else if strongest != nil {
            self = .validated
        } else {
            self.init(failures: meanings)
        }
    }

    /// Concludes from meanings none of which is an answer of the endpoint or of another in its place.
    ///
    /// A refusal, or a name that does not exist, is an answer of something: of one endpoint it says that this is down.
    private init(failures meanings: [ProbeMeaning]) {
        let failures = meanings.compactMap(\.failure)
        guard !failures.isEmpty, failures.count == meanings.count else {
            self = .unknown
            return
        }
        let kinds = Set(failures)
        if failures.count > 1, kinds == [.refused] {
            self = .noInternet(.refused, isHard: true)
        } else if failures.count > 1, kinds == [.unknownName] {
            self = .noInternet(.unknownNames, isHard: false)
        } else if kinds.contains(.refused) || kinds.contains(.unknownName) {
            self = .unknown
        } else {
            self.init(silence: kinds)
        }
    }

    private init(silence kinds: Set<ProbeFailure>) {
        if kinds == [.unreachable] {
            self = .noInternet(.unreachable, isHard: true)
        } else if kinds.contains(.unreachable) {
            self = .noInternet(.unreachable, isHard: false)
        } else if kinds == [.nameServer] {
            self = .noInternet(.nameServer, isHard: false)
        } else {
            self = .noInternet(kinds.contains(.timedOut) ? .noResponse : .connectionCut, isHard: false)
        }
    }
}

extension ProbeMeaning {
    fileprivate var isPortal: Bool { if case .portal = self { true } else { false } }

    fileprivate var portalURL: String? { if case .portal(let url) = self { url } else { nil } }

    fileprivate var interceptionText: String? { if case .interception(let text) = self { text } else { nil } }

    fileprivate var failure: ProbeFailure? { if case .failed(let failure) = self { failure } else { nil } }

    /// Whether the meaning is one on which a conclusion rests.
    package func supports(_ conclusion: Conclusion) -> Bool {
        switch conclusion {
        case .validated: isProof
        case .portal: isPortal
        case .noInternet(.interception, _): interceptionText != nil
        case .noInternet(.proxyLogin, _): self == .proxyLogin
        case .noInternet: failure != nil
        case .unknown: false
        }
    }
}
