/// The challenges of one request so far, which are recorded so that authentication never loops.
///
/// If credentials that were created for a challenge are rejected, authentication ends. Credentials that were sent
/// preemptively may be for the wrong protection space, or use a nonce that has expired; the challenge is then answered
/// once.
package struct ChallengeTrail: Sendable {
    /// The maximum number of challenges for one request, whatever the servers send.
    private static let limit = 8

    /// The credentials of the request that is being challenged.
    package struct Sent: Sendable, Hashable {
        /// The scheme in lower case.
        package var scheme: String
        /// The realm for which they were created; nil if they were sent without a challenge, for any realm.
        package var realm: String?
        /// Whether they were created for the previous challenge, rather than sent preemptively.
        package var isMade: Bool

        /// Creates a description of the credentials.
        package init(scheme: String, realm: String?, isMade: Bool) {
            self.scheme = scheme
            self.realm = realm
            self.isMade = isMade
        }
    }

    /// The consequence of a challenge.
    package enum Verdict: Sendable, Hashable {
        /// The last credentials were rejected, or there were too many challenges: authentication ends.
        case refused
        /// The nonce was stale: the same credential is used with this challenge.
        case renew(AuthenticationChallenge)
        /// The first of these challenges for which there is a credential is to be answered. The strongest comes first.
        case authenticate([AuthenticationChallenge])
    }

    private var count = 0
    /// The realms of the current origin whose challenges were answered.
    private var answered: Set<String> = []
    private var origin: HTTPOrigin?

    /// Creates a trail without challenges.
    package init() {}

    /// Records the challenges of a response.
    ///
    /// - Parameters:
    ///   - challenges: The challenges of the response.
    ///   - origin: The origin of the response.
    ///   - sent: The credentials of the request; nil for none.
    /// - Returns: The consequence.
    package mutating func challenged(
        _ challenges: [AuthenticationChallenge],
        at origin: HTTPOrigin,
        sent: Sent?
    ) -> Verdict {
        if self.origin != origin { (self.origin, answered) = (origin, []) }
        count += 1
        guard count <= Self.limit else { return .refused }
        if let sent, let renewal = Self.renewal(of: sent, in: challenges) { return .renew(renewal) }
        let open = challenges.filter { !answered.contains($0.realm ?? "") && !Self.isSame(sent, $0) }
        return open.isEmpty ? .refused : .authenticate(Self.ranked(open))
    }

    /// Records that the challenge of a realm is being answered.
    package mutating func willAuthenticate(_ realm: String) { answered.insert(realm) }

    private static func renewal(of sent: Sent, in challenges: [AuthenticationChallenge]) -> AuthenticationChallenge? {
        guard sent.scheme == "digest" else { return nil }
        return ranked(challenges).first {
            $0.realm == sent.realm && DigestChallenge($0)?.isStale == true
        }
    }

    /// Whether credentials for a challenge would be those that were sent, and rejected, already.
    private static func isSame(_ sent: Sent?, _ challenge: AuthenticationChallenge) -> Bool {
        guard let sent, sent.realm == nil || sent.realm == challenge.realm ?? "" else { return false }
        return sent.isMade || sent.scheme == "basic" && challenge.scheme == "basic"
    }

    /// Returns the challenges that can be answered with a user and a password, strongest first; equally strong ones in
    /// the server's order.
    package static func ranked(_ challenges: [AuthenticationChallenge]) -> [AuthenticationChallenge] {
        challenges.enumerated()
            .compactMap { position, challenge in strength(of: challenge).map { ($0, position, challenge) } }
            .sorted { ($1.0, $0.1) < ($0.0, $1.1) }
            .map(\.2)
    }

    /// Returns the strength of a challenge's scheme; nil if it can't be answered with a user and a password.
    private static func strength(of challenge: AuthenticationChallenge) -> Int? {
        switch challenge.scheme {
        case "basic": return challenge.realm == nil ? nil : 0
        case "digest": return DigestChallenge(challenge).map { $0.algorithm == .md5 ? 1 : 2 }
        default: return nil
        }
    }
}
