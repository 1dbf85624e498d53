package import ReachabilityCore
package import ValidationCore

/// The observation of a probe, before it is interpreted.
package enum ProbeOutcome: Sendable, Hashable {
    /// An HTTP response.
    case response(ObservedResponse)
    /// A connection; with TLS, the certificate was accepted.
    case connected(isAuthenticated: Bool)
    /// A certificate that was not accepted, and what was wrong with it.
    case certificateRefused(String)
    /// A certificate that is out of date, or not valid yet: the endpoint's, or this machine's clock is wrong.
    case certificateOutdated(String)
    /// The answer of a name server: the response code (RFC 1035, 4.1.1), and the addresses.
    case nameAnswer(code: UInt8, addresses: [IPAddress])
    /// A proxy answered with 407.
    case proxyLogin
    /// There was no answer.
    case failed(ProbeFailure)
    /// This machine could not ask, or the answer violates the protocol.
    case unusable(String)
}

/// The parts of an HTTP response on which its meaning depends.
package struct ObservedResponse: Sendable, Hashable {
    /// The status.
    package var status: Int
    /// The value of `Location`.
    package var location: String?
    /// The first bytes of the body, at least ``bodyLimit`` of them if it has as many.
    package var body: [UInt8]
    /// Whether the connection was lost before the body was complete.
    package var isCutOff: Bool

    /// The number of bytes of a body that are compared.
    package static let bodyLimit = 4096

    /// Creates a response.
    package init(status: Int, location: String? = nil, body: [UInt8] = [], isCutOff: Bool = false) {
        self.status = status
        self.location = location
        self.body = body
        self.isCutOff = isCutOff
    }
}

// MARK: - Meaning

extension ProbeMeaning {
    /// Interprets what a probe of an endpoint has observed.
    package init(_ outcome: ProbeOutcome, of endpoint: ValidationEndpoint) {
        switch (outcome, endpoint.probe) {
        case (.response(let response), .http(let url, let expectation)):
            self = EndpointURL(url).map { Self.meaning(of: response, from: $0, expectation) } ?? .inconclusive("no URL")
        case (.nameAnswer(let code, let addresses), .dns(_, _, let expectation)):
            self = Self.meaning(ofCode: code, addresses, expectation)
        case (.connected(let isAuthenticated), _): self = .succeeded(isAuthenticated ? .authenticated : .connection)
        case (.certificateRefused(let text), _): self = .interception(text)
        case (.certificateOutdated(let text), _): self = .inconclusive(text)
        case (.proxyLogin, _): self = .proxyLogin
        case (.failed(let failure), _): self = .failed(failure)
        case (.unusable(let text), _): self = .inconclusive(text)
        case (.response, _), (.nameAnswer, _): self = .inconclusive("an answer to another question")
        }
    }

    private static func meaning(
        of response: ObservedResponse,
        from url: EndpointURL,
        _ expectation: ValidationEndpoint.HTTPExpectation
    ) -> Self {
        if response.status == 407 { return .proxyLogin }
        let isExpected = expectation.isMet(by: response)
        if url.isSecure {
            let fault = "status \(response.status), or a body, that is not the configured one"
            return isExpected ? .succeeded(.authenticated) : .endpointFault(fault)
        }
        if expectation.isBeginning(of: response) { return .failed(.connectionCut) }
        guard isExpected else { return foreign(response, from: url) }
        guard expectation.identifiesServer(by: response) else {
            return .inconclusive("a portal may answer so, too: expect status 204 or a body")
        }
        return .succeeded(.content)
    }

    /// Interprets an unexpected answer over plain HTTP, which anyone on the path may have given.
    private static func foreign(_ response: ObservedResponse, from url: EndpointURL) -> Self {
        switch response.status {
        // Network Authentication Required (RFC 6585, 6).
        case 511: return .portal(response.location.flatMap(url.resolving)?.text)
        case 300..<400: return redirect(response, from: url)
        // An intermediary may turn 204 into 200 without a body; a portal has something to show.
        case 200..<300 where !response.body.isEmpty: return .portal(nil)
        default: return .inconclusive("status \(response.status)")
        }
    }

    /// A server that moves to https redirects to itself, perhaps on another port; a portal, to its own page.
    private static func redirect(_ response: ObservedResponse, from url: EndpointURL) -> Self {
        guard let location = response.location, let target = url.resolving(location) else {
            return .inconclusive("status \(response.status) without a usable Location")
        }
        let isUpgrade = target.isSecure && target.host == url.host && target.target == url.target
        return isUpgrade ? .inconclusive("it redirects to https: configure that URL") : .portal(target.text)
    }

    /// NOERROR is 0, NXDOMAIN 3 (RFC 1035, 4.1.1); with any other code the server could not find out.
    private static func meaning(
        ofCode code: UInt8,
        _ addresses: [IPAddress],
        _ expectation: ValidationEndpoint.DNSExpectation
    ) -> Self {
        switch (code, expectation) {
        case (0, .anyAnswer), (3, .anyAnswer), (3, .nameError): return .succeeded(.connection)
        case (3, .addresses): return .failed(.unknownName)
        case (0, _) where addresses.isEmpty: return .inconclusive("the name has no address")
        case (0, .addresses(let expected)):
            return expected.isSuperset(of: addresses) ? .succeeded(.connection) : .portal(nil)
        case (0, .nameError): return .portal(nil)
        default: return .failed(.nameServer)
        }
    }
}

extension ValidationEndpoint.HTTPExpectation {
    /// Returns whether a response is the expected one.
    fileprivate func isMet(by response: ObservedResponse) -> Bool {
        switch self {
        case .status(let status): response.status == status
        case .body(let text): response.status == 200 && Self.trimmed(response.body) == Self.trimmed(Array(text.utf8))
        }
    }

    /// Returns whether the expected response over plain HTTP could only have come from the server, unless it is imitated.
    ///
    /// A portal redirects, or has a page for every request. It answers neither with 204 nor with a body that was agreed on.
    fileprivate func identifiesServer(by response: ObservedResponse) -> Bool {
        switch self {
        case .body: true
        case .status(200..<300): response.body.isEmpty && !response.isCutOff
        case .status(let status): !(300..<400).contains(status)
        }
    }

    /// Returns whether a response was cut off before the expected body was complete.
    fileprivate func isBeginning(of response: ObservedResponse) -> Bool {
        guard case .body(let text) = self, response.status == 200, response.isCutOff, !isMet(by: response) else {
            return false
        }
        return text.utf8.starts(with: response.body)
    }

    private static func trimmed(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        let end = bytes.lastIndex { ![0x09, 0x0A, 0x0D, 0x20].contains($0) }
        return end.map { bytes[...$0] } ?? []
    }
}
