import NIOCore
import NIOHTTP1
import NetworkClientCore

/// Follows redirects (3xx; RFC 9110, 15.4).
final class RedirectStage: ExchangeStage {
    private unowned let core: SessionCore

    init(_ core: SessionCore) { self.core = core }

    /// Decides from the head, so that the body of a redirect that is followed is discarded.
    func received(_ head: HTTPResponseHead, _ request: RequestHandle) -> HeadDecision {
        guard RedirectRules.isRedirect(Int(head.status.code)), request.current.policy.redirects.follows else {
            return .proceed
        }
        let decision = decision(on: head, request)
        request.following.decided = decision
        if case .end = decision { return .proceed }
        return .discard
    }

    func completed(_ response: DataResponse, _ request: RequestHandle) -> ResponseDecision {
        guard RedirectRules.isRedirect(response.status) else { return .proceed }
        let decided = request.run.extras?.following?.decided
        request.run.extras?.following?.decided = nil
        let decision = decided ?? decision(on: response.http1, request)
        if case .resend(let next) = decision { record(response.status, request, to: next) }
        return decision
    }

    /// Decides what follows a response whose status redirects the request.
    private func decision(on head: HTTPResponseHead, _ handle: RequestHandle) -> ResponseDecision {
        let request = handle.current.copy
        let policy = request.policy.redirects
        guard policy.follows else { return .end }
        let following = handle.following
        let location = RedirectReference.single(head.headers["Location"])
        let url = location.flatMap { request.url.redirected(by: $0) }
        let context = RedirectContext(
            status: Int(head.status.code),
            method: request.head.method.rawValue,
            body: handle.redirectBody,
            target: url.map { .url(RedirectContext.Relation(of: $0, to: request.url)) }
                ?? (location == nil ? .missing : .unusable),
            followed: following.redirects.count
        )
        switch policy.rules.verdict(on: context) {
        case .finalResponse: return .end
        case .fail(let failure): return .fail(failure.error(request, head, after: following.redirects))
        case .follow(let step):
            guard let url else { return .end }
            do throws(HTTPError) {
                return follow(handle, head, by: try request.redirected(to: url, step, secrets: policy.secrets))
            } catch {
                return .fail(error)
            }
        }
    }

    /// Asks the user's callback, if there is one, whether to follow the redirect.
    private func follow(
        _ handle: RequestHandle,
        _ head: HTTPResponseHead,
        by next: PreparedRequest
    ) -> ResponseDecision {
        guard let decision = next.policy.redirects.decision else { return .resend(next) }
        let proposal = ProposedRedirect(
            request: handle,
            response: .init(head),
            followed: handle.following.redirects.count,
            next: next.publicHead
        )
        switch decision(proposal) {
        case .follow: return .resend(next)
        case .refuse: return .end
        case .change(let request):
            do throws(HTTPError) {
                return .resend(try next.changed(to: request))
            } catch {
                return .fail(error)
            }
        }
    }

    /// Records and reports a redirect that is being followed.
    private func record(_ status: Int, _ handle: RequestHandle, to next: PreparedRequest) {
        let redirect = Redirect(
            status: status,
            from: handle.current.url.description,
            to: next.url.description
        )
        handle.following.redirects.append(redirect)
        if core.events.isObserved(handle) {
            core.events.tell(.redirected(from: redirect.from, to: redirect.to, status: status), handle)
        }
    }
}

extension RedirectPolicy {
    fileprivate var secrets: Set<String> { Set(secretFields.map { $0.lowercased() }) }
}

extension RedirectContext.Relation {
    /// Creates the relation of a redirect's target to the URL that was requested.
    fileprivate init(of url: HTTPURL, to old: HTTPURL) {
        self.init(isSameOrigin: url.origin == old.origin, isDowngrade: old.isSecure && !url.isSecure)
    }
}

extension HTTPURL {
    /// Returns the target of a redirect; nil if it is not a URL that can be requested.
    ///
    /// User information is kept within its origin. That of a `Location` is ignored: no server chooses the user.
    fileprivate func redirected(by location: String) -> HTTPURL? {
        guard let url = try? resolving(location) else { return nil }
        return .init(
            url,
            credentialsOf: url.origin == origin ? self : nil,
            fragment: RedirectReference.fragment(of: location, after: fragment)
        )
    }
}

extension RedirectFailure {
    /// Returns the error for a redirect that can't be followed.
    fileprivate func error(
        _ request: PreparedRequest,
        _ head: HTTPResponseHead,
        after redirects: [Redirect]
    ) -> HTTPError {
        var error = error("\(request.endpoint.text) answered \(head.status.code)", request, redirects)
        error.processing = .answered
        error.response = .init(head)
        return error
    }

    private func error(_ response: String, _ request: PreparedRequest, _ redirects: [Redirect]) -> HTTPError {
        let (code, reason): (HTTPError.Code, String)
        switch self {
        case .bodyNotReplayable: return .notReplayable(at: request.endpoint.text)
        case .tooMany:
            code = .tooManyRedirects
            reason = "\(response), and \(redirects.count) redirects were followed already\(Self.circle(redirects))"
        case .locationMissing: (code, reason) = (.redirectUnusable, "\(response) without a single Location")
        case .locationUnusable:
            code = .redirectUnusable
            reason = "\(response) with a Location that is not a URL that can be requested"
        case .downgrade:
            code = .redirectRefused
            reason = "\(response), which redirects from https to http: allow the downgrade if that is right"
        }
        return .init(code, processing: .answered, reason: reason)
    }

    /// Returns the URL to which several redirects lead, as a hint; empty if there is none.
    private static func circle(_ redirects: [Redirect]) -> String {
        let targets = Dictionary(grouping: redirects, by: \.to)
        guard let most = targets.max(by: { $0.value.count < $1.value.count }), most.value.count > 1 else { return "" }
        return ", \(most.value.count) of them to \(most.key)"
    }
}
