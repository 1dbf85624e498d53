/// The answer to a list of challenges, for one request.
enum ChallengeAnswer {
    /// The value of `Authorization` or `Proxy-Authorization`, by the strongest scheme that is understood.
    ///
    /// Each call answers anew; whoever gets the next challenge to what was answered has been refused, unless
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
            let space = ProtectionSpaces.Answer(challenge, credential, for: request)
            switch space {
            case .basic(let value): return value
            case .digest(var session): return session.answer(request, clientNonce: clientNonce)
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

extension ProtectionSpaces.Answer {
    /// How a challenge is answered; nil if that can't be done with this credential, or for this request.
    init?(_ challenge: AuthenticationChallenge, _ credential: Credential, for request: DigestSession.Request) {
        if let digest = DigestChallenge(challenge) {
            guard let session = DigestSession(digest, credential, .crypto), session.canAnswer(request) else {
                return nil
            }
            self = .digest(session)
        } else if challenge.scheme == "basic", let value = BasicAnswer.value(credential) {
            self = .basic(value)
        } else {
            return nil
        }
    }
}
