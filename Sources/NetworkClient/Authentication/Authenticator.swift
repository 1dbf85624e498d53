import NIOCore
import NIOHTTP1

/// Answers the challenges of a session's requests, and sends ahead what was answered before.
///
/// Belongs to the session's event loop.
final class Authenticator {
    unowned let core: SessionCore
    /// The credentials that are known beforehand, by origin.
    private let known: [HTTPOrigin: [SpaceCredential]]
    let handler: AuthenticationHandler?
    /// Who gets the tokens of an origin.
    let tokens: [HTTPOrigin: TokenKeeper]
    /// The spaces whose challenges were answered.
    var spaces = ProtectionSpaces()
    /// The challenges for which the handler is being asked, and who waits.
    var questions: [ChallengeKey: [ChallengedRequest]] = [:]

    init(_ policy: ResolvedAuthentication, _ core: SessionCore) {
        self.core = core
        known = policy.credentials
        handler = policy.handler
        tokens = policy.tokens.mapValues { TokenKeeper($0, core) }
    }

    /// The credential that is known beforehand for a realm.
    func knownCredential(for realm: String, at origin: HTTPOrigin) -> Credential? {
        known[origin]?.first { $0.realm == nil || $0.realm == realm }?.credential
    }

    // MARK: Sending

    /// An attempt begins: what is known to be wanted is sent along.
    func willSend(_ head: inout HTTPRequestHead, _ handle: RequestHandle, _ login: RequestLogin) {
        let origin = handle.current.url.origin
        handle.run.extras?.following?.sent = nil
        handle.run.extras?.following?.isHeldBack = false
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
        let value = spaces.answer(
            space.number,
            at: origin,
            for: Self.request(head, handle.current.copy, withBody: space.0.answer.needsBody),
            clientNonce: ClientNonce.random
        )
        guard let value else { return }
        head.headers.replaceOrAdd(name: "Authorization", value: value)
        let answered = AnsweredSpace(origin: origin, realm: space.0.realm, credential: space.0.credential)
        handle.following.sent = .space(answered, scheme: space.0.answer.scheme, isMade: answered == made)
    }

    /// What Digest makes its answer of.
    static func request(
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
    func mayAnswer(_ login: RequestLogin, _ handle: RequestHandle) -> Bool {
        let origin = handle.current.url.origin
        return login.credential(at: origin) != nil || handler != nil || known[origin] != nil
            || login.own == nil && tokens[origin] != nil
    }

    /// An answer has come that is no challenge: what was sent was good.
    func succeeded(_ handle: RequestHandle, _ head: HTTPResponseHead) {
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
                throw .init(.invalidConfiguration, .neverSent, "there are two sources of tokens for \(origin)")
            }
        }
    }

    private static func origin(_ text: String) throws(HTTPError) -> HTTPOrigin {
        do throws(HTTPError) {
            return try HTTPURL(text).origin
        } catch {
            throw .init(
                .invalidConfiguration,
                .neverSent,
                "a credential or token is for an origin that is none, such as https://api.example.com: \(error.reason)"
            )
        }
    }
}
