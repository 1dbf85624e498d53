import NIOHTTP1

/// Sends the user's credentials to a proxy that forwards requests (407; RFC 9110, 11.7).
final class ProxyAuthenticationStage: ExchangeStage {
    private unowned let core: SessionCore

    init(_ core: SessionCore) { self.core = core }

    /// Adds `Proxy-Authorization` for a forwarding proxy, and removes it from all other requests.
    func willSend(_ head: inout HTTPRequestHead, _ request: RequestHandle) -> SendDecision {
        let endpoint = request.endpoint
        // A user's transport makes its own connections.
        guard core.configuration.transport == nil else { return .ready }
        guard let proxy = endpoint.proxy, endpoint.isForwarded else {
            head.removeProxyCredentials()
            return .ready
        }
        let proof = core.proxyAuthenticator.proof(
            for: proxy,
            method: head.method.rawValue,
            target: request.current.url.absolute(head.uri),
            hasBody: request.current.hasBody
        )
        guard let proof else { return .ready }
        head.headers.replaceOrAdd(name: "Proxy-Authorization", value: proof.value)
        request.extras.sentProxyProof = proof
        return .ready
    }

    func received(_ head: HTTPResponseHead, _ request: RequestHandle) -> HeadDecision {
        guard head.status.code == 407, request.endpoint.isForwarded else { return .proceed }
        return request.run.extras?.proxyChallenges ?? 0 == 0 ? .expectResend : .proceed
    }

    func completed(_ response: DataResponse, _ request: RequestHandle) -> ResponseDecision {
        guard response.status == 407, request.endpoint.isForwarded else { return .proceed }
        guard let proxy = request.endpoint.proxy else { return .end }
        let extras = request.extras
        extras.proxyChallenges += 1
        let challenges = response["Proxy-Authenticate"]
        guard extras.proxyChallenges <= ProxyAuthenticator.maximumChallenges,
            core.proxyAuthenticator.learn(challenges, from: proxy, after: extras.sentProxyProof)
        else { return .fail(refused(by: proxy, request, response)) }
        return .resend(request.current.copy)
    }

    /// Returns the error for a proxy that rejects the user's credentials, or requires some.
    private func refused(by proxy: ProxyServer, _ handle: RequestHandle, _ response: DataResponse) -> HTTPError {
        let status = "\(response.head.status.code) \(response.head.status.reasonPhrase)"
        let failure = ProxyFailure(proxy: proxy, endpoint: handle.endpoint)
        let words = failure.words(for: status, response["Proxy-Authenticate"])
        var error = HTTPError(.proxyAuthenticationRequired, processing: .refusedUnprocessed, reason: words)
        error.proxy = proxy.description
        error.add(response, of: handle)
        return error
    }
}

extension HTTPRequestHead {
    /// Removes the credentials for a proxy, which must not reach the origin (RFC 9110, 11.7.2).
    mutating func removeProxyCredentials() {
        // Removing nothing would copy the fields.
        guard headers.contains(name: "Proxy-Authorization") else { return }
        headers.remove(name: "Proxy-Authorization")
    }
}

extension HTTPURL {
    /// Returns the absolute form of a request target, for a forwarding proxy (RFC 9112, 3.2.2).
    func absolute(_ target: String) -> String { "\(scheme)://\(authority)\(target)" }
}
