import HTTPLab
import NIOCore
import NetworkClient
import Testing

/// Servers that don't know, or don't want, that their leave is asked for a body.
@Suite(.timeLimit(.minutes(5)))
struct ExpectationTests {
    private static let refusal = ServerStep.answer("don't ask", status: "417 Expectation Failed")

    /// Refuses to be asked; takes what comes without a question.
    private func server() throws -> ScriptedServer {
        try ScriptedServer { number in
            number == 0 ? [.readHead, Self.refusal, .readToEnd] : [.readRequest, .answer("taken")]
        }
    }

    private func session(_ server: ScriptedServer) throws -> HTTPSession {
        try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .init(timeouts: .lasting))
    }

    private func expectGoneAgain(_ server: ScriptedServer, _ body: [UInt8]) {
        let requests = server.connections.flatMap(\.requests)
        #expect(requests.map { $0.head.contains("Expect: 100-continue") } == [true, false])
        #expect(requests.last?.body == body)
    }

    @Test func `who is refused goes again without asking, with the whole body`() async throws {
        let server = try server()
        let options = RequestOptions(expectsContinue: true)
        let response = try await session(server).upload("a", from: .bytes([1, 2, 3]), options: options).response()
        #expect(response.status == 200 && response.bytes == Array("taken".utf8))
        expectGoneAgain(server, [1, 2, 3])
    }

    @Test func `a sequence that was not asked yet can go`() async throws {
        let server = try server()
        let sequence = WatchedSequence([[1], [2]])
        let options = RequestOptions(expectsContinue: true)
        let response = try await session(server).upload("a", from: .once(sequence), options: options).response()
        #expect(response.status == 200)
        expectGoneAgain(server, [1, 2])
    }

    @Test func `a sequence that was not asked yet can go with a credential too`() async throws {
        let challenge = ServerStep.answer(
            status: "401 Unauthorized",
            headers: ["WWW-Authenticate: Basic realm=\"a\""]
        )
        let server = try ScriptedServer { number in
            number == 0 ? [.readHead, challenge, .readToEnd] : [.readRequest, .answer("taken")]
        }
        let sequence = WatchedSequence([[1], [2]])
        let options = RequestOptions(expectsContinue: true, credential: .init(user: "u", password: "p"))
        let response = try await session(server).upload("a", from: .once(sequence), options: options).response()
        #expect(response.status == 200)
        #expect(server.connections.last?.requests.last?.body == [1, 2])
    }

    @Test func `who was refused sends no body, though it is paused and resumed meanwhile`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [
            .readHead, .send("HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\n"), .await(latch), .send("no"),
            .readToEnd,
        ])
        let options = RequestOptions(expectsContinue: true, startsAtOnce: false)
        let request = try session(server).upload("a", from: .bytes([1]), options: options)
        let events = request.events
        request.resume()
        for await case .head in events { break }
        request.pause()
        request.resume()
        // Longer than it waits for leave.
        try await Task.sleep(for: .seconds(1.5))
        latch.open()
        #expect(try await request.response().status == 403)
        try await server.waitForEnds()
        #expect(server.connections.first.map { $0.received.count == $0.requests[0].head.utf8.count } == true)
    }

    @Test func `who takes the answer as a stream does not get the refusal`() async throws {
        let server = try server()
        let options = RequestOptions(expectsContinue: true)
        let answer = try await session(server).stream(.post, "a", body: .bytes([1]), options: options).response()
        #expect(answer.status == 200)
        #expect(try await String(buffer: answer.body.collect(upTo: 100)) == "taken")
    }

    @Test func `a server that refuses what does not ask either has answered`() async throws {
        let server = try ScriptedServer(always: [.readHead, Self.refusal, .readToEnd])
        let options = RequestOptions(expectsContinue: true)
        let response = try await session(server).upload("a", from: .bytes([1]), options: options).response()
        #expect(response.status == 417 && response.bytes == Array("don't ask".utf8))
        #expect(server.connections.count == 2)
    }

    @Test func `a sequence that was asked already can't go again: the refusal is the answer`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [.readHead, .await(latch), Self.refusal, .readToEnd])
        let sequence = WatchedSequence([[1], [2]]) { latch.open() }
        let options = RequestOptions(expectsContinue: true)
        let response = try await session(server).upload("a", from: .once(sequence), options: options).response()
        #expect(response.status == 417)
        #expect(server.connections.count == 1)
    }

    @Test(arguments: ["100-continue", "100-Continue"])
    func `who sets the field Expect waits for the server's leave too`(value: String) async throws {
        let server = try server()
        let name = try #require(HTTPField.Name("Expect"))
        let response = try await session(server).post("a", headers: [name: value], body: .bytes([1, 2, 3])).response()
        #expect(response.status == 200)
        expectGoneAgain(server, [1, 2, 3])
        #expect(server.connections.first?.requests.first?.body.isEmpty != false)
    }

    @Test func `a refusal whose body stalls is gone again from all the same`() async throws {
        let refusal = "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 5\r\n\r\nab"
        let server = try ScriptedServer { number in
            number == 0 ? [.readHead, .send(refusal), .hold] : [.readRequest, .answer("taken")]
        }
        let timeouts = Timeouts(firstByte: nil, read: nil)
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: timeouts)
        )
        let options = RequestOptions(expectsContinue: true)
        #expect(try await session.upload("a", from: .bytes([1]), options: options).string() == "taken")
    }

    @Test func `the field Expect without a body is not sent`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .answer("x"), .readToEnd])
        let name = try #require(HTTPField.Name("Expect"))
        _ = try await session(server).post("a", headers: [name: "100-continue"]).response()
        #expect(server.connections.first?.requests.first?.field("Expect") == nil)
    }
}
