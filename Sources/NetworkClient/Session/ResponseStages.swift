import NIOCore
import NIOHTTP1

/// What follows a whole response.
enum FollowUp: Sendable {
    /// It is the request's end, unless its status is one to try again.
    case end
    /// Another request follows it.
    case go(PreparedRequest)
    /// Somebody is asked first, and says what follows by ``SessionCore/decided(_:_:_:)``.
    case deferred
    /// It can't be followed.
    case fail(HTTPError)
}

/// Decides what follows a response; confined to the session's event loop.
///
/// The stages, in their order, of which the first that applies decides: a receiver that wants the request again
/// (Range), 417, 407, 401, and redirects. A retry by policy comes after all of them.
final class ResponseStages {
    private unowned let core: SessionCore

    init(_ core: SessionCore) { self.core = core }

    /// What follows an answer: most are the end.
    func followUp(of handle: RequestHandle, _ response: DataResponse) -> FollowUp {
        if let extras = handle.run.extras, extras.mustGoAgain {
            extras.mustGoAgain = false
            return .go(handle.current.copy)
        }
        guard response.status >= 300 else {
            if handle.current.login != nil { core.authenticator.succeeded(handle, response.http1) }
            return .end
        }
        return followUp(ofRefusal: response, handle)
    }

    private func followUp(ofRefusal response: DataResponse, _ handle: RequestHandle) -> FollowUp {
        if handle.mayGoWithoutExpectation(response.status) { return .go(handle.current.copy.withoutExpectation) }
        if response.status == 407, handle.endpoint.isForwarded { return proxyWantsCredentials(of: handle, response) }
        let following = handle.run.extras?.following
        let decided = following?.decided
        following?.decided = nil
        guard let login = handle.current.login else { return redirect(handle, response, decided) }
        if response.status == 401 { return core.authenticator.challenged(handle, response, login) }
        core.authenticator.succeeded(handle, response.http1)
        return redirect(handle, response, decided)
    }

    private func redirect(_ handle: RequestHandle, _ response: DataResponse, _ decided: FollowUp?) -> FollowUp {
        guard RedirectRules.isRedirect(response.status) else { return .end }
        let followUp = decided ?? redirect(handle, response.http1)
        if case .go(let next) = followUp { note(response.status, handle, to: next) }
        return followUp
    }

    // MARK: By the head alone

    /// Decides what follows an answer, if its head alone says so.
    ///
    /// - Returns: Whether the receiver of the body does not get this one, or not before it is known what follows.
    func withholdsBody(_ head: HTTPResponseHead, _ handle: RequestHandle) -> Bool {
        let status = Int(head.status.code)
        if RedirectRules.isRedirect(status), handle.current.policy.redirects.follows {
            let followUp = redirect(handle, head)
            handle.following.decided = followUp
            if case .end = followUp { return false }
            return true
        }
        let isChallenge = status == 401 && handle.current.login != nil
        guard isChallenge || handle.mayGoWithoutExpectation(status) else { return false }
        handle.following.isHeldBack = handle.run.extras?.receiver != nil
        return true
    }

    /// Whether another request most likely follows a response, whatever its body says: the first challenge to a request
    /// for which there are credentials, and a refusal of `Expect`.
    func isLikelyFollowed(_ head: HTTPResponseHead, _ handle: RequestHandle) -> Bool {
        switch head.status.code {
        case 401:
            let hasAnswered = handle.run.extras?.following.map { $0.made != nil || $0.renewed != nil } ?? false
            return !hasAnswered && handle.current.login.map { core.authenticator.mayAnswer($0, handle) } ?? false
        case 407: return handle.endpoint.isForwarded && handle.run.extras?.proxyChallenges ?? 0 == 0
        case 417: return handle.mayGoWithoutExpectation(417)
        default: return false
        }
    }

    // MARK: Proxy credentials (407)

    /// A proxy that was handed a request wants to know the user, or another one.
    private func proxyWantsCredentials(of handle: RequestHandle, _ response: DataResponse) -> FollowUp {
        guard let proxy = handle.endpoint.proxy else { return .end }
        let challenges = response["Proxy-Authenticate"]
        let extras = handle.extras
        extras.proxyChallenges += 1
        if extras.proxyChallenges <= ProxyAuthenticator.maximumChallenges,
            core.proxyAuthenticator.learn(challenges, from: proxy, after: extras.shownToProxy)
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

    // MARK: Redirects

    /// What follows an answer whose status leads elsewhere.
    private func redirect(_ handle: RequestHandle, _ head: HTTPResponseHead) -> FollowUp {
        let request = handle.current.copy
        let policy = request.policy.redirects
        guard policy.follows else { return .end }
        let following = handle.following
        let location = RedirectReference.single(head.headers["Location"])
        let url = location.flatMap { request.url.redirected(by: $0) }
        following.asked[request.url.key, default: []].insert(request.head.method.rawValue)
        let question = RedirectContext(
            status: Int(head.status.code),
            method: request.head.method.rawValue,
            body: handle.redirectBody,
            target: url.map { .url(following.relation(of: $0, to: request.url)) }
                ?? (location == nil ? .missing : .unusable),
            followed: following.redirects.count
        )
        switch policy.rules.verdict(on: question) {
        case .finalResponse: return .end
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
    private func note(_ status: Int, _ handle: RequestHandle, to next: PreparedRequest) {
        let redirect = Redirect(
            status: status,
            from: handle.current.url.description,
            to: next.url.description
        )
        handle.following.redirects.append(redirect)
        if core.isObserved(handle) {
            core.tell(.redirected(from: redirect.from, to: redirect.to, status: status), handle)
        }
    }
}

extension RedirectPolicy {
    fileprivate var secrets: Set<String> { Set(secretFields.map { $0.lowercased() }) }
}

extension FollowingRun {
    /// What a URL is to the one that was asked.
    fileprivate func relation(of url: HTTPURL, to old: HTTPURL) -> RedirectContext.Relation {
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
    /// User information stays with its origin; that of a `Location` is nobody's, since no server says as whom to
    /// appear.
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
        if failure == .bodyNotReplayable {
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
            case .downgrade, .bodyNotReplayable:
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
