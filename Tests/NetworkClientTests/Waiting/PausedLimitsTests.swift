import HTTPLab
import NIOCore
import NetworkClientCore
import NetworkClientTesting
import Testing

@testable import NetworkClient

/// Requests that are paused while they wait for something other than a connection or a path.
@Suite(.timeLimit(.minutes(5)))
struct PausedLimitsTests {
    private static let timeouts = Timeouts(total: .seconds(300))

    /// Whether a request's limit is being watched, and when it is reached.
    private static func limit(_ request: RequestHandle) async throws -> (isWatched: Bool, due: NIODeadline?) {
        try await request.core.loop.submit { (request.run.timer != nil, request.deadline) }.get()
    }

    /// Pauses and resumes a request, and checks that its timeout is suspended meanwhile.
    private static func pauseAndResume(_ request: RequestHandle) async throws {
        let before = try await limit(request)
        #expect(before.isWatched)
        request.pause()
        #expect(try await limit(request).isWatched == false)
        #expect(request.state == .paused)
        request.resume()
        let after = try await limit(request)
        #expect(after.isWatched)
        #expect(try #require(after.due) > #require(before.due))
    }

    /// Challenges requests, and accepts those of anna.
    private static func server() throws -> AnsweringServer {
        try AnsweringServer { request in
            if request["Authorization"] != nil || request.path == "/open" { return [.response("in")] }
            return [.response("out", status: "401 Unauthorized", headers: ["WWW-Authenticate: Basic realm=\"r\""])]
        }
    }

    @Test(arguments: [RetryPolicy.never, .init(maximumAttempts: 3, baseDelay: .milliseconds(1))])
    func `a request that waits for credentials keeps waiting during a pause`(retry: RetryPolicy) async throws {
        let server = try Self.server()
        let asked = Observed(0)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let policy = AuthenticationPolicy { _ in
            asked.update { $0 += 1 }
            for await _ in gate { break }
            return .credential(.init(user: "anna", password: "secret"))
        }
        let session = try HTTPSession(
            baseURL: server.url,
            configuration: .init(timeouts: Self.timeouts, retry: retry, authentication: policy)
        )
        let request = session.get("a")
        try await asked.wait(for: "the question") { $0 == 1 }
        try await Self.pauseAndResume(request)
        // Anything that the resumed request sends arrives before this.
        #expect(try await session.get("open").string() == "in")
        #expect(server.requests.value.count { $0.path == "/a" } == 1)
        request.pause()
        opener.finish()
        #expect(try await session.get("b").string() == "in")
        #expect(server.requests.value.count { $0.path == "/a" } == 1)
        #expect(!request.isFinished)
        request.resume()
        #expect(try await request.string() == "in")
        #expect(server.requests.value.count { $0.path == "/a" } == 2)
        #expect(asked.value == 1)
    }

    @Test func `a request that waits for a token keeps waiting during a pause, and can be cancelled`() async throws {
        let server = try Self.server()
        let asked = Observed(0)
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let tokens = BearerTokens(for: server.url) { _ in
            asked.update { $0 += 1 }
            for await _ in gate { break }
            return "t"
        }
        let session = try HTTPSession(
            baseURL: server.url,
            configuration: .init(timeouts: Self.timeouts, authentication: .init(tokens: [tokens]))
        )
        let request = session.get("a")
        try await asked.wait(for: "the question") { $0 == 1 }
        try await Self.pauseAndResume(request)
        let other = session.get("b")
        try await server.requests.wait(for: "the other one") { $0.count == 2 }
        other.pause()
        other.cancel()
        let error = await #expect(throws: HTTPError.self) { try await other.response() }
        #expect(error?.code == .cancelled)
        opener.finish()
        #expect(try await request.string() == "in")
        #expect(asked.value == 1)
        #expect(session.requests.isEmpty)
    }

    @Test func `after a redirect, the timeout of a request that had waited for a path is suspended too`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [
            .readRequest, .response("", status: "302 Found", headers: ["Location: /b"]),
            .readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na"), .await(latch), .send("b"), .hold,
        ])
        let network = ScriptedMonitor(.notReachable)
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(
                timeouts: Self.timeouts,
                gate: .waitsForConnectivity(nil),
                connectivity: network
            )
        )
        let request = session.get("a", options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        try await network.waitUntilWatched()
        network.status = .wifi
        for await case .received in events { break }
        let before = try #require(try await Self.limit(request).due)
        request.pause()
        #expect(try await Self.limit(request).due != nil)
        request.resume()
        #expect(try #require(try await Self.limit(request).due) > before)
        latch.open()
        #expect(try await request.string() == "ab")
    }

    @Test func `the time before the failure of an attempt during a pause does not count`() async throws {
        struct Failing: Transport {
            let asked = Observed(0)
            let gates: [AsyncStream<Void>]

            func send(_ request: TransportRequest) async throws -> TransportResponse {
                let attempt = asked.update { count in
                    count += 1
                    return count
                }
                for await _ in gates[attempt - 1] { break }
                if attempt == 1 { throw HTTPError(.connectionLost, processing: .neverSent, reason: "no connection") }
                return .init(head: .init(status: .ok), body: Array("here".utf8))
            }
        }
        let (first, firstOpener) = AsyncStream.makeStream(of: Void.self)
        let (second, secondOpener) = AsyncStream.makeStream(of: Void.self)
        let transport = Failing(gates: [first, second])
        let retry = RetryPolicy(maximumAttempts: 3, baseDelay: .milliseconds(1))
        let session = try HTTPSession(
            baseURL: "http://example.com",
            configuration: .init(timeouts: Self.timeouts, transport: transport, retry: retry)
        )
        let request = session.get("", options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        try await transport.asked.wait(for: "the first attempt") { $0 == 1 }
        let before = try #require(try await Self.limit(request).due)
        request.pause()
        for await case .paused in events { break }
        try await Task.sleep(for: .milliseconds(500))
        firstOpener.finish()
        for await case .retrying in events { break }
        request.resume()
        try await transport.asked.wait(for: "the second attempt") { $0 == 2 }
        let after = try #require(try await Self.limit(request).due)
        #expect(after - before >= .milliseconds(400))
        secondOpener.finish()
        #expect(try await request.string() == "here")
    }

    @Test func `the timeout of a custom transport is suspended during a pause`() async throws {
        struct Gated: Transport {
            let asked = Observed(0)
            let gate: AsyncStream<Void>

            func send(_ request: TransportRequest) async throws -> TransportResponse {
                asked.update { $0 += 1 }
                for await _ in gate { break }
                return .init(head: .init(status: .ok), body: Array("here".utf8))
            }
        }
        let (gate, opener) = AsyncStream.makeStream(of: Void.self)
        let transport = Gated(gate: gate)
        let session = try HTTPSession(
            baseURL: "http://example.com",
            configuration: .init(timeouts: Self.timeouts, transport: transport)
        )
        let request = session.get("")
        try await transport.asked.wait(for: "the request") { $0 == 1 }
        try await Self.pauseAndResume(request)
        opener.finish()
        #expect(try await request.string() == "here")
    }
}
