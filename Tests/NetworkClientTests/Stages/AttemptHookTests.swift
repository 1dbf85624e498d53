import HTTPLab
import HTTPTypes
import Locking
import NIOCore
import NetworkClientCore
import Testing

@testable import NetworkClient

/// Interceptors that prepare attempts without a task.
@Suite(.timeLimit(.minutes(5)))
struct AttemptHookTests {
    private struct Refusal: Error {}

    /// A hook that passes each attempt and the closure that ends its preparation to a test.
    private struct Hook: AttemptHook {
        typealias Completion = @Sendable (Result<HTTPFields, any Error>) -> Void

        var goesOn = true
        let onPrepare: @Sendable (RequestAttempt, _ isSameOrigin: Bool, @escaping Completion) -> Void

        func prepare(_ attempt: RequestAttempt, isSameOrigin: Bool, _ completion: @escaping Completion) {
            onPrepare(attempt, isSameOrigin, completion)
        }

        func mayGoOn() -> Bool { goesOn }

        func isOfServer(_ head: HTTPResponse) -> Bool { true }
    }

    private func server(_ statuses: String...) throws -> AnsweringServer {
        let count = Lock(0)
        return try AnsweringServer { _ in
            let number = count.withLock { count in
                defer { count += 1 }
                return count
            }
            return [.response("abc", status: statuses[min(number, statuses.count - 1)])]
        }
    }

    @Test func `the only hook is called on the event loop before each attempt, and sets fields`() async throws {
        let target = try server("200 OK")
        let server = try server("503 Busy", "302 There\r\nLocation: \(target.url)/b")
        let calls = Lock<[String]>([])
        let session = try HTTPSession(configuration: .lasting)
        let loop = session.core.loop
        let hook = Hook { attempt, isSameOrigin, completion in
            calls.withLock { $0.append("\(attempt.number) \(isSameOrigin) \(loop.inEventLoop)") }
            completion(.success(isSameOrigin ? [.mark: "m"] : [:]))
        }
        let retry = RetryPolicy(maximumAttempts: 2, baseDelay: .milliseconds(1))
        let options = RequestOptions(retry: retry, interceptors: [hook])
        #expect(try await session.get(server.url, options: options).response().status == 200)
        #expect(server.requests.value.map { $0["X-Mark"] } == ["m", "m"])
        #expect(target.requests.value.map { $0["X-Mark"] } == [nil])
        #expect(calls.withLock { $0 } == ["1 true true", "2 true true", "3 false true"])
    }

    @Test func `a hook's error ends the request, and is its cause`() async throws {
        let server = try server("200 OK")
        let hook = Hook { _, _, completion in completion(.failure(Refusal())) }
        let session = try HTTPSession(configuration: .lasting)
        let error = await #expect(throws: HTTPError.self) {
            try await session.get(server.url, options: .init(interceptors: [hook])).response()
        }
        #expect(error?.code == .interceptorFailed && error?.processing == .neverSent && error?.cause is Refusal)
        #expect(server.requests.value.isEmpty)
    }

    @Test(arguments: ["307 There", "303 There"])
    func `a hook decides whether a redirected request is repeated, and not whether its result is fetched`(
        status: String
    ) async throws {
        let target = try server("200 OK")
        let server = try server("\(status)\r\nLocation: \(target.url)/b")
        let hook = Hook(goesOn: false) { _, _, completion in completion(.success([:])) }
        let session = try HTTPSession(configuration: .lasting)
        let request = session.post(server.url, body: .text("x"), options: .init(interceptors: [hook]))
        if status.hasPrefix("303") {
            #expect(try await request.response().status == 200)
        } else {
            let error = await #expect(throws: HTTPError.self) { try await request.response() }
            #expect(error?.code == .cancelled && error?.processing == .neverSent)
            #expect(target.requests.value.isEmpty)
        }
    }

    @Test func `with interceptors of the session a hook follows them`() async throws {
        let server = try server("200 OK")
        let first = ClosureInterceptor.setting(.mark) { _, _ in "session" }
        let hook = Hook { _, _, completion in completion(.success([.mark: "hook"])) }
        let session = try HTTPSession(configuration: .init(timeouts: .lasting, interceptors: [first]))
        _ = try await session.get(server.url, options: .init(interceptors: [hook])).response()
        #expect(server.requests.value.map { $0["X-Mark"] } == ["hook"])
    }

    @Test func `a request that is cancelled while it is prepared ends at once, and a late completion has no effect`()
        async throws
    {
        let server = try server("200 OK")
        let (completions, continuation) = AsyncStream.makeStream(of: Hook.Completion.self)
        let hook = Hook { _, _, completion in continuation.yield(completion) }
        let session = try HTTPSession(configuration: .lasting)
        let request = session.get(server.url, options: .init(interceptors: [hook]))
        let completion = try #require(await completions.first { _ in true })
        request.cancel()
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .cancelled)
        completion(.success([:]))
        _ = try await session.get(server.url).response()
        #expect(server.requests.value.count == 1)
    }
}
