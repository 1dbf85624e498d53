import HTTPLab
import NIOCore
import Testing

@testable import NetworkClient

/// Requests that have failed before they could be started.
@Suite(.timeLimit(.minutes(5)))
struct FailedHandleTests {
    private static func session(_ server: ScriptedServer) throws -> HTTPSession {
        try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
    }

    /// Pauses and resumes a request; returns the number of connections that this opened.
    private static func connections(_ session: HTTPSession, after request: RequestHandle) async throws -> Int {
        request.resume()
        request.pause()
        request.resume()
        let core = session.core
        let count = try await core.loop.submit { core.pools.connectionCount }.get()
        request.cancel()
        return count
    }

    @Test func `a request of an invalidated session is never sent`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("x")])
        let session = try Self.session(server)
        session.invalidate()
        for request in [session.post("", body: .text("x")), session.get("", options: .init(startsAtOnce: false))] {
            let error = await #expect(throws: HTTPError.self) { try await request.response() }
            #expect(error?.code == .sessionInvalidated && error?.processing == .neverSent)
            #expect(try await Self.connections(session, after: request) == 0)
            #expect(request.state == .finished)
        }
        #expect(server.connections.isEmpty)
    }

    @Test func `an invalid request is not sent, although it is resumed`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("x")])
        let session = try Self.session(server)
        let request = session.get("http://a b/", options: .init(startsAtOnce: false))
        for request in [request, request.copy()] {
            #expect(try await Self.connections(session, after: request) == 0)
            let error = await #expect(throws: HTTPError.self) { try await request.response() }
            #expect(error?.code == .invalidURL)
        }
    }
}
