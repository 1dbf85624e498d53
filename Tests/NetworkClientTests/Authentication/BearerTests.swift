import HTTPLab
import Locking
import Synchronization
import Testing

@testable import NetworkClient

/// Bearer tokens: one refresh, however many requests are refused.
@Suite(.timeLimit(.minutes(5)))
struct BearerTests {
    private struct NoToken: Error {}

    /// Accepts requests with the current token, and counts refusals.
    private final class TokenServer: Sendable {
        let server: AnsweringServer
        private let present: SharedText

        init(_ token: String) throws {
            let present = SharedText(token)
            self.present = present
            server = try AnsweringServer { request in
                if let redirect = RedirectLab.redirect(request) { return [redirect] }
                if request["Authorization"] == "Bearer \(present.value)" { return [.response("in")] }
                let fields = ["WWW-Authenticate: Bearer error=\"invalid_token\""]
                return [.response("out", status: "401 Unauthorized", headers: fields)]
            }
        }

        func expect(_ token: String) { present.value = token }

        var refused: Int {
            server.requests.value.count { $0["Authorization"] != "Bearer \(present.value)" }
        }
    }

    private final class SharedText: Sendable {
        private let text: Lock<String>

        init(_ text: String) { self.text = .init(text) }

        var value: String {
            get { text.withLock { $0 } }
            set { text.withLock { $0 = newValue } }
        }
    }

    private func session(
        _ server: AnsweringServer,
        token: String?,
        connections: Int = 6,
        refresh: @escaping BearerTokens.Refresh
    ) throws -> HTTPSession {
        try HTTPSession(
            baseURL: server.url,
            configuration: .init(
                timeouts: .lasting,
                maximumConnectionsPerHost: connections,
                authentication: .init(tokens: [.init(for: server.url, token: token, refresh: refresh)])
            )
        )
    }

    @Test func `200 concurrent refusals cause one refresh, and 200 responses`() async throws {
        let refreshes = Atomic(0)
        let world = try TokenServer("new")
        let server = world.server
        let session = try session(server, token: "old", connections: 200) { refused in
            #expect(refused == "old")
            refreshes.add(1, ordering: .relaxed)
            // Only once each of them has been refused.
            _ = try await server.requests.wait(for: "200 refusals") { $0.count == 200 }
            return "new"
        }
        let requests = (0..<200).map { session.get("\($0)") }
        for request in requests { #expect(try await request.response().status == 200) }
        #expect(refreshes.load(ordering: .relaxed) == 1)
        #expect(world.refused == 200)
        #expect(server.requests.value.count == 400)
    }

    @Test func `a request whose refusal arrives late is retried without another refresh`() async throws {
        let refreshes = Atomic(0)
        let gate = try ServerLatch()
        let server = try AnsweringServer { request in
            if request["Authorization"] == "Bearer new" { return [.response()] }
            let refusal = ServerStep.response(status: "401 Unauthorized", headers: ["WWW-Authenticate: Bearer"])
            return request.path == "/late" ? [.await(gate), refusal] : [refusal]
        }
        let session = try session(server, token: "old") { _ in
            refreshes.add(1, ordering: .relaxed)
            return "new"
        }
        let late = session.get("late")
        try await server.requests.wait(for: "the late one") { $0.contains { $0.path == "/late" } }
        #expect(try await session.get("early").response().status == 200)
        gate.open()
        #expect(try await late.response().status == 200)
        #expect(refreshes.load(ordering: .relaxed) == 1)
    }

    @Test func `a token that is refused immediately ends the request`() async throws {
        let refreshes = Atomic(0)
        let world = try TokenServer("none of those")
        let session = try session(world.server, token: nil) { _ in
            "token\(refreshes.add(1, ordering: .relaxed).newValue)"
        }
        #expect(try await session.get("a").response().status == 401)
        #expect(refreshes.load(ordering: .relaxed) == 1)
        #expect(world.server.requests.value.map { $0["Authorization"] } == [nil, "Bearer token1"])
    }

    @Test func `a token that was accepted once is refreshed when it is refused`() async throws {
        let refreshes = Atomic(0)
        let world = try TokenServer("1")
        let session = try session(world.server, token: "0") { _ in
            "\(refreshes.add(1, ordering: .relaxed).newValue)"
        }
        for token in 1...3 {
            world.expect("\(token)")
            #expect(try await session.get("a").response().status == 200)
            #expect(try await session.get("b").response().status == 200)
        }
        #expect(refreshes.load(ordering: .relaxed) == 3)
    }

    @Test func `if the refresh fails, all waiting requests fail with one clear error`() async throws {
        let world = try TokenServer("new")
        let server = world.server
        let session = try session(server, token: "old", connections: 20) { _ in
            _ = try await server.requests.wait(for: "20 refusals") { $0.count == 20 }
            throw NoToken()
        }
        let requests = (0..<20).map { session.get("\($0)") }
        for request in requests {
            do {
                _ = try await request.response()
                Issue.record("it must fail")
            } catch {
                #expect(error.code == .tokenRefreshFailed && error.cause is NoToken)
                #expect(error.processing == .answered && error.response?.status.code == 401)
            }
        }
    }

    @Test func `cancelling one waiting request does not cancel the refresh`() async throws {
        let world = try TokenServer("new")
        let server = world.server
        let latch = AsyncStream.makeStream(of: Void.self)
        let session = try session(server, token: "old") { _ in
            for await _ in latch.stream { break }
            try Task.checkCancellation()
            return "new"
        }
        let first = session.get("a")
        try await server.requests.wait(for: "the first") { $0.count == 1 }
        let second = session.get("b")
        try await server.requests.wait(for: "both") { $0.count == 2 }
        first.cancel()
        await #expect(throws: HTTPError.self) { _ = try await first.response() }
        latch.continuation.yield()
        #expect(try await second.response().status == 200)
    }

    @Test func `a token refresh may use the session itself`() async throws {
        let world = try TokenServer("new")
        let server = world.server
        let own = Lock<HTTPSession?>(nil)
        let session = try session(server, token: "old") { _ in
            let session = own.withLock { $0 }
            // It has no token, and the refusal is its response.
            let status = try await session?.post("login").response().status
            #expect(status == 401)
            return "new"
        }
        own.withLock { $0 = session }
        #expect(try await session.get("a").response().status == 200)
        let login = server.requests.value.first { $0.path == "/login" }
        #expect(login?["Authorization"] == nil)
        own.withLock { $0 = nil }
    }

    @Test func `a token is sent only to its origin`() async throws {
        let other = try TokenServer("new")
        let leading = try RedirectLab.server(to: other.server.url)
        let session = try session(leading, token: "old") { _ in "new" }
        #expect(try await session.get("302/to/a").response().status == 401)
        #expect(leading.requests.value.map { $0["Authorization"] } == ["Bearer old"])
        #expect(other.server.requests.value.map { $0["Authorization"] } == [nil])
    }

    @Test(arguments: ["", "a b", "a\r\nX: y", "\u{E4}"])
    func `a token with characters that are invalid in a field is rejected`(token: String) async throws {
        let world = try TokenServer("new")
        let session = try session(world.server, token: token) { _ in token }
        do {
            _ = try await session.get("a").response()
            Issue.record("it must fail")
        } catch {
            #expect(error.code == .tokenRefreshFailed)
        }
        #expect(world.server.requests.value.map { $0["Authorization"] } == [nil])
    }

    @Test func `a deadline that passes during a refresh ends the request`() async throws {
        let world = try TokenServer("new")
        let latch = AsyncStream.makeStream(of: Void.self)
        let session = try session(world.server, token: "old") { _ in
            for await _ in latch.stream { break }
            return "new"
        }
        var limits = Timeouts.lasting
        limits.total = .milliseconds(300)
        do {
            _ = try await session.get("a", options: .init(timeouts: limits)).response()
            Issue.record("it must fail")
        } catch {
            #expect(error.code == .requestTimedOut)
        }
        latch.continuation.finish()
    }
}
