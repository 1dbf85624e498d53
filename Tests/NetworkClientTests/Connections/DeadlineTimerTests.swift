import Glibc
import HTTPLab
import NIOCore
import Testing

@testable import NetworkClient

/// Stops the session's event loop when a request was sent, as if the process were stopped: until the server has done its part
/// and the timeout for the first byte is over.
private struct StoppedLoop: EventMonitor {
    let limit: Duration
    /// The time that a task takes which is queued meanwhile, in microseconds.
    let backlog: UInt32
    let isServerDone = Observed(false)

    func request(_ request: RequestHandle, did event: RequestEvent) {
        guard case .sent = event else { return }
        let loop = request.core.loop
        // The timer is set after this event. The loop runs the closure before it looks at its sockets again.
        loop.execute { [self] in
            let end = ContinuousClock.now + limit + .milliseconds(400)
            while ContinuousClock.now < end { usleep(1_000) }
            while !isServerDone.value, ContinuousClock.now < end + .seconds(60) { usleep(1_000) }
            // The loop takes tasks and timers in turn: the second task follows the timer, and comes before the sockets.
            loop.execute {}
            loop.execute { usleep(backlog) }
        }
    }
}

/// Timeouts that are over before the event loop has looked at the sockets.
@Suite(.timeLimit(.minutes(5)))
struct DeadlineTimerTests {
    /// Makes a request to a server, during which its event loop, which is that of no other test, is stopped.
    private static func request(
        _ steps: [ServerStep],
        backlog: UInt32 = 0,
        _ body: (DataRequest, ScriptedServer) async throws -> Void
    ) async throws {
        try await LabLoops.run { loops in
            var timeouts = Timeouts.lasting
            timeouts.firstByte = .milliseconds(500)
            let loop = StoppedLoop(limit: .milliseconds(500), backlog: backlog)
            let done = ServerStep.custom { _ in loop.isServerDone.update { $0 = true } }
            let server = try ScriptedServer(in: loops.lab, always: [.readRequest] + steps + [done, .hold])
            let session = try HTTPSession(
                baseURL: "http://127.0.0.1:\(server.port)/",
                .init(timeouts: timeouts, eventMonitors: [loop]),
                loop: loops.loop,
                NameResolver()
            )
            try await body(session.get(""), server)
            session.invalidate()
        }
    }

    @Test(arguments: [0, 15_000])
    func `a response that arrived while the process was stopped is received`(backlog: UInt32) async throws {
        try await Self.request([.response("here")], backlog: backlog) { (request, server) async throws in
            #expect(try await request.string() == "here")
            #expect(server.connections.count == 1)
        }
    }

    @Test func `a request whose response has not arrived meanwhile times out`() async throws {
        try await Self.request([]) { (request, server) async throws in
            let error = await #expect(throws: HTTPError.self) { try await request.response() }
            #expect(error?.code == .firstByteTimedOut)
            #expect(server.connections.count == 1)
        }
    }
}
