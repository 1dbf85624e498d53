import HTTPLab
import NetworkClientCore
import Testing

@testable import NetworkClient

/// Basic and Digest against third-party servers.
@Suite(.timeLimit(.minutes(5)))
struct ServerAuthenticationTests {
    private static let mufasa = Credential(user: "mufasa", password: "circle")

    private func session(_ url: String, _ credential: Credential = mufasa) throws -> HTTPSession {
        try HTTPSession(
            baseURL: url,
            configuration: .init(
                timeouts: .lasting,
                authentication: .init(credentials: [.init(credential, for: url)])
            )
        )
    }

    /// The number of times that a request is sent, and its response.
    private func outcome(_ request: DataRequest) async throws -> [Int] {
        let response = try await request.response()
        return [response.status, response.metrics.attempts]
    }

    // MARK: Apache

    @Test(.enabled(if: Apache.isInstalled, Comment(rawValue: Apache.advice)), arguments: ["basic", "digest"])
    func `Apache challenges once`(scheme: String) async throws {
        let apache = try Apache()
        let session = try session(apache.url)
        #expect(try await outcome(session.get("\(scheme)/file")) == [200, 2])
        #expect(try await session.get("\(scheme)/file").response().bytes == Array("from \(scheme)/file".utf8))
        #expect(try await outcome(session.get("\(scheme)/file?a=b&c=%20d")) == [200, 1])
        #expect(try await outcome(session.get("\(scheme)/deep/file")) == [200, 1])
        #expect(try await outcome(session.head("\(scheme)/file")) == [200, 1])
        #expect(try await outcome(session.get("file")) == [200, 1])
    }

    @Test(.enabled(if: Apache.isInstalled, Comment(rawValue: Apache.advice)), arguments: ["basic", "digest"])
    func `Apache refuses once, and its 401 is the response`(scheme: String) async throws {
        let apache = try Apache()
        for wrong in [Credential(user: "mufasa", password: "wrong"), .init(user: "scar", password: "circle")] {
            let session = try session(apache.url, wrong)
            #expect(try await outcome(session.get("\(scheme)/file")) == [401, 2])
            #expect(try await outcome(session.get("\(scheme)/file")) == [401, 2])
        }
        #expect(try await outcome(session("http://localhost").get("\(apache.url)/\(scheme)/file")) == [401, 1])
    }

    @Test(.enabled(if: Apache.isInstalled, Comment(rawValue: Apache.advice)))
    func `a nonce that is stale for Apache is not a refusal`() async throws {
        let first = try Apache()
        let session = try session(first.url)
        #expect(try await outcome(session.get("digest/file")) == [200, 2])
        // The next server has other secrets: the first one's nonces are stale to it.
        try first.stop()
        let second = try Apache(after: first)
        let handle = session.get("digest/file", options: .init(startsAtOnce: false))
        let events = handle.events
        handle.resume()
        #expect(try await handle.response().status == 200)
        var stale: [Bool] = []
        for await case .head(let head) in events where head.status.code == 401 {
            stale.append(head.headerFields[.wwwAuthenticate]?.contains("stale=true") == true)
        }
        #expect(stale == [true])
        #expect(try await outcome(session.get("digest/deep/file")) == [200, 1])
        try second.stop()
    }

    @Test(.enabled(if: Apache.isInstalled, Comment(rawValue: Apache.advice)))
    func `all of many concurrent requests are accepted`() async throws {
        let apache = try Apache()
        let session = try session(apache.url)
        let requests = (0..<100).map { session.get("digest/file?\($0)") }
        for request in requests { #expect(try await request.response().status == 200) }
    }

    // MARK: lighttpd

    @Test(
        .enabled(if: Lighttpd.isInstalled, Comment(rawValue: Lighttpd.advice)),
        arguments: ["SHA-256", "MD5", "MD5|SHA-256", "SHA-256|MD5"]
    )
    func `lighttpd, whose Digest knows SHA-256`(algorithms: String) async throws {
        let server = try Lighttpd(algorithms: algorithms)
        let session = try session(server.url)
        let handle = session.get("file", options: .init(startsAtOnce: false))
        let events = handle.events
        handle.resume()
        #expect(try await handle.response().bytes == Array("from file".utf8))
        #expect(try await outcome(session.get("file?x")) == [200, 1])
        for await case .head(let head) in events where head.status.code == 401 {
            let fields = head.headerFields[fields: .wwwAuthenticate].map(\.value)
            let ranked = ChallengeTrail.ranked(ChallengeParser.challenges(in: fields))
            #expect(ranked.first?["algorithm"] == (algorithms == "MD5" ? "MD5" : "SHA-256"))
        }
        let wrong = try self.session(server.url, .init(user: "mufasa", password: "wrong"))
        #expect(try await outcome(wrong.get("file")) == [401, 2])
    }

    // MARK: httpbin

    @Test(
        .enabled(if: HTTPBin.isInstalled, Comment(rawValue: HTTPBin.advice)),
        arguments: ["MD5", "SHA-256"],
        ["auth", "auth-int"]
    )
    func `httpbin, whose Digest can include the body`(algorithm: String, qop: String) async throws {
        let server = try HTTPBin()
        let session = try session(server.url)
        let path = "digest-auth/\(qop)/mufasa/circle/\(algorithm)"
        #expect(try await outcome(session.get(path)) == [200, 2])
        #expect(try await outcome(session.request(.get, path, body: .text("a body"))) == [200, 1])
        // A body that is not in memory can't be hashed before it is sent.
        let folder = try LabFolder()
        let file = RequestBody.file(try folder.write("body", "a body"))
        #expect(try await outcome(session.request(.get, path, body: file)) == (qop == "auth" ? [200, 1] : [401, 1]))
        // It validates the credentials, and reports the result.
        let seen = try await session.get("headers").string()
        #expect(seen.contains("qop=\(qop)") && seen.contains("algorithm=\(algorithm)"), "\(seen)")
        let wrong = try self.session(server.url, .init(user: "mufasa", password: "wrong"))
        #expect(try await outcome(wrong.get(path)) == [401, 2])
    }
}
