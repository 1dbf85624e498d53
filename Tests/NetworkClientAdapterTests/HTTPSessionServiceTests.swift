import HTTPLab
import Logging
import NetworkClient
import NetworkClientServiceLifecycle
import ServiceLifecycle
import ServiceLifecycleTestKit
import Testing

/// A session among the services of a program.
@Suite(.timeLimit(.minutes(5)))
struct HTTPSessionServiceTests {
    @Test func `a graceful shutdown completes running requests, and cancels what is left`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer { number in
            number == 0 ? [.readRequest, .await(latch), .response("done")] : [.readRequest, .hold]
        }
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/")
        let first = session.get("a")
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        let paused = session.get("b", options: .init(startsAtOnce: false))
        let unfinished = Observed<[UInt64]>([])
        let service = HTTPSessionService(session, within: .seconds(3_600)) { requests in
            unfinished.update { $0 = requests.map(\.id) }
        }
        await testGracefulShutdown { trigger in
            async let run: Void = service.run()
            trigger.triggerGracefulShutdown()
            await #expect(throws: HTTPError.self) { try await paused.response() }
            latch.open()
            await run
        }
        #expect(try await first.string() == "done")
        #expect(unfinished.value == [paused.id])
    }

    @Test func `a cancelled service cancels all requests`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .hold])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/")
        let request = session.get("a")
        let task = Task { await HTTPSessionService(session, within: .seconds(3_600)).run() }
        task.cancel()
        await task.value
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .cancelled)
    }

    @Test func `a service group ends with its session`() async throws {
        let session = try HTTPSession()
        let group = ServiceGroup(
            services: [HTTPSessionService(session)],
            logger: Logger(label: "test")
        )
        let task = Task { try await group.run() }
        await group.triggerGracefulShutdown()
        try await task.value
        let error = await #expect(throws: HTTPError.self) { try await session.get("http://127.0.0.1/").response() }
        #expect(error?.code == .sessionInvalidated)
    }
}
