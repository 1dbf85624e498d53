/// What a request has answered to challenges so far: so that it never goes in circles.
///
/// An answer made for a challenge that is refused is the end. One that went ahead of any challenge may be of the wrong
/// space, or made with a nonce that has gone out of use: then the challenge is answered once.
public struct ChallengeTrail: Sendable {
    /// So often one request is challenged at most, whatever the servers make up.
    private static let limit = 8

    /// With what the request went out that is challenged now.
    public struct Sent: Sendable, Hashable {
        /// The scheme in lower case.
        public var scheme: String
        /// The space that was answered for.
        public var realm: String
        /// Whether it was made for the challenge before, and not sent ahead of any.
        public var isMade: Bool

        /// Describes it.
        public init(scheme: String, realm: String, isMade: Bool) {
            self.scheme = scheme
            self.realm = realm
            self.isMade = isMade
        }
    }

    /// What follows a challenge.
    public enum Verdict: Sendable, Hashable {
        /// The answer to the last one was refused, or there have been too many: no more is made.
        case refused
        /// The nonce was too old: the same credential answers by this challenge.
        case renew(AuthenticationChallenge)
        /// The first of these that there is a credential for is to be answered; the strongest comes first.
        case answer([AuthenticationChallenge])
    }

    private var count = 0
    /// The realms of the present origin whose challenges were answered.
    private var answered: Set<String> = []
    private var origin: HTTPOrigin?

    /// Has answered nothing.
    public init() {}

    /// A challenge has come.
    ///
    /// - Parameters:
    ///   - challenges: Those of the answer.
    ///   - origin: Who challenges.
    ///   - sent: With what the request went out; nil for nothing.
    /// - Returns: What follows.
    public mutating func challenged(
        _ challenges: [AuthenticationChallenge],
        at origin: HTTPOrigin,
        sent: Sent?
    ) -> Verdict {
        if self.origin != origin { (self.origin, answered) = (origin, []) }
        count += 1
        guard count <= Self.limit else { return .refused }
        if let sent, let renewal = Self.renewal(of: sent, in: challenges) { return .renew(renewal) }
        let open = challenges.filter { !answered.contains($0.realm ?? "") && !Self.isSame(sent, $0) }
        return open.isEmpty ? .refused : .answer(Self.ranked(open))
    }

    /// A challenge of a realm is answered now.
    public mutating func answers(_ realm: String) { answered.insert(realm) }

    private static func renewal(of sent: Sent, in challenges: [AuthenticationChallenge]) -> AuthenticationChallenge? {
        guard sent.scheme == "digest" else { return nil }
        return ranked(challenges).first {
            $0.realm == sent.realm && DigestChallenge($0)?.isStale == true
        }
    }

    /// Whether the answer to a challenge would be what was sent, and refused, already.
    private static func isSame(_ sent: Sent?, _ challenge: AuthenticationChallenge) -> Bool {
        guard let sent, sent.realm == challenge.realm ?? "" else { return false }
        return sent.isMade || sent.scheme == "basic" && challenge.scheme == "basic"
    }

    /// Those that can be answered with a user and a password, the strongest first; of equals, the server's order.
    public static func ranked(_ challenges: [AuthenticationChallenge]) -> [AuthenticationChallenge] {
        challenges.enumerated()
            .compactMap { position, challenge in strength(of: challenge).map { ($0, position, challenge) } }
            .sorted { ($1.0, $0.1) < ($0.0, $1.1) }
            .map(\.2)
    }

    /// How strong a challenge's scheme is; nil for one that can't be answered with a user and a password.
    private static func strength(of challenge: AuthenticationChallenge) -> Int? {
        switch challenge.scheme {
        case "basic": return challenge.realm == nil ? nil : 0
        case "digest": return DigestChallenge(challenge).map { $0.algorithm == .md5 ? 1 : 2 }
        default: return nil
        }
    }
}
