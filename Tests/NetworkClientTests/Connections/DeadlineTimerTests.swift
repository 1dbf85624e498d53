import Glibc
import HTTPLab
import NIOCore
import Testing

@testable import NetworkClient

/// Stops the session's event loop when a request was sent, as if the process were stopped: until the server has done its part
/// and the timeout for the first byte is over.
private struct StoppedLoop: EventMonitor {
    let limit: Duration
    let isServerDone = Observed(false)

    func request(_ request: RequestHandle, did event: RequestEvent) {
        guard case .sent = event else { return }
        // The timer is set after this event. The loop runs the closure before it looks at its sockets again.
        request.core.loop.execute { [self] in
            let end = ContinuousClock.now + limit + .milliseconds(400)
            while ContinuousClock.now < end { usleep(1_000) }
            while !isServerDone.value, ContinuousClock.now < end + .seconds(60) { usleep(1_000) }
        }
    }
}

/// Timeouts that are over before the event loop has looked at the sockets.
@Suite(.timeLimit(.minutes(5)))
struct DeadlineTimerTests {
    /// Makes a request to a server, during which the event loop is stopped.
    private static func request(_ steps: [ServerStep]) throws -> (DataRequest, ScriptedServer) {
        var timeouts = Timeouts.lasting
        timeouts.firstByte = .milliseconds(500)
        let loop = StoppedLoop(limit: .milliseconds(500))
        let done = ServerStep.custom { _ in loop.isServerDone.update { $0 = true } }
        let server = try ScriptedServer(always: [.readRequest] + steps + [done, .hold])
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: timeouts, eventMonitors: [loop])
        )
        return (session.get(""), server)
    }

    @Test func `a response that arrived while the process was stopped is received`() async throws {
        let (request, server) = try Self.request([.response("here")])
        #expect(try await request.string() == "here")
        #expect(server.connections.count == 1)
    }

    @Test func `a request whose response has not arrived meanwhile times out`() async throws {
        let (request, server) = try Self.request([])
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .firstByteTimedOut)
        #expect(server.connections.count == 1)
    }
}
