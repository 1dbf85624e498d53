import Crypto
import NIOCore
import NIOHTTP1
import NetworkClientCore

/// Responds to the challenges of origins, and sends credentials preemptively where they were accepted before.
///
/// Confined to the session's event loop, which each entry point checks.
final class Authenticator {
    private unowned let core: SessionCore
    /// The configured credentials, by origin.
    private let configured: [HTTPOrigin: [SpaceCredential]]
    private let handler: AuthenticationHandler?
    /// The token keepers, by origin.
    let tokens: [HTTPOrigin: TokenKeeper]
    private let netrc: NetrcCredentials?
    /// The origins whose challenges for Negotiate are responded to.
    private let negotiating: Set<HTTPOrigin>
    /// The protection spaces for which credentials were sent.
    private var spaces = ProtectionSpaces()
    /// The challenges that the handler was asked about, each with the requests that wait for its reply.
    private var pendingChallenges: [ChallengeKey: [ChallengedRequest]] = [:]

    init(_ policy: ResolvedAuthentication, _ core: SessionCore) {
        self.core = core
        configured = policy.credentials
        handler = policy.handler
        netrc = policy.netrc
        negotiating = policy.mechanismOrigins
        tokens = policy.tokens.mapValues { TokenKeeper($0, core) }
    }

    /// Returns the configured credential for a realm, otherwise that of the netrc file; nil if there is none.
    private func configuredCredential(for realm: String, _ handle: RequestHandle) -> Credential? {
        let configured = configured[handle.current.url.origin]?.first { $0.realm == nil || $0.realm == realm }
        return configured?.credential ?? netrcCredential(handle)
    }

    private func netrcCredential(_ handle: RequestHandle) -> Credential? {
        netrc?.credential(at: handle.current.url.origin, from: handle.request.url.origin)
    }

    // MARK: Sending

    /// Adds credentials to the head of an attempt: the token, or those for the space that the URL is assumed to be in.
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
        else { return sendPreemptively(&head, handle, login) }
        let value = spaces.authorization(
            space.number,
            at: origin,
            for: Self.request(head, handle.current.copy, withBody: space.0.authorization.needsBody),
            clientNonce: ClientNonce.random
        )
        guard let value else { return }
        head.headers.replaceOrAdd(name: "Authorization", value: value)
        let used = AuthenticatedSpace(origin: origin, realm: space.0.realm, credential: space.0.credential)
        handle.following.sent = .space(used, scheme: space.0.authorization.scheme, isMade: used == made)
    }

    /// Adds Basic credentials before a challenge, if that is wanted.
    private func sendPreemptively(
        _ head: inout HTTPRequestHead,
        _ handle: RequestHandle,
        _ login: RequestCredentials
    ) {
        guard let (credential, realm) = preemptiveCredential(handle, login),
            let value = BasicAuthorization.value(credential)
        else { return }
        head.headers.replaceOrAdd(name: "Authorization", value: value)
        handle.following.sent = .preemptive(realm: realm)
    }

    /// Returns the credential to send before a challenge, and its realm if that is known; nil for none.
    private func preemptiveCredential(
        _ handle: RequestHandle,
        _ login: RequestCredentials
    ) -> (Credential, realm: String?)? {
        let origin = handle.current.url.origin
        if let own = login.credential(at: origin) { return login.isPreemptive ? (own, nil) : nil }
        if let configured = configured[origin]?.first(where: \.isPreemptive) {
            return (configured.credential, configured.realm)
        }
        guard netrc?.isPreemptive == true, configured[origin] == nil else { return nil }
        return netrcCredential(handle).map { ($0, nil) }
    }

    /// Returns the parts of a request from which Digest computes its credentials.
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

    /// Returns whether there may be credentials for a challenge: a credential, a token or the handler.
    func canAuthenticate(_ login: RequestCredentials, _ handle: RequestHandle) -> Bool {
        let origin = handle.current.url.origin
        return login.credential(at: origin) != nil || handler != nil || configured[origin] != nil
            || login.own == nil && tokens[origin] != nil || netrcCredential(handle) != nil
    }

    /// Records that the credentials of a request were accepted: its response is not a challenge.
    func succeeded(_ handle: RequestHandle, _ head: HTTPResponseHead) {
        core.loop.preconditionInEventLoop()
        guard let following = handle.run.extras?.following, let sent = following.sent else { return }
        following.sent = nil
        switch sent {
        case .token(let generation, let origin): tokens[origin]?.accepted(generation)
        case .preemptive: break
        case .space(let space, let scheme, _):
            guard scheme == "digest" else { return }
            let info = ChallengeParser.parameters(in: head.headers["Authentication-Info"])
            guard let next = info["nextnonce"] else { return }
            spaces.learn(nextNonce: next, of: space.realm, space.credential, at: space.origin)
        }
    }
}

/// A session's authentication policy by origin.
struct ResolvedAuthentication: Sendable {
    var credentials: [HTTPOrigin: [SpaceCredential]] = [:]
    var tokens: [HTTPOrigin: BearerTokens] = [:]
    var handler: AuthenticationHandler?
    var netrc: NetrcCredentials?
    /// The mechanism for the scheme Negotiate, and the origins whose challenges it responds to.
    var mechanism: (any SecurityMechanism)?
    var mechanismOrigins: Set<HTTPOrigin> = []

    /// Creates the policy, parses its origins and reads the netrc file.
    ///
    /// - Throws: `invalidConfiguration` if an origin is not a URL, or has two sources of tokens, or if the file can't be
    ///   used.
    init(_ policy: AuthenticationPolicy) throws(HTTPError) {
        handler = policy.handler
        if let source = policy.netrc { netrc = try NetrcCredentials(source) }
        for credential in policy.credentials {
            credentials[try Self.origin(credential.origin), default: []].append(credential)
        }
        mechanism = policy.mechanism
        for origin in policy.mechanism?.origins ?? [] { mechanismOrigins.insert(try Self.origin(origin)) }
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
                    "a credential, a token or Negotiate needs an origin, such as https://api.example.com: \(error.reason)"
            )
        }
    }
}

/// Identifies equal challenges: the handler is asked once, and its reply serves all requests that wait for it.
struct ChallengeKey: Hashable {
    let origin: HTTPOrigin
    let scheme: String
    let realm: String
}

/// A request whose response contains challenges.
struct ChallengedRequest {
    let handle: RequestHandle
    let response: DataResponse
    /// The challenges that are left, the strongest first; the handler is asked about the first.
    var challenges: [AuthenticationChallenge]
    /// The realm for which credentials were sent with the request; nil for none.
    var sentRealm: String?
}

extension Authenticator {
    /// Decides what follows a response with challenges.
    func challenged(_ handle: RequestHandle, _ response: DataResponse, _ login: RequestCredentials) -> ResponseDecision
    {
        core.loop.preconditionInEventLoop()
        let following = handle.following
        let sent = following.sent
        following.sent = nil
        let origin = handle.current.url.origin
        if login.own == nil, let keeper = tokens[origin] { return keeper.refused(handle, response, sent) }
        let challenges = ChallengeParser.challenges(in: response["WWW-Authenticate"])
        if !negotiating.contains(origin), let reason = UnsupportedSchemes.reason(for: challenges) {
            return .fail(unsupportedSchemes(reason, handle, response))
        }
        let space = sent?.space
        switch following.trail.challenged(challenges, at: origin, sent: sent?.note) {
        case .refused:
            if let space { spaces.forget(space.realm, space.credential, at: origin) }
            return .end
        case .renew(let challenge):
            guard let credential = space?.credential else { return .end }
            let isShared = login.credential(at: origin) == nil
            return authenticate(challenge, credential, handle, isShared: isShared) ?? .end
        case .authenticate(let challenges):
            return authenticate(
                .init(handle: handle, response: response, challenges: challenges, sentRealm: space?.realm),
                login
            )
        }
    }

    /// Responds to the first challenge for which there is a credential, or asks the handler about it.
    private func authenticate(_ challenged: ChallengedRequest, _ login: RequestCredentials) -> ResponseDecision {
        let handle = challenged.handle
        let origin = handle.current.url.origin
        var challenged = challenged
        while let challenge = challenged.challenges.first {
            if let own = login.credential(at: origin) {
                if let decision = authenticate(challenge, own, handle, isShared: false) { return decision }
            } else if let decision = authenticateWithShared(challenge, challenged) {
                return decision
            } else if let handler {
                ask(handler, challenge, challenged)
                return .deferred
            } else if let decision = authenticateWithConfigured(challenge, handle) {
                return decision
            }
            challenged.challenges.removeFirst()
        }
        return .end
    }

    /// Responds with the credential that other requests have used for the realm since this one was sent.
    private func authenticateWithShared(
        _ challenge: AuthenticationChallenge,
        _ challenged: ChallengedRequest
    ) -> ResponseDecision? {
        let handle = challenged.handle
        guard let realm = challenge.realm, realm != challenged.sentRealm,
            let credential = spaces.sharedCredential(of: realm, at: handle.current.url.origin)
        else { return nil }
        return authenticate(challenge, credential, handle, isShared: true)
    }

    /// Responds with the configured credential; nil if there is none.
    private func authenticateWithConfigured(
        _ challenge: AuthenticationChallenge,
        _ handle: RequestHandle
    ) -> ResponseDecision? {
        guard let realm = challenge.realm, let credential = configuredCredential(for: realm, handle) else { return nil }
        return authenticate(challenge, credential, handle, isShared: true)
    }

    /// Stores the credentials for a challenge, and returns the decision to resend the request; nil if the credential
    /// does not fit the challenge.
    private func authenticate(
        _ challenge: AuthenticationChallenge,
        _ credential: Credential,
        _ handle: RequestHandle,
        isShared: Bool
    ) -> ResponseDecision? {
        guard let realm = challenge.realm else { return nil }
        let current = handle.current.copy
        let needsBody = DigestChallenge(challenge)?.protections?.contains(.request) == false
        let request = Self.request(current.head, current, withBody: needsBody)
        guard let authorization = ProtectionSpaces.Authorization(challenge, credential, for: request) else {
            return nil
        }
        let origin = current.url.origin
        let space = ProtectionSpaces.Space(
            realm: realm,
            credential: credential,
            isShared: isShared,
            authorization: authorization,
            path: String(current.url.path)
        )
        spaces.keep(space, at: origin)
        handle.following.trail.willAuthenticate(realm)
        handle.following.made = .init(origin: origin, realm: realm, credential: credential)
        if core.events.isObserved(handle) {
            core.events.tell(.authenticating(scheme: challenge.scheme, realm: realm), handle)
        }
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
        let isAsked = pendingChallenges[key] != nil
        pendingChallenges[key, default: []].append(challenged)
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
        for waiting in pendingChallenges.removeValue(forKey: key) ?? [] {
            // The request may have ended meanwhile.
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
        case .failure(let cause): return .fail(handlerFailed(waiting, cause))
        case .success(.refuse): return .end
        case .success(.credential(let credential)):
            if let decision = authenticate(challenge, credential, handle, isShared: true) { return decision }
        case .success(.byDefault):
            if let decision = authenticateWithConfigured(challenge, handle) { return decision }
        case .success(.passOver): break
        }
        var next = waiting
        next.challenges.removeFirst()
        return authenticate(next, login)
    }

    // MARK: Errors

    /// Returns the error of a request for which the authentication handler has thrown an error.
    private func handlerFailed(_ waiting: ChallengedRequest, _ cause: any Error) -> HTTPError {
        let host = waiting.handle.current.endpoint.text
        let reason = "\(host) requires authentication, and the handler for it failed (see the cause)"
        var error = HTTPError(.authenticationFailed, processing: .answered, reason: reason, cause: cause)
        error.response = waiting.response.head
        return error
    }

    /// Returns the error of a request whose server offers only schemes that the client refuses.
    private func unsupportedSchemes(_ reason: String, _ handle: RequestHandle, _ response: DataResponse) -> HTTPError {
        let reason = "\(handle.current.endpoint.text) offers only \(reason)"
        var error = HTTPError(.authenticationFailed, processing: .answered, reason: reason)
        error.add(response, of: handle)
        return error
    }
}

extension SentCredential {
    /// The space for which credentials were sent; nil for a token, and for one that is not known.
    fileprivate var space: AuthenticatedSpace? {
        guard case .space(let used, _, _) = self else { return nil }
        return used
    }

    /// The description for the trail of challenges; nil for a token.
    fileprivate var note: ChallengeTrail.Sent? {
        switch self {
        case .token: nil
        case .preemptive(let realm): .init(scheme: "basic", realm: realm, isMade: false)
        case .space(let used, let scheme, let isMade): .init(scheme: scheme, realm: used.realm, isMade: isMade)
        }
    }
}

extension HTTPOrigin {
    /// Returns the error of a request that was not sent because no token could be obtained for it.
    func tokenRefreshFailed(_ cause: any Error) -> HTTPError {
        let reason = "\(self) needs a token, and none could be obtained (see the cause)"
        return .init(.tokenRefreshFailed, processing: .neverSent, reason: reason, cause: cause)
    }

    /// Returns the error of a request whose token was refused, and for which no other token could be obtained.
    func tokenRefreshFailed(after response: DataResponse, _ cause: any Error) -> HTTPError {
        let reason = "\(self) refused the token, and a new one could not be obtained (see the cause)"
        var error = HTTPError(.tokenRefreshFailed, processing: .answered, reason: reason, cause: cause)
        error.response = response.head
        return error
    }
}

extension ProtectionSpaces.Authorization {
    /// Creates the credentials for a challenge; nil if the credential or the request does not allow it.
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

/// The client's random part of Digest credentials, so that no server can choose all of the hashed data (RFC 7616, 3.4).
enum ClientNonce {
    static var random: String { RandomToken.hexadecimal }
}
