import NIOHTTP1
import NetworkClientCore

extension HTTPURL {
    /// The origin, to which its credentials belong.
    var origin: HTTPOrigin { .init(isSecure: isSecure, host: host, port: port) }
}

extension PreparedRequest {
    /// Returns the request that follows a redirect.
    ///
    /// - Parameters:
    ///   - url: The target of the redirect.
    ///   - step: The changes to the request.
    ///   - secrets: The fields, in lower case, that are not sent to another origin, besides
    ///     ``RedirectRules/secretFields``.
    /// - Returns: The request.
    /// - Throws: `invalidConfiguration` if the proxy for the target is invalid.
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

    /// Returns the request with the head that the user has chosen for a redirect, and the framing of its own body.
    ///
    /// - Throws: ``HTTPError`` for an invalid URL or proxy, or a method that can't have the body.
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
        next.head.headers.keepFraming(of: self.head.headers)
        if !hasBody { next.head.headers.stateAbsenceOfBody(next.head.method) }
        if !next.endpoint.isForwarded { next.head.removeProxyCredentials() }
        // A Host field that was not changed belongs to the previous origin.
        if url.origin != self.url.origin, next.head.headers["Host"] == self.head.headers["Host"] {
            next.head.headers.replaceOrAdd(name: "Host", value: url.authority)
        }
        return next
    }
}

extension RequestHandle {
    /// The kind of its body for the redirect rules; confined to the session's event loop.
    var redirectBody: RedirectContext.Body {
        guard current.hasBody else { return .none }
        return current.source == nil || canResend ? .replayable : .once
    }
}

extension Endpoint {
    /// Returns the endpoint for another URL, with the proxy that the policy selects.
    func leading(to url: HTTPURL, by policy: RequestPolicy) throws(HTTPError) -> Self {
        var endpoint = self
        endpoint.proxy = try policy.proxies?.proxy(for: url)
        (endpoint.isSecure, endpoint.host, endpoint.port) = (url.isSecure, url.host, url.port)
        return endpoint
    }
}
