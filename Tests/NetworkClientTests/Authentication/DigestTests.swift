import NetworkClientCore
import Testing

@testable import NetworkClient

/// The examples of RFC 7616, 3.9, and of its predecessors; other values were computed with Python's hashlib.
struct DigestTests {
    private static let rfc7616 = """
        Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=ALGORITHM, \
        nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
        """
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"
    private static let mufasa = Credential(user: "Mufasa", password: "Circle of Life")
    private static let index = DigestSession.Request(method: "GET", target: "/dir/index.html")

    private static func challenge(_ algorithm: String, _ qop: String = "auth, auth-int") -> String {
        rfc7616.replacing("ALGORITHM", with: algorithm).replacing("auth, auth-int", with: qop)
    }

    private func session(_ text: String, _ credential: Credential = mufasa) throws -> DigestSession {
        let challenge = try #require(ChallengeParser.challenges(in: [text]).first.flatMap { DigestChallenge($0) })
        return try #require(DigestSession(challenge, credential, .crypto))
    }

    private func parts(_ value: String?) throws -> [String: String] {
        let value = try #require(value)
        let challenge = try #require(ChallengeParser.challenges(in: [value]).first)
        return Dictionary(challenge.parameters.map { ($0.name, $0.value) }) { first, _ in first }
    }

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func `the example of RFC 7616, 3.9.1, to the byte`(algorithm: String, response: String) throws {
        let value = ChallengeAuthorization.value(
            to: [Self.challenge(algorithm)],
            for: Self.index,
            Self.mufasa,
            clientNonce: Self.clientNonce
        )
        let expected = """
            Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", algorithm=\(algorithm), \
            nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", nc=00000001, \
            cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", qop=auth, response="\(response)", \
            opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
            """
        #expect(value == expected)
    }

    @Test
    func `the strongest of several challenges is used, as in RFC 7616, 3.9.1`() throws {
        let both = [Self.challenge("MD5"), "Basic realm=\"a\"", Self.challenge("SHA-256")]
        let value = ChallengeAuthorization.value(to: both, for: Self.index, Self.mufasa)
        #expect(try parts(value)["algorithm"] == "SHA-256")
    }

    @Test
    func `the examples of RFC 2617 and RFC 2069`() throws {
        let nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c093"
        var newer = try session(
            "Digest realm=\"testrealm@host.com\", qop=\"auth,auth-int\", nonce=\"\(nonce)\"",
            .init(user: "Mufasa", password: "Circle Of Life")
        )
        let fields = try parts(newer.authorization(for: Self.index, clientNonce: "0a4f113b"))
        #expect(fields["response"] == "6629fae49393a05397450978507c4ef1")
        #expect(fields["algorithm"] == nil)
        var older = try session(
            "Digest realm=\"testrealm@host.com\", nonce=\"\(nonce)\"",
            .init(user: "Mufasa", password: "CircleOfLife")
        )
        let old = try parts(older.authorization(for: Self.index, clientNonce: "0a4f113b"))
        #expect(old["response"] == "1949323746fe6a43ef61f9606e7febea")
        #expect(old["qop"] == nil && old["nc"] == nil && old["cnonce"] == nil)
    }

    @Test(arguments: [
        (
            "MD5-sess", ["e783283f46242139c486a698fec7211d", "6914b51e16f9459d9abc967ad41c4599"]
        ),
        (
            "SHA-256-sess",
            [
                "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7",
                "6bb0010aa4bdf46422a798c509ea32e256f27bd37de5cc3bdf8ed51e1d77d650",
            ]
        ),
    ])
    func `the key of a -sess algorithm is computed once, from the first nonces`(
        algorithm: String,
        responses: [String]
    ) throws {
        var session = try session(Self.challenge(algorithm))
        for (count, response) in zip(1..., responses) {
            // The first client nonce is kept.
            let nonce = count == 1 ? Self.clientNonce : "another"
            let fields = try parts(session.authorization(for: Self.index, clientNonce: nonce))
            #expect(fields["response"] == response)
            #expect(fields["cnonce"] == Self.clientNonce)
            #expect(fields["nc"] == "0000000\(count)")
        }
    }

    @Test(arguments: [
        ("MD5", "505b7c066de2e4b660ce942d6e102248"),
        ("SHA-256", "b75d41ffa7bcfae6894d956630e0722b51311aa4b5e1dbe5e7a0371b5aab6797"),
    ])
    func `auth-int is used if the server offers nothing else`(algorithm: String, response: String) throws {
        var session = try session(Self.challenge(algorithm, "auth-int"))
        let target = "/dir/index.html"
        let request = DigestSession.Request(method: "POST", target: target, body: Array("a=1&b=2".utf8))
        let fields = try parts(session.authorization(for: request, clientNonce: Self.clientNonce))
        #expect(fields["response"] == response)
        #expect(fields["qop"] == "auth-int")
        // The hash of a body that is not in memory is not known beforehand.
        let stream = DigestSession.Request(method: "POST", target: target, body: nil)
        #expect(!session.canAuthorize(stream))
        let none = session.authorization(for: stream, clientNonce: Self.clientNonce)
        #expect(none == nil)
        let basic = [Self.challenge(algorithm, "auth-int"), "Basic realm=a"]
        #expect(ChallengeAuthorization.value(to: basic, for: stream, Self.mufasa)?.hasPrefix("Basic ") == true)
    }

    @Test
    func `the user name is hashed if the server asks for it`() throws {
        var session = try session(
            """
            Digest realm="api@example.org", qop="auth", algorithm=SHA-256, charset=UTF-8, userhash=true, \
            nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK"
            """,
            .init(user: "J\u{E4}s\u{F8}n Doe", password: "Secret, or not?")
        )
        let request = DigestSession.Request(method: "GET", target: "/doe.json")
        let fields = try parts(session.authorization(for: request, clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm"))
        #expect(fields["username"] == "5a1a8a47df5c298551b9b42ba9b05835174a5bd7d511ff7fe9191d8e946fc4e7")
        #expect(fields["userhash"] == "true")
        #expect(fields["response"] == "06d0c14162099f487a92ebceaf71097534ee5f90d858386449c337ab69f7f6b8")
    }

    @Test
    func `a user name that is not ASCII is encoded by RFC 8187 for a server that accepts UTF-8`() throws {
        let user = Credential(user: "J\u{E4}s\u{F8}n Doe", password: "p")
        var session = try session("Digest realm=r, nonce=n, qop=auth, charset=UTF-8", user)
        let value = session.authorization(for: Self.index, clientNonce: "c")
        let field = try #require(value)
        #expect(field.hasPrefix("Digest username*=UTF-8''J%C3%A4s%C3%B8n%20Doe, realm=\"r\""))
        var older = try self.session("Digest realm=r, nonce=n, qop=auth", user)
        let old = older.authorization(for: Self.index, clientNonce: "c")
        #expect(old?.hasPrefix("Digest username=\"J\u{E4}s\u{F8}n Doe\"") == true)
    }

    @Test
    func `quotes are escaped in the field but not in the hash`() throws {
        var session = try session(
            "Digest realm=\"r\\\"\\\\s\", nonce=n, qop=auth, algorithm=MD5",
            .init(user: "a\"b\\c", password: "p")
        )
        let value = session.authorization(for: .init(method: "GET", target: "/"), clientNonce: "c")
        let field = try #require(value)
        #expect(field.contains("username=\"a\\\"b\\\\c\", realm=\"r\\\"\\\\s\""))
        #expect(field.contains("response=\"33cfa196155b20c6a8eca34f7af7e086\""))
    }

    @Test(arguments: [
        "Digest realm=r, nonce=n, algorithm=\"MD5-\u{17F}ess\", qop=auth",
        "Digest realm=r, nonce=n, algorithm=SHA-512-256", "Digest realm=r, nonce=n, qop=other", "Digest realm=r",
        "Digest nonce=n", "Digest realm=r, nonce=n, algorithm=MD5-sess", "Negotiate", "Bearer realm=r",
    ])
    func `an unsupported challenge is skipped`(challenge: String) {
        #expect(ChallengeAuthorization.value(to: [challenge], for: Self.index, Self.mufasa) == nil)
        let withBasic = ChallengeAuthorization.value(to: [challenge, "Basic realm=r"], for: Self.index, Self.mufasa)
        #expect(withBasic == "Basic TXVmYXNhOkNpcmNsZSBvZiBMaWZl")
    }

    @Test
    func `a credential with a line break is not sent`() {
        let hostile = Credential(user: "a\r\nX: y", password: "b")
        for challenge in ["Basic realm=r", "Digest realm=r, nonce=n"] {
            #expect(ChallengeAuthorization.value(to: [challenge], for: Self.index, hostile) == nil)
        }
    }

    @Test
    func `CONNECT uses host and port as the URI, and a stale nonce is recognized`() throws {
        let request = DigestSession.Request(method: "CONNECT", target: "example.com:443")
        let value = ChallengeAuthorization.value(to: ["Digest realm=r, nonce=n, qop=auth"], for: request, Self.mufasa)
        #expect(try parts(value)["uri"] == "example.com:443")
        #expect(ChallengeAuthorization.isStale(["Basic realm=r", "Digest realm=r, nonce=m, stale=true"]))
        #expect(!ChallengeAuthorization.isStale(["Digest realm=r, nonce=m, stale=false", "Digest realm=r, nonce=m"]))
    }

    @Test
    func `no description of a session shows the credential`() throws {
        var session = try session(Self.challenge("MD5"))
        _ = session.authorization(for: Self.index, clientNonce: "c")
        var text = "\(session) \(String(reflecting: session))"
        dump(session, to: &text)
        #expect(!text.contains("Mufasa") && !text.contains("Circle"))
    }
}

/// Computes the credentials for a list of challenges.
private enum ChallengeAuthorization {
    /// Returns the value of `Authorization` or `Proxy-Authorization`, for the strongest scheme that is supported.
    ///
    /// If the server responds to it with another challenge, it has rejected the credential, unless ``isStale(_:)``.
    ///
    /// - Parameters:
    ///   - challenges: The values of `WWW-Authenticate` or `Proxy-Authenticate`.
    ///   - request: The request; for CONNECT, the target is host and port.
    ///   - credential: The credential.
    ///   - clientNonce: A random text.
    /// - Returns: The value; nil if the credential fits none of the challenges.
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

    /// Returns whether only the nonce of the last credentials was too old: the same credential is then used once more.
    static func isStale(_ challenges: [String]) -> Bool {
        ChallengeParser.challenges(in: challenges).contains { DigestChallenge($0)?.isStale == true }
    }
}
