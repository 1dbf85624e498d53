import Dispatch
import HTTPLab
import NIOCore
import NetworkLab
import Testing

@testable import NetworkClient

/// Leaks and duplicate callbacks.
@Suite(.timeLimit(.minutes(10)))
struct LeakTests {
    /// The ending of a request.
    enum Ending: CaseIterable { case answered, failed, cancelled, refused }

    @Test(arguments: Ending.allCases)
    func `requests, connections and sessions are freed once they are released`(ending: Ending) async throws {
        try await FaultLab.run { faults in
            let server = try ScriptedServer(in: faults.lab, always: [.readRequest, Self.step(ending), .readToEnd])
            weak var request: RequestHandle?
            weak var core: SessionCore?
            do {
                let session = try faults.session()
                core = session.core
                let port = ending == .refused ? 9 : server.port
                request = try await Self.endRequest(session, "http://127.0.0.1:\(port)/", ending, server)
            }
            // The end of the session, and the effects of closing, run on the loop.
            if ending != .refused { try await server.waitForEnds() }
            for _ in 0..<3 { try await faults.loops.loop.submit {}.get() }
            #expect(request == nil)
            #expect(core == nil)
            try await server.stop()
        }
    }

    private static func step(_ ending: Ending) -> ServerStep {
        switch ending {
        case .answered, .refused: .response("here")
        case .failed: .send("nonsense\r\n\r\n")
        case .cancelled: .hold
        }
    }

    /// Makes a request with all kinds of listeners, and ends it.
    private static func endRequest(
        _ session: HTTPSession,
        _ url: String,
        _ ending: Ending,
        _ server: ScriptedServer
    ) async throws -> RequestHandle {
        let request = session.get(url).response { _ in }
        let events = request.events
        if ending == .cancelled {
            try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
            request.cancel()
        }
        _ = try? await request.response()
        for await _ in events {}
        return request
    }

    @Test func `each callback is called once, regardless of when it was added and of cancellation`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("here")])])
        let session = try HTTPSession()
        let calls = Observed([Int: Int]())
        let queue = DispatchQueue(label: "callbacks", attributes: .concurrent)
        var generator = SeededGenerator(seed: 7)
        for number in 0..<300 {
            let request = session.get("http://127.0.0.1:\(server.port)/")
            for _ in 0..<2 { request.response(on: queue) { _ in calls.update { $0[number, default: 0] += 1 } } }
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: queue.async { request.cancel() }
            case 1: _ = try await request.response()
            default: break
            }
            request.response { _ in calls.update { $0[number, default: 0] += 1 } }
        }
        try await calls.wait(for: "all callbacks") { $0.values.reduce(0, +) >= 900 }
        #expect(calls.value.count == 300)
        #expect(calls.value.values.allSatisfy { $0 == 3 })
        session.invalidate(.cancellingRequests)
    }
}
