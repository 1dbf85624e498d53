import HTTPLab
import NetworkClient
import Synchronization
import Testing

/// Custom transports in place of connections.
@Suite(.timeLimit(.minutes(10)))
struct TransportTests {
    private struct Echo: Transport {
        func send(_ request: TransportRequest) async throws -> TransportResponse {
            let text =
                "\(request.head.method) \(request.head.path ?? "") \(String(decoding: request.body ?? [], as: UTF8.self))"
            return .init(head: .init(status: .ok, headerFields: [.contentType: "text/plain"]), body: Array(text.utf8))
        }
    }

    private struct Failing: Transport {
        var error: any Error

        func send(_ request: TransportRequest) async throws -> TransportResponse { throw error }
    }

    private struct Endless: Transport {
        let asked = Observed(0)

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            asked.update { $0 += 1 }
            try await Task.sleep(for: .seconds(3_600))
            throw CancellationError()
        }
    }

    private final class FailingOnce: Transport {
        private let isFirst = Atomic(true)

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            guard !isFirst.exchange(false, ordering: .relaxed) else {
                throw HTTPError(.connectionRefused, processing: .neverSent, reason: "nobody is there")
            }
            return .init(head: .init(status: .ok))
        }
    }

    private func session(_ transport: any Transport) throws -> HTTPSession {
        try HTTPSession(baseURL: "https://api.example.com/v1", configuration: .init(transport: transport))
    }

    @Test func `it gets complete requests, and its responses are processed like others`() async throws {
        let session = try session(Echo())
        let text = try await session.post("a", parameters: ["b": "c"]).string()
        #expect(text == "POST /v1/a b=c")
        #expect(session.requests.isEmpty)
    }

    @Test func `its errors are the request's`() async throws {
        let away = HTTPError(.networkUnreachable, processing: .neverSent, reason: "the network is away", errno: 101)
        let error = await #expect(throws: HTTPError.self) { try await session(Failing(error: away)).get("").response() }
        #expect(error?.code == .networkUnreachable)
        #expect(error?.processing == .neverSent)
        #expect(error?.request == "GET https://api.example.com/v1/")
        let other = await #expect(throws: HTTPError.self) {
            try await session(Failing(error: CancellationError())).get("").response()
        }
        #expect(other?.code == .connectionLost)
    }

    @Test func `the transport's task is cancelled with the request, and at its timeout`() async throws {
        let transport = Endless()
        let session = try session(transport)
        let request = session.post("")
        try await transport.asked.wait(for: "the request") { $0 == 1 }
        request.cancel()
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .cancelled)
        // The transport had it.
        #expect(error?.processing == .maybeProcessed)
        let limited = session.get("", options: .init(timeouts: .init(total: .milliseconds(20))))
        let late = await #expect(throws: HTTPError.self) { try await limited.response() }
        #expect(late?.code == .requestTimedOut)
    }

    @Test func `its attempts are counted as others are`() async throws {
        let retry = RetryPolicy(maximumAttempts: 3, baseDelay: .milliseconds(1))
        let configuration = HTTPConfiguration(transport: FailingOnce(), retry: retry)
        let session = try HTTPSession(baseURL: "https://api.example.com", configuration: configuration)
        let request = session.get("", options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        #expect(try await request.response().metrics.attempts == 2)
        var attempts: [Int] = []
        for await event in events {
            if case .attempt(let number, _, _) = event { attempts.append(number) }
        }
        #expect(attempts == [1, 2])
    }
}
