import HTTPLab
import Testing

@testable import NetworkClient

/// The order of requests that wait for a connection.
@Suite(.timeLimit(.minutes(5)))
struct ConnectionOrderTests {
    @Test func `waiting requests get a connection by priority, and by arrival among equals`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [
            .readRequest, .await(latch), .response("x"), .forever([.readRequest, .response("x")]),
        ])
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, maximumConnectionsPerHost: 1)
        )
        let first = session.get("first")
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        let priorities: [RequestPriority] = [.low, .normal, .high, .low, .high, .normal]
        let requests = priorities.enumerated().map { number, priority in
            session.get("\(number)", options: .init(priority: priority))
        }
        // All have been queued once this has been, on the same event loop.
        let last = session.get("last", options: .init(startsAtOnce: false, priority: .low))
        let events = last.events
        last.resume()
        for await event in events { if case .waiting = event { break } }
        latch.open()
        for request in [first] + requests + [last] { #expect(try await request.string() == "x") }
        let targets = server.connections.flatMap(\.requests).map { $0.head.split(separator: " ")[1] }
        #expect(targets == ["/first", "/2", "/4", "/1", "/5", "/0", "/3", "/last"])
    }
}
