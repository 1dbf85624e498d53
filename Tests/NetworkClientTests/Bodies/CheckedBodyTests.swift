import Dispatch
import HTTPLab
import NIOCore
import Testing

@testable import NetworkClient

/// Bodies whose check before sending takes long, for example on a disk that hangs.
@Suite(.timeLimit(.minutes(5)))
struct CheckedBodyTests {
    /// A check that blocks until it is released, and the number of checks.
    private struct Slow: Sendable {
        let begun = Observed(0)
        let gate = DispatchSemaphore(value: 0)

        /// A body of one byte.
        var body: RequestBody {
            let check: BodySource.Check = {
                begun.update { $0 += 1 }
                gate.wait()
            }
            let source = BodySource(length: 1, isReplayable: true, check: check) { BytesFeed([7], loop: $0) }
            return .init(content: .success(.init(makeSource: { source })))
        }
    }

    private static func session(_ server: ScriptedServer) throws -> HTTPSession {
        try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
    }

    @Test func `other requests proceed during a slow check, and the request can be cancelled`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("yes")])])
        let session = try Self.session(server)
        let slow = Slow()
        let request = session.put("", body: slow.body.throttled(.init(packetSize: 1, delay: .zero)))
        try await slow.begun.wait(for: "the look") { $0 == 1 }
        #expect(try await session.get("other").string() == "yes")
        #expect(!request.isFinished)
        request.cancel()
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .cancelled && error?.processing == .neverSent)
        slow.gate.signal()
        #expect(try await session.get("other").string() == "yes")
        #expect(server.connections.flatMap(\.requests).count == 2)
    }

    @Test func `a request that is paused during the check is sent once, after it is resumed`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("yes")])])
        let session = try Self.session(server)
        let slow = Slow()
        let request = session.put("", body: slow.body)
        try await slow.begun.wait(for: "the look") { $0 == 1 }
        request.pause()
        #expect(try await session.get("other").string() == "yes")
        slow.gate.signal()
        #expect(try await session.get("other").string() == "yes")
        #expect(request.state == .paused)
        request.resume()
        try await slow.begun.wait(for: "the next look") { $0 == 2 }
        slow.gate.signal()
        #expect(try await request.string() == "yes")
        #expect(server.connections.flatMap(\.requests).count == 3)
    }
}
