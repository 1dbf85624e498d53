import HTTPLab
import Locking
import NetworkLab
import Testing

@testable import NetworkClient

/// The end of a session that is waited for.
@Suite(.timeLimit(.minutes(5)))
struct SessionShutdownTests {
    /// Counts the reports of a session's end.
    private final class Ends: EventMonitor {
        let count = Lock(0)

        func sessionWasInvalidated() { count.withLock { $0 += 1 } }
    }

    @Test func `running requests are completed, and the session's end is reported before it returns`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [.readRequest, .await(latch), .response("done"), .readToEnd])
        let ends = Ends()
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, eventMonitors: [ends])
        )
        let running = session.get("")
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        async let cancelled = session.shutdown(within: .seconds(3_600))
        while session.core.registry.withLock({ $0.state }) == .open { try await Task.sleep(for: .milliseconds(1)) }
        let late = await #expect(throws: HTTPError.self) { try await session.get("").response() }
        #expect(late?.code == .sessionInvalidated)
        latch.open()
        #expect(await cancelled.isEmpty)
        #expect(try await running.string() == "done")
        #expect(ends.count.withLock { $0 } == 1)
        try await server.waitForEnds()
    }

    @Test func `requests that do not finish in time are cancelled and returned`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .hold])
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, maximumConnectionsPerHost: 1)
        )
        let requests = [session.get("a"), session.get("b")]
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        let cancelled = await session.shutdown(within: .milliseconds(50))
        #expect(cancelled.map(\.id) == requests.map(\.id))
        for request in requests {
            #expect(request.isFinished)
            let error = await #expect(throws: HTTPError.self) { try await request.response() }
            #expect(error?.code == .cancelled)
        }
        try await server.waitForEnds()
    }

    @Test func `requests that only their user could continue are cancelled immediately`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .hold])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let unstarted = session.get("", options: .init(startsAtOnce: false))
        let paused = session.get("")
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        paused.pause()
        while paused.state != .paused { try await Task.sleep(for: .milliseconds(1)) }
        let cancelled = await session.shutdown(within: .seconds(3_600))
        #expect(cancelled.map(\.id) == [unstarted.id, paused.id])
    }

    @Test func `a request that the user cancels meanwhile is not returned`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .hold])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let request = session.get("")
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        async let cancelled = session.shutdown(within: .seconds(3_600))
        request.cancel()
        #expect(await cancelled.isEmpty)
    }

    @Test func `cancelling the task cancels the requests`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .hold])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let requests = (0..<3).map { session.get("\($0)") }
        let task = Task { await session.shutdown(within: .seconds(3_600)) }
        task.cancel()
        #expect(await task.value.map(\.id) == requests.map(\.id))
    }

    @Test func `a session without requests ends immediately, and again`() async throws {
        let ends = Ends()
        let session = try HTTPSession(configuration: .init(eventMonitors: [ends]))
        #expect(await session.shutdown(within: .seconds(3_600)).isEmpty)
        #expect(await session.shutdown(within: .zero).isEmpty)
        #expect(ends.count.withLock { $0 } == 1)
    }
}
