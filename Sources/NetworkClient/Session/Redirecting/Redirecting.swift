import NIOHTTP1

extension SessionCore {
    /// What follows an answer whose status leads elsewhere.
    func redirect(_ handle: RequestHandle, _ head: HTTPResponseHead) -> FollowUp {
        let request = handle.current.copy
        let policy = request.policy.redirects
        guard policy.follows else { return .end }
        let following = handle.following
        let location = RedirectReference.single(head.headers["Location"])
        let url = location.flatMap { request.url.redirected(by: $0) }
        following.asked[request.url.key, default: []].insert(request.head.method.rawValue)
        let question = RedirectQuestion(
            status: Int(head.status.code),
            method: request.head.method.rawValue,
            body: handle.redirectBody,
            target: url.map { .url(following.relation(of: $0, to: request.url)) }
                ?? (location == nil ? .missing : .unusable),
            followed: following.redirects.count
        )
        switch policy.rules.verdict(on: question) {
        case .answer: return .end
        case .fail(let failure): return .fail(.redirect(failure, request, head, limit: policy.rules.limit))
        case .follow(let step):
            guard let url else { return .end }
            do throws(HTTPError) {
                return follow(handle, head, by: try request.redirected(to: url, step, secrets: policy.secrets))
            } catch {
                return .fail(error)
            }
        }
    }

    /// Lets the user have the last word.
    private func follow(_ handle: RequestHandle, _ head: HTTPResponseHead, by next: PreparedRequest) -> FollowUp {
        guard let decision = next.policy.redirects.decision else { return .go(next) }
        let proposal = ProposedRedirect(
            request: handle,
            response: .init(head),
            followed: handle.following.redirects.count,
            next: next.publicHead
        )
        switch decision(proposal) {
        case .follow: return .go(next)
        case .refuse: return .end
        case .change(let request):
            do throws(HTTPError) {
                return .go(try next.changed(to: request))
            } catch {
                return .fail(error)
            }
        }
    }

    /// Takes note of a redirect that is followed now.
    func note(_ status: Int, _ handle: RequestHandle, to next: PreparedRequest) {
        let redirect = Redirect(
            status: status,
            from: handle.current.url.description,
            to: next.url.description
        )
        handle.following.redirects.append(redirect)
        if isObserved(handle) { tell(.redirected(from: redirect.from, to: redirect.to, status: status), handle) }
    }
}

extension RedirectPolicy {
    fileprivate var secrets: Set<String> { Set(secretFields.map { $0.lowercased() }) }
}

extension FollowingRun {
    /// What a URL is to the one that was asked.
    fileprivate func relation(of url: HTTPURL, to old: HTTPURL) -> RedirectQuestion.Relation {
        .init(
            isSameOrigin: url.origin == old.origin,
            isDowngrade: old.isSecure && !url.isSecure,
            asked: asked[url.key] ?? []
        )
    }
}

extension HTTPURL {
    /// What tells it from others: all but user information and fragment.
    fileprivate var key: String { "\(origin)\(target)" }

    /// Where a redirect leads; nil if that is no URL that can be asked.
    ///
    /// User information stays with its origin; that of a `Location` is nobody's, since no server says as whom to appear.
    fileprivate func redirected(by location: String) -> HTTPURL? {
        guard let url = try? resolving(location) else { return nil }
        return .init(
            url,
            credentialsOf: url.origin == origin ? self : nil,
            fragment: RedirectReference.fragment(of: location, after: fragment)
        )
    }
}

extension HTTPError {
    /// Why a redirect was not followed.
    fileprivate static func redirect(
        _ failure: RedirectFailure,
        _ request: PreparedRequest,
        _ head: HTTPResponseHead,
        limit: Int
    ) -> Self {
        if failure == .bodyGone {
            var error = notReplayable(at: request.endpoint.text)
            error.processing = .answered
            error.response = .init(head)
            return error
        }
        let answer = "\(request.endpoint.text) answered \(head.status.code)"
        var error: Self =
            switch failure {
            case .tooMany:
                .init(.tooManyRedirects, .answered, "\(answer), and \(limit) redirects were followed already")
            case .cycle:
                .init(.redirectCycle, .answered, "\(answer), which leads to where the request has been before")
            case .locationMissing:
                .init(.redirectUnusable, .answered, "\(answer) without one Location that says where")
            case .locationUnusable:
                .init(.redirectUnusable, .answered, "\(answer) with a Location that is no URL that can be asked")
            case .downgrade, .bodyGone:
                .init(
                    .redirectRefused,
                    .answered,
                    "\(answer), which leads from https to http: allow the downgrade if that is right"
                )
            }
        error.response = .init(head)
        return error
    }
}

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
    var redirectBody: RedirectQuestion.Body {
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
