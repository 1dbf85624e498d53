import Testing

@testable import NetworkClient

struct ProxyAuthenticatorTests {
    private let authenticator = ProxyAuthenticator()
    private let proxy: ProxyServer
    private let digest = #"Digest realm="r", nonce="one", qop="auth""#

    init() throws { proxy = try ProxyServer("http://me:pw@proxy:1") }

    private func proof(_ target: String = "a:443") -> ProxyProof? {
        authenticator.proof(for: proxy, method: "CONNECT", target: target)
    }

    @Test func `without a user, no credentials are sent`() throws {
        let open = try ProxyServer("http://proxy:1")
        #expect(authenticator.proof(for: open, method: "CONNECT", target: "a:443") == nil)
        #expect(!authenticator.learn([digest, #"Basic realm="r""#], from: open, after: nil))
    }

    @Test func `Basic is sent preemptively, and refused once`() {
        #expect(proof() == .init(value: "Basic bWU6cHc=", nonce: nil))
        #expect(!authenticator.learn([#"Basic realm="r""#], from: proxy, after: proof()))
        #expect(!authenticator.learn([], from: proxy, after: proof()))
        #expect(!authenticator.learn(["Negotiate"], from: proxy, after: proof()))
    }

    @Test func `Digest is sent after a challenge, with a nonce count`() throws {
        #expect(authenticator.learn([#"Basic realm="r""#, digest], from: proxy, after: proof()))
        for count in 1...3 {
            let value = try #require(proof()?.value)
            #expect(value.hasPrefix("Digest username=\"me\", realm=\"r\", uri=\"a:443\""))
            #expect(value.contains("nc=0000000\(count)"))
            #expect(!value.contains("pw"))
        }
        #expect(!authenticator.learn([digest], from: proxy, after: proof()))
    }

    @Test func `a stale nonce is replaced, and requests with the old one are retried`() throws {
        #expect(authenticator.learn([digest], from: proxy, after: nil))
        let (first, second) = (proof(), proof())
        let next = #"Digest realm="r", nonce="two", qop="auth", stale=true"#
        #expect(authenticator.learn([next], from: proxy, after: first))
        #expect(proof()?.nonce == "two")
        #expect(authenticator.learn([digest], from: proxy, after: second))
        #expect(proof()?.nonce == "two")
    }

    @Test func `other proxies get no credentials`() throws {
        #expect(authenticator.learn([digest], from: proxy, after: nil))
        let other = try ProxyServer("http://me:pw@other:1")
        #expect(authenticator.proof(for: other, method: "CONNECT", target: "a:443")?.nonce == nil)
    }
}
