import Crypto
import NIOCore
import NIOHTTP1
import NetworkClientCore

/// Answers the challenges of a session's requests, and sends ahead what was answered before.
///
/// Confined to the session's event loop, which each entry checks.
final class Authenticator {
    private unowned let core: SessionCore
    /// The credentials that are known beforehand, by origin.
    private let known: [HTTPOrigin: [SpaceCredential]]
    private let handler: AuthenticationHandler?
    /// Who gets the tokens of an origin.
    let tokens: [HTTPOrigin: TokenKeeper]
    /// The spaces whose challenges were answered.
    private var spaces = ProtectionSpaces()
    /// The challenges for which the handler is being asked, and who waits.
    private var questions: [ChallengeKey: [ChallengedRequest]] = [:]

    init(_ policy: ResolvedAuthentication, _ core: SessionCore) {
        self.core = core
        known = policy.credentials
        handler = policy.handler
        tokens = policy.tokens.mapValues { TokenKeeper($0, core) }
    }

    /// The credential that is known beforehand for a realm.
    private func knownCredential(for realm: String, at origin: HTTPOrigin) -> Credential? {
        known[origin]?.first { $0.realm == nil || $0.realm == realm }?.credential
    }

    // MARK: Sending

    /// An attempt begins: what is known to be wanted is sent along.
    func willSend(_ head: inout HTTPRequestHead, _ handle: RequestHandle, _ login: RequestCredentials) {
        core.loop.preconditionInEventLoop()
        let origin = handle.current.url.origin
        handle.run.extras?.following?.sent = nil
        if login.own == nil, let keeper = tokens[origin] {
            guard let token = keeper.present else { return }
            head.headers.replaceOrAdd(name: "Authorization", value: "Bearer \(token.text)")
            handle.following.sent = .token(token.generation, at: origin)
            return
        }
        let made = handle.run.extras?.following?.made.flatMap { $0.origin == origin ? $0 : nil }
        guard
            let space = made.flatMap({ spaces.space(of: $0.realm, $0.credential, at: origin) })
                ?? spaces.space(of: String(handle.current.url.path), at: origin, for: login.credential(at: origin))
        else { return }
        let value = spaces.authorization(
            space.number,
            at: origin,
            for: Self.request(head, handle.current.copy, withBody: space.0.authorization.needsBody),
            clientNonce: ClientNonce.random
        )
        guard let value else { return }
        head.headers.replaceOrAdd(name: "Authorization", value: value)
        let answered = AnsweredSpace(origin: origin, realm: space.0.realm, credential: space.0.credential)
        handle.following.sent = .space(answered, scheme: space.0.authorization.scheme, isMade: answered == made)
    }

    /// What Digest makes its answer of.
    private static func request(
        _ head: HTTPRequestHead,
        _ request: PreparedRequest,
        withBody: Bool
    ) -> DigestSession.Request {
        var body: [UInt8]? = []
        if withBody {
            body = request.source == nil ? request.body.map { Array($0.readableBytesView) } ?? [] : nil
        }
        return .init(method: head.method.rawValue, target: head.uri, body: body)
    }

    // MARK: Receiving

    /// Whether there is anybody to answer a challenge to a request.
    func mayAnswer(_ login: RequestCredentials, _ handle: RequestHandle) -> Bool {
        let origin = handle.current.url.origin
        return login.credential(at: origin) != nil || handler != nil || known[origin] != nil
            || login.own == nil && tokens[origin] != nil
    }

    /// An answer has come that is no challenge: what was sent was good.
    func succeeded(_ handle: RequestHandle, _ head: HTTPResponseHead) {
        core.loop.preconditionInEventLoop()
        guard let following = handle.run.extras?.following, let sent = following.sent else { return }
        following.sent = nil
        switch sent {
        case .token(let generation, let origin): tokens[origin]?.accepted(generation)
        case .space(let space, let scheme, _):
            guard scheme == "digest" else { return }
            let info = ChallengeParser.parameters(in: head.headers["Authentication-Info"])
            guard let next = info["nextnonce"] else { return }
            spaces.learn(nextNonce: next, of: space.realm, space.credential, at: space.origin)
        }
    }
}

/// A session's policy with its origins read.
struct ResolvedAuthentication: Sendable {
    var credentials: [HTTPOrigin: [SpaceCredential]] = [:]
    var tokens: [HTTPOrigin: BearerTokens] = [:]
    var handler: AuthenticationHandler?

    /// Reads the origins.
    ///
    /// - Throws: `invalidConfiguration` for an origin that is no URL, and for two sources of tokens for one.
    init(_ policy: AuthenticationPolicy) throws(HTTPError) {
        handler = policy.handler
        for credential in policy.credentials {
            credentials[try Self.origin(credential.origin), default: []].append(credential)
        }
        for source in policy.tokens {
            let origin = try Self.origin(source.origin)
            guard tokens.updateValue(source, forKey: origin) == nil else {
                throw .init(
                    .invalidConfiguration,
                    processing: .neverSent,
                    reason: "there are two sources of tokens for \(origin)"
                )
            }
        }
    }

    private static func origin(_ text: String) throws(HTTPError) -> HTTPOrigin {
        do throws(HTTPError) {
            return try HTTPURL(text).origin
        } catch {
            throw .init(
                .invalidConfiguration,
                processing: .neverSent,
                reason:
                    "a credential or token is for an origin that is none, such as https://api.example.com: \(error.reason)"
            )
        }
    }
}

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
    func challenged(_ handle: RequestHandle, _ response: DataResponse, _ login: RequestCredentials) -> ResponseDecision
    {
        core.loop.preconditionInEventLoop()
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
        case .authenticate(let challenges):
            let realm = space?.note.realm
            return answer(.init(handle: handle, response: response, challenges: challenges, sentRealm: realm), login)
        }
    }

    /// Answers the first challenge for which there is a credential, or asks the handler about it.
    private func answer(_ challenged: ChallengedRequest, _ login: RequestCredentials) -> ResponseDecision {
        let handle = challenged.handle
        let origin = handle.current.url.origin
        var challenged = challenged
        while let challenge = challenged.challenges.first {
            if let own = login.credential(at: origin) {
                if let decision = answer(challenge, own, handle, isShared: false) { return decision }
            } else if let decision = answerAsOthers(challenge, challenged) {
                return decision
            } else if let handler {
                ask(handler, challenge, challenged)
                return .deferred
            } else if let decision = answerByDefault(challenge, handle) {
                return decision
            }
            challenged.challenges.removeFirst()
        }
        return .end
    }

    /// Answers with what answered for others of the realm since the request went out, as those do that are sent from
    /// now on.
    private func answerAsOthers(
        _ challenge: AuthenticationChallenge,
        _ challenged: ChallengedRequest
    ) -> ResponseDecision? {
        let handle = challenged.handle
        guard let realm = challenge.realm, realm != challenged.sentRealm,
            let credential = spaces.sharedCredential(of: realm, at: handle.current.url.origin)
        else { return nil }
        return answer(challenge, credential, handle, isShared: true)
    }

    private func answerByDefault(_ challenge: AuthenticationChallenge, _ handle: RequestHandle) -> ResponseDecision? {
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
    ) -> ResponseDecision? {
        guard let realm = challenge.realm else { return nil }
        let current = handle.current.copy
        let needsBody = DigestChallenge(challenge)?.protections?.contains(.request) == false
        let request = Self.request(current.head, current, withBody: needsBody)
        guard let answer = ProtectionSpaces.Authorization(challenge, credential, for: request) else { return nil }
        let origin = current.url.origin
        let space = ProtectionSpaces.Space(
            realm: realm,
            credential: credential,
            isShared: isShared,
            authorization: answer,
            path: String(current.url.path)
        )
        spaces.keep(space, at: origin)
        handle.following.trail.willAuthenticate(realm)
        handle.following.made = .init(origin: origin, realm: realm, credential: credential)
        if core.isObserved(handle) { core.tell(.authenticating(scheme: challenge.scheme, realm: realm), handle) }
        return .resend(current)
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
            guard waiting.handle.run.isDeciding else { continue }
            core.decided(waiting.handle, decision(on: reply, waiting), waiting.response)
        }
    }

    private func decision(
        on reply: Result<AuthenticationReply, any Error>,
        _ waiting: ChallengedRequest
    ) -> ResponseDecision {
        let handle = waiting.handle
        guard let challenge = waiting.challenges.first, let login = handle.current.login else { return .end }
        switch reply {
        case .failure(let cause): return .fail(.authenticationFailed(handle.current.copy, waiting.response, cause))
        case .success(.refuse): return .end
        case .success(.credential(let credential)):
            if let decision = answer(challenge, credential, handle, isShared: true) { return decision }
        case .success(.byDefault):
            if let decision = answerByDefault(challenge, handle) { return decision }
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
        var error = Self(.authenticationFailed, processing: .answered, reason: reason, cause: cause)
        error.response = response.head
        return error
    }

    /// No token could be got.
    static func tokenRefreshFailed(_ origin: HTTPOrigin, _ response: DataResponse, _ cause: any Error) -> Self {
        let reason = "\(origin) refused the token, and no other one could be got (see the cause)"
        var error = Self(.tokenRefreshFailed, processing: .answered, reason: reason, cause: cause)
        error.response = response.head
        return error
    }
}

/// The answer to a list of challenges, for one request.
enum ChallengeAnswer {
    /// The value of `Authorization` or `Proxy-Authorization`, by the strongest scheme that is understood.
    ///
    /// Each call answers again; anyone who gets the next challenge to what was answered has been refused, unless
    /// ``isStale(_:)`` says otherwise.
    ///
    /// - Parameters:
    ///   - challenges: The values of `WWW-Authenticate` or `Proxy-Authenticate`.
    ///   - request: What is asked for; for CONNECT, the target is host and port.
    ///   - credential: Who asks.
    ///   - clientNonce: Something random.
    /// - Returns: The value; nil if none of the challenges can be answered with this credential.
    static func value(
        to challenges: [String],
        for request: DigestSession.Request,
        _ credential: Credential,
        clientNonce: String = ClientNonce.random
    ) -> String? {
        for challenge in ChallengeTrail.ranked(ChallengeParser.challenges(in: challenges)) {
            let space = ProtectionSpaces.Authorization(challenge, credential, for: request)
            switch space {
            case .basic(let value): return value
            case .digest(var session): return session.authorization(for: request, clientNonce: clientNonce)
            case nil: continue
            }
        }
        return nil
    }

    /// Whether only the nonce of the last answer was too old: then the same credential answers once more.
    static func isStale(_ challenges: [String]) -> Bool {
        ChallengeParser.challenges(in: challenges).contains { DigestChallenge($0)?.isStale == true }
    }
}

extension ProtectionSpaces.Authorization {
    /// How a challenge is answered; nil if that can't be done with this credential, or for this request.
    init?(_ challenge: AuthenticationChallenge, _ credential: Credential, for request: DigestSession.Request) {
        if let digest = DigestChallenge(challenge) {
            guard let session = DigestSession(digest, credential, .crypto), session.canAuthorize(request) else {
                return nil
            }
            self = .digest(session)
        } else if challenge.scheme == "basic", let value = BasicAuthorization.value(credential) {
            self = .basic(value)
        } else {
            return nil
        }
    }
}

extension DigestHashes {
    /// The functions of swift-crypto.
    static let crypto = Self(
        md5: { Array(Insecure.MD5.hash(data: $0)) },
        sha256: { Array(SHA256.hash(data: $0)) }
    )
}

/// What a client mixes into its answers, so that no server can choose all that is hashed (RFC 7616, 3.4).
enum ClientNonce {
    static var random: String { RandomToken.hexadecimal }
}
