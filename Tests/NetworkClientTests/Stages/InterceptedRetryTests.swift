import HTTPLab
import Locking
import NetworkClient
import NetworkClientCore
import Testing

/// Interceptors that decide on failed attempts.
@Suite(.timeLimit(.minutes(5)))
struct InterceptedRetryTests {
    private static let again = RetryDecision.retry(in: .zero, because: .interceptor)

    private func session(
        _ server: ScriptedServer,
        _ retry: RetryPolicy = .never,
        _ decide: @escaping @Sendable (FailedAttempt) async -> RetryDecision?
    ) throws -> HTTPSession {
        try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(
                timeouts: .lasting,
                retry: retry,
                interceptors: [ClosureInterceptor(onRetry: decide)]
            )
        )
    }

    private func failing(_ times: Int, _ status: String = "404 Not Found") throws -> ScriptedServer {
        try ScriptedServer { number in
            [
                .readRequest,
                number < times ? .response("no", status: status, headers: ["Connection: close"]) : .response("yes"),
            ]
        }
    }

    @Test func `they are asked though no policy retries, about statuses and lost connections`() async throws {
        let server = try ScriptedServer { number in
            switch number {
            case 0: [.readRequest, .response("no", status: "404 Not Found", headers: ["Connection: close"])]
            case 1: [.readRequest, .reset]
            default: [.readRequest, .response("yes")]
            }
        }
        let seen = Lock<[String]>([])
        let session = try session(server) { attempt in
            seen.withLock { $0.append("\(attempt.attempts) \(attempt.error.code) \(attempt.decision)") }
            return Self.again
        }
        #expect(try await session.get("").string() == "yes")
        let policy = RetryDecision.giveUp(because: .noPolicy)
        #expect(seen.withLock { $0 } == ["1 unacceptableStatus \(policy)", "2 connectionLost \(policy)"])
        #expect(session.requests.isEmpty)
    }

    @Test(arguments: ["421 Misdirected Request", "425 Too Early", "429 Too Many Requests"])
    func `a status does not say that an earlier attempt was not processed`(status: String) async throws {
        let server = try ScriptedServer { number in
            switch number {
            case 0: [.readRequest, .reset]
            case 1: [.readRequest, .response("no", status: status, headers: ["Connection: close"])]
            default: [.readRequest, .response("yes")]
            }
        }
        let policy = RetryPolicy(maximumAttempts: 5, baseDelay: .milliseconds(1))
        let session = try session(server, policy) { $0.error.code == .connectionLost ? Self.again : nil }
        let response = try await session.post("", body: .text("once")).response()
        #expect("\(response.status)" == status.prefix(3))
        #expect(server.connections.count == 2)
    }

    @Test(arguments: ["421 Misdirected Request", "425 Too Early", "429 Too Many Requests"])
    func `a request that was not processed is retried several times`(status: String) async throws {
        let server = try failing(3, status)
        let session = try session(server, .init(maximumAttempts: 5, baseDelay: .milliseconds(1))) { _ in nil }
        #expect(try await session.post("", body: .text("once")).string() == "yes")
        #expect(server.connections.count == 4)
    }

    @Test func `without a decision of theirs, a request without a policy ends as it failed`() async throws {
        let server = try failing(9)
        let session = try session(server) { _ in nil }
        #expect(try await session.get("").response().status == 404)
        #expect(server.connections.count == 1)
    }

    @Test func `the request's are asked before the session's, and the first decision counts`() async throws {
        let server = try failing(1)
        let asked = Lock<[String]>([])
        func asking(_ name: String, _ decision: RetryDecision?) -> ClosureInterceptor {
            .init(onRetry: { _ in
                asked.withLock { $0.append(name) }
                return decision
            })
        }
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, interceptors: [asking("c", Self.again), asking("d", nil)])
        )
        let options = RequestOptions(interceptors: [asking("a", nil), asking("b", nil)])
        #expect(try await session.get("", options: options).string() == "yes")
        #expect(asked.withLock { $0 } == ["a", "b", "c"])
    }

    @Test func `they can give up what the policy would retry`() async throws {
        let server = try failing(9, "503 Busy")
        let session = try session(server, .standard) { _ in .giveUp(because: .interceptor) }
        let request = session.get("", options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        var reasons: [GiveUpReason] = []
        for await event in events { if case .gaveUp(let reason) = event { reasons.append(reason) } }
        #expect(try await request.response().status == 503)
        #expect(reasons == [.interceptor])
        #expect(server.connections.count == 1)
    }

    @Test func `they can retry after an error of their own`() async throws {
        struct NoSignature: Error {}
        let server = try failing(0)
        let numbers = Lock<[Int]>([])
        let interceptor = ClosureInterceptor(
            onAdapt: { request, attempt in
                let isFirst = numbers.withLock { numbers in
                    numbers.append(attempt.number)
                    return numbers.count == 1
                }
                if isFirst { throw NoSignature() }
                return request
            },
            onRetry: { attempt in attempt.error.cause is NoSignature ? Self.again : nil }
        )
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, interceptors: [interceptor])
        )
        #expect(try await session.get("").string() == "yes")
        // What was not sent was no attempt.
        #expect(numbers.withLock { $0 } == [1, 1])
    }

    @Test func `a retry after the deadline is none`() async throws {
        let server = try failing(9)
        let session = try session(server) { _ in .retry(in: .seconds(3_600), because: .interceptor) }
        let options = RequestOptions(timeouts: .init(total: .seconds(600)))
        #expect(try await session.get("", options: options).response().status == 404)
        #expect(server.connections.count == 1)
    }

    @Test func `the interceptor is not asked about a request that can't be resent`() async throws {
        let server = try failing(9)
        let count = Lock(0)
        let session = try session(server) { _ in
            count.withLock { $0 += 1 }
            return Self.again
        }
        let body = RequestBody.once(WatchedSequence([[1], [2]]))
        #expect(try await session.upload("a", from: body).response().status == 404)
        #expect(count.withLock { $0 } == 0)
    }

    /// Returns a session whose interceptor waits until its task is cancelled, and records its states.
    private func undecided(_ server: ScriptedServer, _ states: Observed<[String]>) throws -> HTTPSession {
        try session(server) { _ in
            states.update { $0.append("began") }
            try? await Task.sleep(for: .seconds(3_600))
            states.update { $0.append(Task.isCancelled ? "cancelled" : "ended") }
            return Self.again
        }
    }

    @Test func `the request can be cancelled while they decide`() async throws {
        let server = try failing(9)
        let states = Observed<[String]>([])
        let request = try undecided(server, states).get("")
        try await states.wait(for: "the interceptor") { $0 == ["began"] }
        request.cancel()
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .cancelled)
        #expect(error?.processing == .answered)
        try await states.wait(for: "the end of the interceptor") { $0 == ["began", "cancelled"] }
        #expect(server.connections.count == 1)
    }

    @Test func `the request reaches its deadline while they decide`() async throws {
        // A machine that is busy may reach a short deadline before there is a response.
        for limit in [1, 4, 16, 64] {
            let server = try failing(9)
            let states = Observed<[String]>([])
            let options = RequestOptions(timeouts: .init(total: .seconds(limit)))
            let request = try undecided(server, states).get("", options: options)
            let error = await #expect(throws: HTTPError.self) { try await request.response() }
            #expect(error?.code == .requestTimedOut)
            guard !states.value.isEmpty else { continue }
            try await states.wait(for: "the end of the interceptor") { $0 == ["began", "cancelled"] }
            #expect(error?.processing == .answered)
            #expect(server.connections.count == 1)
            return
        }
        Issue.record("the interceptor was not asked")
    }

    @Test(arguments: [false, true])
    func `what they decide in a pause happens after it`(retries: Bool) async throws {
        let server = try failing(1)
        let latch = Observed(false)
        let calls = Observed(0)
        let session = try session(server) { _ in
            calls.update { $0 += 1 }
            _ = try? await latch.wait(for: "the latch") { $0 }
            return retries ? Self.again : nil
        }
        let request = session.get("")
        try await calls.wait(for: "the interceptor") { $0 == 1 }
        let events = request.events
        request.pause()
        for await case .paused in events { break }
        latch.update { $0 = true }
        // What the loop does for another request follows what it does with the decision.
        #expect(try await session.get("other").string() == "yes")
        #expect(request.state == .paused)
        #expect(server.connections.count == 2)
        request.resume()
        #expect(try await request.response().status == (retries ? 200 : 404))
    }
}
