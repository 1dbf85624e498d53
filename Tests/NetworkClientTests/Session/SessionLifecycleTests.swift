import Dispatch
import HTTPLab
import Locking
import NetworkClient
import NetworkLab
import Testing

/// Cancelling, invalidating, releasing.
@Suite(.timeLimit(.minutes(10)))
struct SessionLifecycleTests {
    @Test func `cancelling the task cancels the request and closes its connection`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .hold])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let task = Task { try await session.get("").response() }
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        task.cancel()
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(error?.processing == .maybeProcessed)
        try await server.waitForEnds()
        #expect(session.requests.isEmpty)
    }

    @Test func `a request that waits for a connection is cancelled without one`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .hold])
        let configuration = HTTPConfiguration(timeouts: .lasting, maximumConnectionsPerHost: 1)
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
        let first = session.get("first")
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        let second = session.get("second")
        #expect(session.requests.map(\.id) == [1, 2])
        second.cancel()
        let error = await #expect(throws: HTTPError.self) { try await second.response() }
        #expect(error?.processing == .neverSent)
        #expect(!first.isFinished)
        first.cancel()
        _ = try? await first.response()
        try await server.waitForEnds()
        #expect(server.connections.count == 1)
    }

    @Test func `a request that does not start automatically starts when resumed`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("late")])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let request = session.get("", options: .init(startsAtOnce: false))
        let answered = Task { try await request.string() }
        #expect(server.connections.isEmpty)
        request.resume()
        request.resume()
        #expect(try await answered.value == "late")
    }

    @Test func `an invalidated session finishes its requests, accepts no more, and reports its end once`() async throws
    {
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [.readRequest, .await(latch), .response("done"), .readToEnd])
        let monitor = Counting()
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, eventMonitors: [monitor])
        )
        let running = session.get("")
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        session.invalidate()
        session.invalidate()
        let refused = await #expect(throws: HTTPError.self) { try await session.get("").response() }
        #expect(refused?.code == .sessionInvalidated)
        #expect(monitor.invalidations == 0)
        latch.open()
        #expect(try await running.string() == "done")
        try await server.waitForEnds()
        #expect(monitor.invalidations == 1)
    }

    @Test func `an invalidated session can cancel its requests`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .hold])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let requests = (0..<5).map { _ in session.get("") }
        session.invalidate(.cancellingRequests)
        for request in requests {
            let error = await #expect(throws: HTTPError.self) { try await request.response() }
            #expect(error?.code == .cancelled)
        }
        try await server.wait(for: "the connections' ends") { $0.allSatisfy { $0.end != nil } }
    }

    @Test func `a session that is released finishes its requests and closes its connections`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("x")])])
        weak var released: HTTPSession?
        let request: DataRequest
        do {
            let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
            released = session
            request = session.get("")
        }
        #expect(released == nil)
        #expect(try await request.string() == "x")
        try await server.waitForEnds()
    }

    @Test func `an idle connection is closed in time`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("x")])])
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, idleTimeout: .milliseconds(50))
        )
        #expect(try await session.get("").string() == "x")
        try await server.waitForEnds()
        #expect(try await session.get("").string() == "x")
    }

    @Test func `an idle connection whose request could not be sent is closed at its timeout`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("x")])])
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, idleTimeout: .milliseconds(500))
        )
        let (sequence, pieces) = AsyncStream.makeStream(of: [UInt8].self)
        pieces.yield([1])
        pieces.finish()
        let body = RequestBody.once(sequence)
        #expect(try await session.post("", body: body).string() == "x")
        let error = await #expect(throws: HTTPError.self) { try await session.post("", body: body).string() }
        #expect(error?.code == .bodyNotReplayable)
        try await server.waitForEnds()
    }

    @Test func `events are delivered in order, to the session's monitor and to the request's`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("body")])
        let monitor = Counting()
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, eventMonitors: [monitor])
        )
        let request = session.get("", options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        var names: [String] = []
        for await event in events { names.append(event.name) }
        #expect(names == ["waiting", "attempt", "sent", "head", "received", "finished"])
        #expect(monitor.events == names)
    }

    @Test func `callbacks get the same results as tasks`() async throws {
        let server = try ScriptedServer(always: [
            .readRequest, .response("[1,2]", headers: ["Content-Type: text/json"]),
        ])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let values = await withCheckedContinuation { continuation in
            session.get("").decoded([Int].self, on: .global()) { continuation.resume(returning: try? $0.get()) }
        }
        #expect(values == [1, 2])
    }
}

/// Counts and records events.
private final class Counting: EventMonitor {
    private let state = Lock((events: [String](), invalidations: 0))

    var events: [String] { state.withLock { $0.events } }
    var invalidations: Int { state.withLock { $0.invalidations } }

    func request(_ request: RequestHandle, did event: RequestEvent) {
        state.withLock { $0.events.append(event.name) }
    }

    func sessionWasInvalidated() { state.withLock { $0.invalidations += 1 } }
}

extension RequestEvent {
    fileprivate var name: String {
        switch self {
        case .waiting: "waiting"
        case .attempt: "attempt"
        case .sending: "sending"
        case .sent: "sent"
        case .head: "head"
        case .received: "received"
        case .resumedDownload: "resumedDownload"
        case .sentAgain: "sentAgain"
        case .waitingForConnectivity: "waitingForConnectivity"
        case .paused: "paused"
        case .resumed: "resumed"
        case .retrying: "retrying"
        case .pathLost: "pathLost"
        case .gaveUp: "gaveUp"
        case .redirected: "redirected"
        case .authenticating: "authenticating"
        case .finished: "finished"
        case .serialized: "serialized"
        }
    }
}
