import NIOCore
import NIOHTTP1

/// What is asked alike: one answer of the handler serves all who wait for it.
struct ChallengeKey: Hashable {
    let origin: HTTPOrigin
    let scheme: String
    let realm: String
}

/// A request that waits for the handler's answer, with the challenges that it can be about.
struct ChallengedRequest {
    let handle: RequestHandle
    let response: DataResponse
    /// The strongest first: the first one is being asked about.
    var challenges: [AuthenticationChallenge]
    /// The realm that it was sent with an answer for.
    var sentRealm: String?
}

extension Authenticator {
    /// What follows an answer with challenges.
    func challenged(_ handle: RequestHandle, _ response: DataResponse, _ login: RequestLogin) -> FollowUp {
        let following = handle.following
        let sent = following.sent
        following.sent = nil
        let origin = handle.current.url.origin
        if login.own == nil, let keeper = tokens[origin] { return keeper.refused(handle, response, sent) }
        let challenges = ChallengeParser.challenges(in: response["WWW-Authenticate"])
        let space = sent?.space
        switch following.trail.challenged(challenges, at: origin, sent: space?.note) {
        case .refused:
            if let space { spaces.forget(space.answered.realm, space.answered.credential, at: origin) }
            return .end
        case .renew(let challenge):
            guard let credential = space?.answered.credential else { return .end }
            let isShared = login.credential(at: origin) == nil
            return answer(challenge, credential, handle, isShared: isShared) ?? .end
        case .answer(let challenges):
            let realm = space?.note.realm
            return answer(.init(handle: handle, response: response, challenges: challenges, sentRealm: realm), login)
        }
    }

    /// Answers the first challenge for which there is a credential, or asks the handler about it.
    private func answer(_ challenged: ChallengedRequest, _ login: RequestLogin) -> FollowUp {
        let handle = challenged.handle
        let origin = handle.current.url.origin
        var challenged = challenged
        while let challenge = challenged.challenges.first {
            if let own = login.credential(at: origin) {
                if let followUp = answer(challenge, own, handle, isShared: false) { return followUp }
            } else if let followUp = answerAsOthers(challenge, challenged) {
                return followUp
            } else if let handler {
                ask(handler, challenge, challenged)
                return .later
            } else if let followUp = answerByDefault(challenge, handle) {
                return followUp
            }
            challenged.challenges.removeFirst()
        }
        return .end
    }

    /// Answers with what answered for others of the realm since the request went out, as those do that are sent from now on.
    private func answerAsOthers(_ challenge: AuthenticationChallenge, _ challenged: ChallengedRequest) -> FollowUp? {
        let handle = challenged.handle
        guard let realm = challenge.realm, realm != challenged.sentRealm,
            let credential = spaces.sharedCredential(of: realm, at: handle.current.url.origin)
        else { return nil }
        return answer(challenge, credential, handle, isShared: true)
    }

    private func answerByDefault(_ challenge: AuthenticationChallenge, _ handle: RequestHandle) -> FollowUp? {
        let origin = handle.current.url.origin
        guard let realm = challenge.realm, let credential = knownCredential(for: realm, at: origin) else { return nil }
        return answer(challenge, credential, handle, isShared: true)
    }

    /// Sends the request again with the answer to a challenge; nil if the credential can't answer it.
    private func answer(
        _ challenge: AuthenticationChallenge,
        _ credential: Credential,
        _ handle: RequestHandle,
        isShared: Bool
    ) -> FollowUp? {
        guard let realm = challenge.realm else { return nil }
        let current = handle.current.copy
        let needsBody = DigestChallenge(challenge)?.protections?.contains(.request) == false
        let request = Self.request(current.head, current, withBody: needsBody)
        guard let answer = ProtectionSpaces.Answer(challenge, credential, for: request) else { return nil }
        let origin = current.url.origin
        let space = ProtectionSpaces.Space(
            realm: realm,
            credential: credential,
            isShared: isShared,
            answer: answer,
            path: String(current.url.path)
        )
        spaces.keep(space, at: origin)
        handle.following.trail.answers(realm)
        handle.following.made = .init(origin: origin, realm: realm, credential: credential)
        if core.isObserved(handle) { core.tell(.authenticating(scheme: challenge.scheme, realm: realm), handle) }
        return .go(current)
    }

    // MARK: The handler

    private func ask(
        _ handler: @escaping AuthenticationHandler,
        _ challenge: AuthenticationChallenge,
        _ challenged: ChallengedRequest
    ) {
        let handle = challenged.handle
        let origin = handle.current.url.origin
        let key = ChallengeKey(origin: origin, scheme: challenge.scheme, realm: challenge.realm ?? "")
        let isAsked = questions[key] != nil
        questions[key, default: []].append(challenged)
        guard !isAsked else { return }
        let question = AuthenticationQuestion(
            request: handle,
            origin: origin.description,
            challenge: challenge,
            response: challenged.response.head
        )
        let core = core
        Task {
            let reply: Result<AuthenticationReply, any Error>
            do {
                reply = .success(try await handler(question))
            } catch {
                reply = .failure(error)
            }
            core.loop.execute { core.authenticator.replied(reply, to: key) }
        }
    }

    private func replied(_ reply: Result<AuthenticationReply, any Error>, to key: ChallengeKey) {
        for waiting in questions.removeValue(forKey: key) ?? [] {
            // Who has ended meanwhile is passed over.
            guard waiting.handle.run.life.phase == .waiting else { continue }
            core.decided(waiting.handle, followUp(on: reply, waiting), waiting.response)
        }
    }

    private func followUp(on reply: Result<AuthenticationReply, any Error>, _ waiting: ChallengedRequest) -> FollowUp {
        let handle = waiting.handle
        guard let challenge = waiting.challenges.first, let login = handle.current.login else { return .end }
        switch reply {
        case .failure(let cause): return .fail(.authenticationFailed(handle.current.copy, waiting.response, cause))
        case .success(.refuse): return .end
        case .success(.credential(let credential)):
            if let followUp = answer(challenge, credential, handle, isShared: true) { return followUp }
        case .success(.byDefault):
            if let followUp = answerByDefault(challenge, handle) { return followUp }
        case .success(.passOver): break
        }
        var next = waiting
        next.challenges.removeFirst()
        return answer(next, login)
    }
}

extension SentCredential {
    /// The space that was answered for; nil for a token.
    fileprivate var space: (answered: AnsweredSpace, note: ChallengeTrail.Sent)? {
        guard case .space(let answered, let scheme, let isMade) = self else { return nil }
        return (answered, .init(scheme: scheme, realm: answered.realm, isMade: isMade))
    }
}

extension HTTPError {
    /// Nobody could say as whom to appear.
    static func authenticationFailed(_ request: PreparedRequest, _ response: DataResponse, _ cause: any Error) -> Self {
        let reason = "\(request.endpoint.text) asks who is there, and the handler that knows has failed (see the cause)"
        var error = Self(.authenticationFailed, .answered, reason, cause: cause)
        error.response = response.head
        return error
    }

    /// No token could be got.
    static func tokenRefreshFailed(_ origin: HTTPOrigin, _ response: DataResponse, _ cause: any Error) -> Self {
        let reason = "\(origin) refused the token, and no other one could be got (see the cause)"
        var error = Self(.tokenRefreshFailed, .answered, reason, cause: cause)
        error.response = response.head
        return error
    }
}
