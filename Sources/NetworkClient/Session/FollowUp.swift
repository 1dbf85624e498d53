import NIOCore
import NIOHTTP1

/// What follows a whole answer.
enum FollowUp: Sendable {
    /// It is the request's end, unless its status is one to try again.
    case end
    /// Another request follows it.
    case go(PreparedRequest)
    /// Somebody is asked first, and says what follows by ``SessionCore/decided(_:_:_:)``.
    case later
    /// It can't be followed.
    case fail(HTTPError)
}

extension SessionCore {
    /// What follows an answer: most are the end.
    func followUp(of handle: RequestHandle, _ response: DataResponse) -> FollowUp {
        if let extras = handle.run.extras, extras.mustGoAgain {
            extras.mustGoAgain = false
            return .go(handle.current.copy)
        }
        guard response.status >= 300 else {
            if handle.current.login != nil { authenticator.succeeded(handle, response.http1) }
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
        if response.status == 401 { return authenticator.challenged(handle, response, login) }
        authenticator.succeeded(handle, response.http1)
        return redirect(handle, response, decided)
    }

    private func redirect(_ handle: RequestHandle, _ response: DataResponse, _ decided: FollowUp?) -> FollowUp {
        guard RedirectRules.isRedirect(response.status) else { return .end }
        let followUp = decided ?? redirect(handle, response.http1)
        if case .go(let next) = followUp { note(response.status, handle, to: next) }
        return followUp
    }

    /// Does what follows the answer that has just come.
    func follow(_ handle: RequestHandle, _ followUp: FollowUp, _ response: DataResponse) {
        let missingBody = handle.run.extras?.following?.missingBody
        if case .later = followUp {} else { handle.run.extras?.following?.missingBody = nil }
        if case .end = followUp, let missingBody { return end(handle, .failure(missingBody)) }
        switch followUp {
        case .later:
            // It waits as one does that has no connection: it can be cancelled, and its deadline goes on.
            handle.run.goAgain(wasProcessed: false)
            handle.run.place = .asked
            handle.noteState()
            limit(handle)
        case .end where handle.run.extras?.following?.isHeldBack == true:
            deliver(handle, response)
        case .end:
            let mayGoAgain = handle.current.policy.retry.retries && handle.canGoAgain
            if mayGoAgain, dispatcher.answered(handle, response) { return }
            end(handle, .success(response))
        case .fail(let error): end(handle, .failure(error))
        case .go(let request): go(on: handle, with: request)
        }
    }

    /// Does what was decided later on, once the user lets it; nothing if the request has ended meanwhile.
    func decided(_ handle: RequestHandle, _ followUp: FollowUp, _ response: DataResponse) {
        guard handle.run.life.phase == .waiting, case .asked = handle.run.place else { return }
        if case .later = followUp { return }
        guard !handle.run.isPaused else {
            handle.following.answered = (followUp, response)
            return
        }
        handle.run.place = .nowhere
        handle.run.timer?.cancel()
        handle.run.timer = nil
        _ = handle.run.life.cancel()
        follow(handle, followUp, response)
    }

    /// The user lets a request go on about which somebody was asked: maybe the answer has come meanwhile.
    func goOnAsked(_ handle: RequestHandle) {
        limit(handle)
        guard let (followUp, response) = handle.run.extras?.following?.answered else { return }
        handle.following.answered = nil
        decided(handle, followUp, response)
    }

    /// Sends what follows: its way is judged anew, and it waits where it has to.
    private func go(on handle: RequestHandle, with request: PreparedRequest) {
        guard request.source == nil || handle.canGoAgain else {
            return end(handle, .failure(.notReplayable(at: request.endpoint.text)))
        }
        if handle.run.scheduled != nil { dispatcher.hopped(handle) }
        handle.extras.hop = Hop(request)
        handle.run.goAgain(wasProcessed: false)
        handle.noteState()
        // Once the connection that brought the answer is released, so that it can serve this too.
        loop.execute { [self] in
            guard handle.run.life.phase == .waiting, case .nowhere = handle.run.place else { return }
            // A pause meanwhile has lined it up already.
            if handle.run.scheduled?.id == nil { admit(handle) }
        }
    }
}

extension RequestHandle {
    /// Whether the server refuses that its leave is asked for the body, so that the request goes again without (RFC 9110,
    /// 10.1.1).
    ///
    /// Belongs to the session's event loop.
    func mayGoWithoutExpectation(_ status: Int) -> Bool {
        status == 417 && current.expectsContinue && current.hasBody && canGoAgain
    }
}

extension PreparedRequest {
    /// The same, whose body does not wait for the server's leave.
    var withoutExpectation: Self {
        var next = self
        next.expectsContinue = false
        next.head.headers.remove(name: "Expect")
        return next
    }
}

extension SessionCore {
    /// Decides what follows an answer, if its head alone says so.
    ///
    /// - Returns: Whether whoever takes the body does not get this one, or not before it is known what follows.
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
            return !hasAnswered && handle.current.login.map { authenticator.mayAnswer($0, handle) } ?? false
        case 407: return handle.endpoint.isForwarded && handle.run.extras?.proxyChallenges ?? 0 == 0
        case 417: return handle.mayGoWithoutExpectation(417)
        default: return false
        }
    }

    /// An answer that was kept from its receiver is the request's all the same.
    func deliver(_ handle: RequestHandle, _ response: DataResponse) {
        handle.run.extras?.following?.isHeldBack = false
        guard let receiver = handle.run.extras?.receiver else { return end(handle, .success(response)) }
        do throws(HTTPError) {
            switch try receiver.begin(response.http1) {
            case .memory, .again: return end(handle, .success(response))
            case .whole: break
            case .here:
                let taken = try receiver.receive(response.buffer)
                if let taken { return finish(handle, response, after: taken) { receiver.end() } }
            }
            guard let kept = receiver.end() else { return end(handle, .success(response)) }
            finish(handle, response, after: kept) { nil }
        } catch {
            end(handle, .failure(error))
        }
    }

    private func finish(
        _ handle: RequestHandle,
        _ response: DataResponse,
        after kept: EventLoopFuture<Void>,
        then next: @escaping () -> EventLoopFuture<Void>?
    ) {
        kept.assumeIsolated().whenComplete { [self] result in
            if case .failure(let error) = result { return end(handle, .failure(.unkeptBody(error))) }
            guard let last = next() else { return end(handle, .success(response)) }
            finish(handle, response, after: last) { nil }
        }
    }
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
