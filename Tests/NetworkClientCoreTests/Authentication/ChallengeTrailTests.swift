import Testing

@testable import NetworkClientCore

struct ChallengeTrailTests {
    private let origin = HTTPOrigin(isSecure: false, host: "a", port: 80)
    private let basic = challenges("Basic realm=r")
    private let digest = challenges("Digest realm=r, nonce=n, qop=auth")

    private static func challenges(_ value: String) -> [AuthenticationChallenge] {
        ChallengeParser.challenges(in: [value])
    }

    @Test
    func `the strongest supported challenge comes first`() {
        let all = Self.challenges(
            """
            Negotiate, Basic realm=r, Digest realm=r, nonce=a, algorithm=MD5, Digest realm=r, nonce=b, \
            algorithm=SHA-256-sess, qop=auth, Digest realm=r, nonce=c, algorithm=SHA-256, Digest realm=r, nonce=d, \
            algorithm=SHA-512-256, Digest realm=r, nonce=e, qop=other, Digest nonce=f, Basic charset="UTF-8"
            """
        )
        let ranked = ChallengeTrail.ranked(all).map { $0["nonce"] ?? $0.scheme }
        #expect(ranked == ["b", "c", "a", "basic"])
    }

    @Test
    func `rejected credentials for a challenge end authentication`() {
        var trail = ChallengeTrail()
        #expect(trail.challenged(basic, at: origin, sent: nil) == .authenticate(basic))
        trail.willAuthenticate("r")
        let sent = ChallengeTrail.Sent(scheme: "basic", realm: "r", isMade: true)
        #expect(trail.challenged(basic, at: origin, sent: sent) == .refused)
        #expect(trail.challenged(digest, at: origin, sent: sent) == .refused)
    }

    @Test
    func `rejected preemptive Basic credentials are not sent twice`() {
        var trail = ChallengeTrail()
        let sent = ChallengeTrail.Sent(scheme: "basic", realm: "r", isMade: false)
        #expect(trail.challenged(basic, at: origin, sent: sent) == .refused)
        // A challenge for another realm, or with another scheme, can still be answered.
        trail = .init()
        let other = Self.challenges("Basic realm=s")
        #expect(trail.challenged(other, at: origin, sent: sent) == .authenticate(other))
        #expect(trail.challenged(digest, at: origin, sent: sent) == .authenticate(digest))
    }

    @Test
    func `a stale nonce does not count as a rejection`() {
        var trail = ChallengeTrail()
        let ahead = ChallengeTrail.Sent(scheme: "digest", realm: "r", isMade: false)
        #expect(trail.challenged(digest, at: origin, sent: ahead) == .authenticate(digest))
        trail.willAuthenticate("r")
        let made = ChallengeTrail.Sent(scheme: "digest", realm: "r", isMade: true)
        let stale = Self.challenges("Digest realm=r, nonce=m, qop=auth, stale=TRUE")
        #expect(trail.challenged(stale, at: origin, sent: made) == .renew(stale[0]))
        #expect(trail.challenged(digest, at: origin, sent: made) == .refused)
    }

    @Test
    func `a server that rejects every nonce as stale ends authentication`() {
        var trail = ChallengeTrail()
        let made = ChallengeTrail.Sent(scheme: "digest", realm: "r", isMade: true)
        let stale = Self.challenges("Digest realm=r, nonce=m, qop=auth, stale=true")
        let verdicts = (0..<9).map { _ in trail.challenged(stale, at: origin, sent: made) }
        #expect(verdicts == Array(repeating: .renew(stale[0]), count: 8) + [.refused])
    }

    @Test
    func `another origin starts authentication over`() {
        var trail = ChallengeTrail()
        _ = trail.challenged(basic, at: origin, sent: nil)
        trail.willAuthenticate("r")
        let other = HTTPOrigin(isSecure: false, host: "b", port: 80)
        #expect(trail.challenged(basic, at: other, sent: nil) == .authenticate(basic))
    }

    @Test
    func `unsupported schemes are ignored`() {
        var trail = ChallengeTrail()
        #expect(trail.challenged(Self.challenges("Negotiate, NTLM"), at: origin, sent: nil) == .authenticate([]))
        #expect(trail.challenged([], at: origin, sent: nil) == .refused)
    }
}
