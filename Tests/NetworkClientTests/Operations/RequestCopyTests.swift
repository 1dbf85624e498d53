import HTTPLab
import NIOCore
import Testing

@testable import NetworkClient

/// Copies of requests, and their progress.
@Suite(.timeLimit(.minutes(5)))
struct RequestCopyTests {
    private static func session(_ server: ScriptedServer) throws -> HTTPSession {
        try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .init(timeouts: .lasting))
    }

    @Test func `a copy is a request of its own`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("yes")])])
        let session = try Self.session(server)
        let request = session.put("thing", headers: [.accept: "text/plain"], body: .text("hello"))
        _ = try await request.response()
        let copy = request.copy()
        #expect(copy.state == .ready)
        #expect(copy.id != request.id)
        copy.resume()
        #expect(try await copy.string() == "yes")
        let requests = server.connections.flatMap(\.requests)
        #expect(requests.count == 2)
        #expect(requests.first == requests.last)
    }

    @Test func `the copy of a cancelled stream can be read`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("yes")])])
        let session = try Self.session(server)
        let request = session.stream(.get, "", options: .init(startsAtOnce: false))
        request.cancel()
        _ = try? await request.response()
        let copy = request.copy()
        copy.resume()
        #expect(try await String(buffer: copy.response().body.collect(upTo: 10)) == "yes")
        session.invalidate()
    }

    @Test func `the copy of an invalid request is invalid`() async throws {
        let session = try HTTPSession()
        let error = await #expect(throws: HTTPError.self) { try await session.get("nowhere").copy().response() }
        #expect(error?.code == .invalidURL)
    }

    @Test func `progress is reported in both directions, and ends with the request`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response(.init(repeating: "x", count: 300_000))])
        let request = try Self.session(server)
            .post("", body: .bytes(.init(repeating: 7, count: 100_000)), options: .init(startsAtOnce: false))
        let progress = request.progress
        request.resume()
        var all: [RequestProgress] = []
        for await each in progress { all.append(each) }
        #expect(all.first == .init(sent: 100_000, toSend: 100_000))
        #expect(all.last == .init(sent: 100_000, toSend: 100_000, received: 300_000, toReceive: 300_000))
        #expect(all.map(\.received) == all.map(\.received).sorted())
    }
}
