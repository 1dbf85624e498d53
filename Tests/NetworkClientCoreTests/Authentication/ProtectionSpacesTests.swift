import Testing

@testable import NetworkClientCore

struct ProtectionSpacesTests {
    private let origin = HTTPOrigin(isSecure: true, host: "example.com", port: 443)
    private let anna = Credential(user: "anna", password: "a")
    private let berta = Credential(user: "berta", password: "b")

    private func basic(
        _ realm: String,
        _ path: String,
        by credential: Credential? = nil,
        isShared: Bool = true
    ) -> ProtectionSpaces.Space {
        .init(
            realm: realm,
            credential: credential ?? anna,
            isShared: isShared,
            authorization: .basic("Basic \(realm)"),
            path: path
        )
    }

    private func realm(_ spaces: ProtectionSpaces, _ path: String, _ credential: Credential? = nil) -> String? {
        spaces.space(of: path, at: origin, for: credential)?.0.realm
    }

    @Test
    func `paths at the same depth or deeper are in the same space`() {
        var spaces = ProtectionSpaces()
        spaces.keep(basic("docs", "/docs/index.html"), at: origin)
        #expect(realm(spaces, "/docs/") == "docs")
        #expect(realm(spaces, "/docs/test.doc") == "docs")
        #expect(realm(spaces, "/docs/deep/er") == "docs")
        #expect(realm(spaces, "/docs") == nil)
        #expect(realm(spaces, "/other") == nil)
        spaces.keep(basic("deep", "/docs/deep/"), at: origin)
        #expect(realm(spaces, "/docs/deep/er") == "deep")
        #expect(realm(spaces, "/docs/test.doc") == "docs")
        spaces.keep(basic("docs", "/index.html"), at: origin)
        #expect(realm(spaces, "/other") == "docs")
    }

    @Test(arguments: [
        HTTPOrigin(isSecure: false, host: "example.com", port: 443),
        .init(isSecure: true, host: "example.com", port: 8_443),
        .init(isSecure: true, host: "www.example.com", port: 443),
    ])
    func `spaces of different origins are separate`(other: HTTPOrigin) {
        var spaces = ProtectionSpaces()
        spaces.keep(basic("a", "/"), at: origin)
        #expect(spaces.space(of: "/", at: other, for: nil) == nil)
        #expect(spaces.space(of: "/", at: other, for: anna) == nil)
    }

    @Test
    func `a request's own credential is not used for others`() {
        var spaces = ProtectionSpaces()
        spaces.keep(basic("a", "/", isShared: false), at: origin)
        #expect(realm(spaces, "/") == nil)
        #expect(realm(spaces, "/", berta) == nil)
        #expect(realm(spaces, "/", anna) == "a")
    }

    @Test
    func `rejected credentials are removed`() {
        var spaces = ProtectionSpaces()
        spaces.keep(basic("a", "/"), at: origin)
        spaces.forget("b", anna, at: origin)
        spaces.forget("a", berta, at: origin)
        #expect(realm(spaces, "/") == "a")
        spaces.forget("a", anna, at: origin)
        #expect(realm(spaces, "/") == nil)
    }

    @Test
    func `the number of spaces and origins is limited`() {
        var spaces = ProtectionSpaces()
        for number in 0..<100 { spaces.keep(basic("realm \(number)", "/"), at: origin) }
        #expect(realm(spaces, "/") == "realm 99")
        spaces.forget("realm 83", anna, at: origin)
        for number in 84..<100 { spaces.forget("realm \(number)", anna, at: origin) }
        #expect(realm(spaces, "/") == nil)
        for number in 0..<1_000 {
            spaces.keep(basic("a", "/"), at: .init(isSecure: false, host: "host\(number)", port: 80))
        }
        #expect(spaces.space(of: "/", at: .init(isSecure: false, host: "host0", port: 80), for: nil) == nil)
    }

    @Test
    func `Digest covers the whole origin, counts nonces and uses the next one`() throws {
        // A hash function that returns its input.
        let hashes = DigestHashes(md5: { $0.reversed() }, sha256: { $0 })
        let challenge = AuthenticationChallenge(
            scheme: "digest",
            parameters: [
                .init(name: "realm", value: "r"), .init(name: "nonce", value: "n1"), .init(name: "qop", value: "auth"),
            ]
        )
        let session = try #require(DigestChallenge(challenge).flatMap { DigestSession($0, anna, hashes) })
        var spaces = ProtectionSpaces()
        spaces.keep(
            .init(realm: "r", credential: anna, isShared: true, authorization: .digest(session), path: "/deep/path"),
            at: origin
        )
        let number = try #require(spaces.space(of: "/", at: origin, for: nil)).number
        func authorization() throws -> String {
            let request = DigestSession.Request(method: "GET", target: "/")
            let value = spaces.authorization(number, at: origin, for: request, clientNonce: "c")
            return try #require(value)
        }
        #expect(try authorization().contains("nonce=\"n1\", nc=00000001, cnonce=\"c\", qop=auth"))
        #expect(try authorization().contains("nc=00000002"))
        spaces.learn(nextNonce: "n2", of: "r", anna, at: origin)
        #expect(try authorization().contains("nonce=\"n2\", nc=00000001"))
        spaces.learn(nextNonce: "n2", of: "r", anna, at: origin)
        #expect(try authorization().contains("nonce=\"n2\", nc=00000002"))
    }
}
