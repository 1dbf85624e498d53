import HTTPLab
import Locking
import NIOCore
import NetworkClientCore
import Synchronization
import Testing

@testable import NetworkClient

/// Which credentials are sent to which server; the server records the requests.
@Suite(.timeLimit(.minutes(5)))
struct AuthenticationTests {
    private static let anna = Credential(user: "anna", password: "secret")
    /// `anna:secret`.
    private static let basic = "Basic YW5uYTpzZWNyZXQ="

    /// Accepts requests with one of these values, and challenges the others.
    private func server(
        _ challenges: [String] = ["Basic realm=\"r\""],
        admits values: Set<String> = [basic]
    ) throws -> AnsweringServer {
        try AnsweringServer { request in
            if let redirect = RedirectLab.redirect(request) { return [redirect] }
            if let value = request["Authorization"], values.contains(value) { return [.response("in")] }
            let fields = challenges.map { "WWW-Authenticate: \($0)" }
            return [.response("out", status: "401 Unauthorized", headers: fields)]
        }
    }

    private func session(_ server: AnsweringServer, _ policy: AuthenticationPolicy) throws -> HTTPSession {
        try HTTPSession(
            baseURL: server.url,
            configuration: .init(timeouts: .lasting, authentication: policy)
        )
    }

    private func values(_ server: AnsweringServer) -> [String?] { server.requests.value.map { $0["Authorization"] } }

    @Test func `without credentials, the 401 is the response`() async throws {
        let server = try server()
        let response = try await session(server, .none).get("a").response()
        #expect(response.status == 401)
        #expect(response.bytes == Array("out".utf8))
        #expect(values(server) == [nil])
    }

    @Test func `Basic is sent preemptively below the path of the challenge`() async throws {
        let server = try server()
        let session = try session(server, .init(credentials: [.init(Self.anna, for: server.url)]))
        for path in ["docs/a", "docs/b", "docs/deep/c", "other"] {
            #expect(try await session.get(path).response().status == 200)
        }
        #expect(values(server) == [nil, Self.basic, Self.basic, Self.basic, nil, Self.basic])
    }

    @Test func `credentials are sent only to their realm and origin`() async throws {
        let server = try server()
        for other in [
            SpaceCredential(Self.anna, for: server.url, realm: "other"),
            .init(Self.anna, for: "http://localhost:\(server.port)"), .init(Self.anna, for: "https://127.0.0.1"),
        ] {
            let response = try await session(server, .init(credentials: [other])).get("a").response()
            #expect(response.status == 401)
        }
        #expect(values(server) == [nil, nil, nil])
        let both = AuthenticationPolicy(credentials: [
            .init(.init(user: "x", password: "y"), for: server.url, realm: "other"),
            .init(Self.anna, for: server.url, realm: "r"),
        ])
        #expect(try await session(server, both).get("a").response().status == 200)
    }

    @Test func `refused credentials end the request, and are not reused`() async throws {
        let server = try server(admits: [])
        let session = try session(server, .init(credentials: [.init(Self.anna, for: server.url)]))
        #expect(try await session.get("a").response().status == 401)
        #expect(values(server) == [nil, Self.basic])
        #expect(try await session.get("a").response().status == 401)
        #expect(values(server) == [nil, Self.basic, nil, Self.basic])
    }

    @Test func `the URL's user information is used for this request only, at its origin`() async throws {
        let other = try server()
        let server = try server()
        let session = try session(server, .none)
        let url = "http://anna:secret@127.0.0.1:\(server.port)"
        #expect(try await session.get("\(url)/a").response().status == 200)
        #expect(try await session.get("\(url)/a").response().status == 200)
        #expect(try await session.get("a").response().status == 401)
        #expect(values(server) == [nil, Self.basic, Self.basic, nil])
        // They are sent to the same origin, and to no other.
        #expect(try await session.get("\(url)/302/to/a").response().status == 200)
        let leading = try RedirectLab.server(to: other.url)
        let away = "http://anna:secret@127.0.0.1:\(leading.port)/302/to/a"
        #expect(try await session.get(away).response().status == 401)
        #expect(values(other) == [nil])
    }

    @Test func `user information in a Location is ignored`() async throws {
        let server = try server()
        let leading = try AnsweringServer { _ in
            [.response(status: "302 Found", headers: ["Location: http://anna:secret@127.0.0.1:\(server.port)/a"])]
        }
        let response = try await session(leading, .none).get("b").response()
        #expect(response.status == 401)
        #expect(values(server) == [nil])
    }

    @Test func `a request's options can set credentials, or disable authentication`() async throws {
        let server = try server()
        let session = try session(server, .init(credentials: [.init(.init(user: "x", password: "y"), for: server.url)]))
        #expect(try await session.get("a", options: .init(credential: Self.anna)).response().status == 200)
        #expect(values(server) == [nil, Self.basic])
        #expect(try await session.get("a", options: .init(authenticates: false)).response().status == 401)
        #expect(values(server).last == .some(nil))
    }

    @Test func `an explicit Authorization field is sent unchanged`() async throws {
        let server = try server()
        let session = try session(server, .init(credentials: [.init(Self.anna, for: server.url)]))
        #expect(try await session.get("a", headers: [.authorization: "mine"]).response().status == 401)
        #expect(values(server) == ["mine"])
    }

    @Test func `each end of a redirect gets its own credentials`() async throws {
        let target = try server(admits: ["Basic YmVydGE6eA=="])
        let leading = try AnsweringServer { request in
            guard request["Authorization"] == Self.basic else {
                return [.response(status: "401 Unauthorized", headers: ["WWW-Authenticate: Basic realm=r"])]
            }
            return [.response(status: "307 Moved", headers: ["Location: \(target.url)/a"])]
        }
        let policy = AuthenticationPolicy(credentials: [
            .init(Self.anna, for: leading.url), .init(.init(user: "berta", password: "x"), for: target.url),
        ])
        let response = try await session(leading, policy).post("b", body: .text("body")).response()
        #expect(response.status == 200)
        #expect(values(leading) == [nil, Self.basic])
        #expect(values(target) == [nil, "Basic YmVydGE6eA=="])
        #expect(target.requests.value.last?.body == Array("body".utf8))
    }

    @Test func `a challenged body that can't be replayed fails with a clear error`() async throws {
        let server = try server()
        let session = try session(server, .init(credentials: [.init(Self.anna, for: server.url)]))
        await #expect(throws: HTTPError.self) {
            _ = try await session.post("a", body: CarriedBody.once.body).response()
        }
        #expect(try await session.post("b", body: CarriedBody.replayable.body).response().status == 200)
        #expect(server.requests.value.last?.body == CarriedBody.text)
    }

    @Test func `a streamed response is not the challenge, but the last refusal`() async throws {
        let server = try server()
        let session = try session(server, .init(credentials: [.init(Self.anna, for: server.url)]))
        let response = try await session.stream(.get, "a").response()
        #expect(response.status == 200)
        #expect(try await response.body.collect(upTo: 100).readableBytes == 2)
        let refused = try await session.stream(.get, "a", options: .init(credential: .init(user: "x", password: "y")))
            .response()
        #expect(refused.status == 401)
        #expect(try await refused.body.collect(upTo: 100).readableBytes == 3)
    }

    // MARK: The handler

    @Test func `a handler is called once for concurrent requests, and its credentials cover the protection space`()
        async throws
    {
        let server = try server()
        let asked = Lock<[String]>([])
        let policy = AuthenticationPolicy { question in
            asked.withLock { $0.append("\(question.origin) \(question.challenge.realm ?? "")") }
            // All requests have been refused before the handler returns.
            _ = try? await server.requests.wait(for: "all") { $0.count >= 6 }
            return .credential(Self.anna)
        }
        let session = try session(server, policy)
        let requests = (0..<6).map { session.get("\($0)") }
        for request in requests { #expect(try await request.response().status == 200) }
        #expect(try await session.get("later").response().status == 200)
        #expect(asked.withLock { $0 } == ["\(server.url) r"])
        #expect(values(server).last == Self.basic)
    }

    @Test func `a handler is not called again for requests that were sent before it returned`() async throws {
        let server = try server()
        let asked = Lock(0)
        let policy = AuthenticationPolicy { _ in
            asked.withLock { $0 += 1 }
            return .credential(Self.anna)
        }
        let session = try session(server, policy)
        #expect(try await session.get("deep/a").response().status == 200)
        // Its path is higher, so it is not known beforehand to be in the same protection space.
        #expect(try await session.get("b").response().status == 200)
        #expect(values(server) == [nil, Self.basic, nil, Self.basic])
        #expect(asked.withLock { $0 } == 1)
    }

    private struct Unknown: Error {}

    /// The response to a request with the result of a handler.
    private func outcome(
        of server: AnsweringServer,
        _ handler: @escaping AuthenticationHandler
    ) async -> Result<Int, HTTPError> {
        do throws(HTTPError) {
            let known = [SpaceCredential(Self.anna, for: server.url, realm: "weak")]
            let policy = AuthenticationPolicy(credentials: known, handler: handler)
            let configuration = HTTPConfiguration(timeouts: .lasting, authentication: policy)
            let session = try HTTPSession(baseURL: server.url, configuration: configuration)
            return .success(try await session.get("a").response().status)
        } catch {
            return .failure(error)
        }
    }

    @Test func `each result of a handler has its effect`() async throws {
        let server = try server(["Basic realm=\"weak\"", "Digest realm=\"strong\", nonce=n, qop=auth"])
        #expect(try await outcome(of: server, { _ in .refuse }).get() == 401)
        #expect(try await outcome(of: server, { _ in .byDefault }).get() == 200)
        let passing: AuthenticationHandler = { $0.challenge.scheme == "basic" ? .credential(Self.anna) : .passOver }
        #expect(try await outcome(of: server, passing).get() == 200)
        guard case .failure(let error) = await outcome(of: server, { _ in throw Unknown() }) else {
            Issue.record("it must fail")
            return
        }
        #expect(error.code == .authenticationFailed && error.cause is Unknown)
        #expect(error.response?.status.code == 401)
    }

    @Test func `a response that a handler leaves as it is has the redirects before it`() async throws {
        let server = try server()
        let session = try session(server, AuthenticationPolicy { _ in .refuse })
        let response = try await session.get("302/to/a").response()
        #expect(response.status == 401 && response.redirects.map(\.status) == [302])
    }

    @Test func `a handler is called again by the request after a refusal`() async throws {
        let server = try server()
        let count = Atomic(0)
        let policy = AuthenticationPolicy { _ in
            let isFirst = count.add(1, ordering: .relaxed).newValue == 1
            return .credential(isFirst ? .init(user: "anna", password: "old") : Self.anna)
        }
        let session = try session(server, policy)
        #expect(try await session.get("a").response().status == 401)
        #expect(try await session.get("a").response().status == 200)
        #expect(count.load(ordering: .relaxed) == 2)
    }

    @Test func `cancelling one waiting request leaves the others waiting`() async throws {
        let server = try server()
        let latch = AsyncStream.makeStream(of: Void.self)
        let policy = AuthenticationPolicy { _ in
            for await _ in latch.stream { break }
            return .credential(Self.anna)
        }
        let session = try session(server, policy)
        let (first, second) = (session.get("a"), session.get("b"))
        try await server.requests.wait(for: "both") { $0.count == 2 }
        first.cancel()
        await #expect(throws: HTTPError.self) { _ = try await first.response() }
        // Later requests are accepted too: the other challenge may arrive only now.
        latch.continuation.finish()
        #expect(try await second.response().status == 200)
    }

    @Test func `an invalid origin is a configuration error`() {
        for origin in ["api.example.com", "ftp://api.example.com", ""] {
            let policy = AuthenticationPolicy(credentials: [.init(Self.anna, for: origin)])
            #expect(throws: HTTPError.self) { try HTTPSession(configuration: .init(authentication: policy)) }
        }
    }

    private func stallingSession(_ server: ScriptedServer, _ read: Duration?) throws -> HTTPSession {
        let url = "http://127.0.0.1:\(server.port)/"
        let known = AuthenticationPolicy(credentials: [.init(.init(user: "a", password: "b"), for: url)])
        let configuration = HTTPConfiguration(timeouts: .init(firstByte: nil, read: read), authentication: known)
        return try HTTPSession(baseURL: url, configuration: configuration)
    }

    private static let stalled =
        "HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 5\r\n\r\nab"

    @Test func `a challenge is handled although its body stalls`() async throws {
        let server = try ScriptedServer { number in
            number == 0 ? [.readRequest, .send(Self.stalled), .hold] : [.readRequest, .response("welcome")]
        }
        #expect(try await stallingSession(server, nil).get("").string() == "welcome")
        #expect(server.connections.last?.requests.last?.field("Authorization") == "Basic YTpi")
    }

    @Test func `a refusal whose body stalls ends with the read timeout`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .send(Self.stalled), .hold])
        let error = await #expect(throws: HTTPError.self) {
            try await stallingSession(server, .milliseconds(300)).get("").response()
        }
        #expect(error?.code == .readTimedOut)
        #expect(error?.response?.status.code == 401)
        #expect(server.connections.count == 2)
    }
}
