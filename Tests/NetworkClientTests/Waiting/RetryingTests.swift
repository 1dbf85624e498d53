import HTTPLab
import Locking
import NetworkClient
import Testing

/// Requests that are retried.
@Suite(.timeLimit(.minutes(5)))
struct RetryingTests {
    /// A policy with negligible delays.
    private static let quick = RetryPolicy(maximumAttempts: 3, baseDelay: .milliseconds(1))

    private static func session(
        _ server: ScriptedServer,
        _ retry: RetryPolicy = quick,
        _ decide: (@Sendable (FailedAttempt) async -> RetryDecision?)? = nil
    ) throws -> HTTPSession {
        try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(
                timeouts: .lasting,
                retry: retry,
                interceptors: decide.map { [ClosureInterceptor(onRetry: $0)] } ?? []
            )
        )
    }

    private static func failing(_ times: Int, _ status: String, _ headers: [String] = []) throws -> ScriptedServer {
        try ScriptedServer { number in
            [
                .readRequest,
                number < times
                    ? .response("no", status: status, headers: ["Connection: close"] + headers) : .response("yes"),
            ]
        }
    }

    @Test func `503 is retried`() async throws {
        let server = try Self.failing(2, "503 Service Unavailable")
        let request = try Self.session(server).get("", options: .init(startsAtOnce: false))
        var retries: [RetryReason] = []
        let events = request.events
        request.resume()
        for await event in events {
            if case .retrying(_, let reason, let error) = event {
                retries.append(reason)
                #expect(error.response?.status.code == 503)
            }
        }
        #expect(try await request.string() == "yes")
        #expect(retries == [.status, .status])
        #expect(server.connections.count == 3)
    }

    @Test func `after all attempts, the last response is the result`() async throws {
        let server = try Self.failing(9, "503 Service Unavailable")
        let request = try Self.session(server).get("", options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        let gaveUp = Task {
            await events.first { if case .gaveUp(because: .attempts) = $0 { true } else { false } } != nil
        }
        let response = try await request.response()
        #expect(response.head.status.code == 503)
        #expect(await gaveUp.value)
        #expect(server.connections.count == 3)
    }

    @Test func `a request that may have been processed is not resent`() async throws {
        let server = try ScriptedServer { number in
            number == 0 ? [.readRequest, .reset] : [.readRequest, .response("yes")]
        }
        let session = try Self.session(server)
        let error = await #expect(throws: HTTPError.self) { try await session.post("", body: .text("1")).response() }
        #expect(error?.code == .connectionLost)
        #expect(error?.processing == .maybeProcessed)
        #expect(server.connections.count == 1)
    }

    @Test func `a request with a key is resent with the same key`() async throws {
        let server = try ScriptedServer { number in
            number < 2 ? [.readRequest, .reset] : [.readRequest, .response("yes")]
        }
        let session = try Self.session(server)
        let request = session.post("", body: .text("1"), options: .init(idempotencyKey: .random))
        #expect(try await request.string() == "yes")
        let keys = server.connections.flatMap(\.requests).map {
            $0.head.split(separator: "\r\n").filter { $0.hasPrefix("Idempotency-Key: ") }
        }
        #expect(keys.count == 3)
        #expect(Set(keys.flatMap(\.self)).count == 1)
        #expect(keys.first?.first?.count == "Idempotency-Key: ".count + 32)
    }

    @Test func `a request that was never sent is retried, whatever its method`() async throws {
        // An address from which nothing connects, so that the port stays free.
        let address = ServerAddress.ipv4(127, 77, 0, 2)
        let gone = try ScriptedServer(on: address, always: [.readRequest])
        let port = gone.port
        try await gone.stop()
        let server = Lock<ScriptedServer?>(nil)
        let session = try HTTPSession(
            baseURL: "http://127.77.0.2:\(port)/",
            configuration: .init(
                timeouts: .lasting,
                retry: Self.quick,
                interceptors: [
                    ClosureInterceptor(onRetry: { attempt in
                        #expect(attempt.error.code == .connectionRefused)
                        // From now on, a server listens on the port.
                        let started = try? ScriptedServer(on: address, port: port) { _ in
                            [.readRequest, .response("yes")]
                        }
                        server.withLock { $0 = started }
                        return nil
                    })
                ]
            )
        )
        #expect(try await session.post("", body: .text("1")).string() == "yes")
        #expect(server.withLock { $0?.connections.count } == 1)
    }

    @Test func `Retry-After delays the retry`() async throws {
        let server = try Self.failing(1, "429 Too Many Requests", ["Retry-After: 1"])
        let request = try Self.session(server).post("", body: .text("1"), options: .init(startsAtOnce: false))
        var delays: [Duration] = []
        let events = request.events
        request.resume()
        for await event in events { if case .retrying(let delay, _, _) = event { delays.append(delay) } }
        #expect(try await request.string() == "yes")
        #expect(delays.count == 1)
        #expect(delays.allSatisfy { $0 >= .seconds(1) })
    }

    @Test func `a Retry-After beyond the deadline prevents the retry`() async throws {
        let server = try Self.failing(1, "503 Service Unavailable", ["Retry-After: 86400"])
        var timeouts = Timeouts.lasting
        timeouts.total = .seconds(600)
        let request = try Self.session(server).get("", options: .init(timeouts: timeouts, startsAtOnce: false))
        let events = request.events
        request.resume()
        let gaveUp = Task {
            await events.first { if case .gaveUp(because: .deadline) = $0 { true } else { false } } != nil
        }
        #expect(try await request.response().head.status.code == 503)
        #expect(await gaveUp.value)
    }

    @Test func `an interceptor has the last word`() async throws {
        let server = try Self.failing(2, "404 Not Found")
        let seen = Lock<[RetryDecision]>([])
        let session = try Self.session(server, Self.quick) { attempt in
            seen.withLock { $0.append(attempt.decision) }
            return attempt.error.response?.status.code == 404 ? .retry(in: .zero, because: .interceptor) : nil
        }
        #expect(try await session.get("").string() == "yes")
        #expect(seen.withLock { $0 } == [.giveUp(because: .status), .giveUp(because: .status)])
    }

    @Test func `a request that was paused while running is retried only after it is resumed`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer { number in
            number == 0 ? [.readRequest, .await(latch), .reset] : [.forever([.readRequest, .response("yes")])]
        }
        let session = try Self.session(server)
        let request = session.get("", options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        request.pause()
        // The loop processes received bytes before this task; otherwise the reset may come first.
        for await event in events { if case .paused = event { break } }
        latch.open()
        #expect(try await session.get("other").string() == "yes")
        #expect(server.connections.count == 2)
        #expect(!request.isFinished)
        request.resume()
        #expect(try await request.string() == "yes")
    }

    @Test func `the circuit breaker opens for a host that fails too often`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .reset])
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(
                timeouts: .lasting,
                circuitBreaker: .init(
                    failureRatio: 0.5,
                    minimumCalls: 3,
                    samplingDuration: .seconds(600),
                    breakDuration: .seconds(600)
                )
            )
        )
        for _ in 0..<3 { _ = try? await session.get("").response() }
        let error = await #expect(throws: HTTPError.self) { try await session.get("").response() }
        #expect(error?.code == .circuitOpen)
        #expect(error?.processing == .neverSent)
        #expect(server.connections.count == 3)
    }
}
