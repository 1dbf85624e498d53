import NIOHTTP1
import NetworkClientCore

extension HTTPURL {
    /// What its credentials belong to.
    var origin: HTTPOrigin { .init(isSecure: isSecure, host: host, port: port) }
}

extension PreparedRequest {
    /// The request that follows a redirect.
    ///
    /// - Parameters:
    ///   - url: Where it leads.
    ///   - step: What the rules say.
    ///   - secrets: The fields in lower case that do not go to another origin, beside those that never do.
    /// - Returns: The request.
    /// - Throws: `invalidConfiguration` for a proxy that is none.
    func redirected(to url: HTTPURL, _ step: RedirectStep, secrets: Set<String>) throws(HTTPError) -> Self {
        var next = self
        next.url = url
        next.endpoint = try endpoint.leading(to: url, by: policy)
        next.head.method = .init(rawValue: step.method)
        next.head.uri = url.target
        let keepsContent = step.keepsBody || (!hasBody && step.method == head.method.rawValue)
        next.head.headers = HTTPHeaders(
            head.headers.filter { name, _ in
                let name = name.lowercased()
                if !step.keepsSecrets, RedirectRules.secretFields.contains(name) || secrets.contains(name) {
                    return false
                }
                return keepsContent || !RedirectRules.contentFields.contains(name)
            }
        )
        if !step.keepsSecrets { next.head.headers.replaceOrAdd(name: "Host", value: url.authority) }
        if !step.keepsBody {
            (next.body, next.source) = (nil, nil)
            next.expectsContinue = false
        }
        return next
    }

    /// The same request as its user has changed it.
    func changed(to head: HTTPRequest) throws(HTTPError) -> Self {
        let text = "\(head.scheme ?? url.scheme)://\(head.authority ?? url.authority)\(head.path ?? "/")"
        let url = try HTTPURL(text)
        try head.method.checkContent(hasBody: hasBody)
        var next = self
        next.url = url
        next.endpoint = try endpoint.leading(to: url, by: policy)
        next.head.method = .init(head.method)
        next.head.uri = url.target
        next.head.headers = HTTPHeaders(head.headerFields, host: url.authority)
        // The host of the proposal is not another origin's.
        if url.origin != self.url.origin, next.head.headers["Host"] == self.head.headers["Host"] {
            next.head.headers.replaceOrAdd(name: "Host", value: url.authority)
        }
        return next
    }
}

extension RequestHandle {
    /// What its body is to the rules.
    ///
    /// Belongs to the session's event loop.
    var redirectBody: RedirectContext.Body {
        guard current.hasBody else { return .none }
        return current.source == nil || canGoAgain ? .replayable : .once
    }
}

extension Endpoint {
    /// The same, to another origin, for which the policy says through which proxy.
    func leading(to url: HTTPURL, by policy: RequestPolicy) throws(HTTPError) -> Self {
        var endpoint = self
        endpoint.proxy = try policy.proxies?.proxy(for: url)
        (endpoint.isSecure, endpoint.host, endpoint.port) = (url.isSecure, url.host, url.port)
        return endpoint
    }
}
