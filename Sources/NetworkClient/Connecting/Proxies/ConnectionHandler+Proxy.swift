import NIOHTTP1

extension ConnectionHandler {
    /// The head as whoever is at the other end of the connection wants it.
    ///
    /// A proxy that is handed the request reads the whole URL (RFC 9112, 3.2.2) and who the user is to it; an origin sees
    /// nothing of the latter.
    func addressed(_ head: HTTPRequestHead, _ handle: RequestHandle) -> HTTPRequestHead {
        guard let proxy = host.endpoint.proxy else { return head }
        var head = head
        guard host.endpoint.isForwarded else {
            head.headers.remove(name: "Proxy-Authorization")
            return head
        }
        let url = handle.current.url
        head.uri = "\(url.scheme)://\(url.authority)\(head.uri)"
        let method = head.method.rawValue
        let hasBody = handle.current.hasBody
        let authenticator = host.core.proxyAuthenticator
        let proof = authenticator.proof(for: proxy, method: method, target: head.uri, hasBody: hasBody)
        guard let proof else { return head }
        head.headers.replaceOrAdd(name: "Proxy-Authorization", value: proof.value)
        handle.extras.shownToProxy = proof
        return head
    }
}

extension ConnectionHandler {
    /// Whether the connection can serve another request.
    ///
    /// A proxy that asks for the user may answer before it has read the body, and forget the rest, as squid does.
    func keepsAlive(after head: HTTPResponseHead, _ handle: RequestHandle) -> Bool {
        head.isKeepAlive && !head.hasFaultyFraming && (head.status.code != 407 || !handle.current.hasBody)
    }
}

extension HTTPResponseHead {
    /// Whether a server of HTTP/1.0 uses transfer codings, which that does not have (RFC 9112, 6.1).
    fileprivate var hasFaultyFraming: Bool { version == .http1_0 && headers.contains(name: "Transfer-Encoding") }
}

extension SessionCore {
    /// A proxy that was handed a request wants to know the user, or another one.
    func proxyWantsCredentials(of handle: RequestHandle, _ response: DataResponse) -> FollowUp {
        guard let proxy = handle.endpoint.proxy else { return .end }
        let challenges = response["Proxy-Authenticate"]
        let extras = handle.extras
        extras.proxyChallenges += 1
        if extras.proxyChallenges <= ProxyAuthenticator.maximumChallenges,
            proxyAuthenticator.learn(challenges, from: proxy, after: extras.shownToProxy)
        {
            return .go(handle.current.copy)
        }
        let status = "\(response.head.status.code) \(response.head.status.reasonPhrase)"
        let words = ProxyFailure(proxy: proxy, endpoint: handle.endpoint).words(for: status)
        var error = HTTPError(.proxyAuthenticationRequired, .refusedUnprocessed, words)
        error.proxy = proxy.description
        error.response = response.head
        error.body = Array(response.bytes.prefix(HTTPError.keptBody))
        return .fail(error)
    }
}
