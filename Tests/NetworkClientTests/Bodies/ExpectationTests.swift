import FoundationEssentials
import HTTPLab
import NIOCore
import NetworkClientCore
import Testing

@testable import NetworkClient

/// Servers that don't support, or refuse, Expect: 100-continue.
@Suite(.timeLimit(.minutes(5)))
struct ExpectationTests {
    private static let refusal = ServerStep.response("don't ask", status: "417 Expectation Failed")

    /// Refuses a request with Expect, and accepts one without.
    private func server() throws -> ScriptedServer {
        try ScriptedServer { number in
            number == 0 ? [.readHead, Self.refusal, .readToEnd] : [.readRequest, .response("taken")]
        }
    }

    private func session(_ server: ScriptedServer, expectContinue: Duration = .seconds(300)) throws -> HTTPSession {
        var timeouts = Timeouts.lasting
        timeouts.expectContinue = expectContinue
        return try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .init(timeouts: timeouts))
    }

    private func expectResent(_ server: ScriptedServer, _ body: [UInt8]) {
        let requests = server.connections.flatMap(\.requests)
        #expect(requests.map { $0.head.contains("Expect: 100-continue") } == [true, false])
        #expect(requests.last?.body == body)
    }

    /// Returns the deadlines of a request on a connection; nil if it is on none.
    private static func deadlines(of request: RequestHandle) async throws -> Deadlines? {
        try await request.core.loop.submit { () -> Deadlines? in
            guard case .exchanging(let exchange) = request.run.state else { return nil }
            return exchange.timer.deadlines
        }.get()
    }

    @Test func `a refused expectation is retried without Expect, with the whole body`() async throws {
        let server = try server()
        let options = RequestOptions(expectsContinue: true)
        let response = try await session(server).upload("a", from: .bytes([1, 2, 3]), options: options).response()
        #expect(response.status == 200 && response.bytes == Array("taken".utf8))
        expectResent(server, [1, 2, 3])
    }

    @Test func `a sequence that was not read yet can be sent after the refusal`() async throws {
        let server = try server()
        let sequence = WatchedSequence([[1], [2]])
        let options = RequestOptions(expectsContinue: true)
        let response = try await session(server).upload("a", from: .once(sequence), options: options).response()
        #expect(response.status == 200)
        expectResent(server, [1, 2])
    }

    @Test func `a sequence that was not read yet can be sent after the refusal with a credential too`() async throws {
        let challenge = ServerStep.response(
            status: "401 Unauthorized",
            headers: ["WWW-Authenticate: Basic realm=\"a\""]
        )
        let leave = ServerStep.send("HTTP/1.1 100 Continue\r\n\r\n")
        let server = try ScriptedServer { number in
            number == 0
                ? [.readHead, challenge, .readToEnd] : [.readHead, leave, .readBody, .response("taken")]
        }
        let sequence = WatchedSequence([[1], [2]])
        let options = RequestOptions(expectsContinue: true, credential: .init(user: "u", password: "p"))
        let response = try await session(server).upload("a", from: .once(sequence), options: options).response()
        #expect(response.status == 200)
        #expect(server.connections.last?.requests.last?.body == [1, 2])
    }

    @Test func `a refused request sends no body, although it is paused and resumed meanwhile`() async throws {
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
        // The wait for 100 Continue, whose end would send the body, has not begun again.
        let deadlines = try #require(try await Self.deadlines(of: request))
        #expect(deadlines[.firstByte] == nil && deadlines[.read] != nil)
        latch.open()
        #expect(try await request.response().status == 403)
        try await server.waitForEnds()
        #expect(server.connections.first.map { $0.received.count == $0.requests[0].head.utf8.count } == true)
    }

    @Test func `a streamed response is not the refusal`() async throws {
        let server = try server()
        let options = RequestOptions(expectsContinue: true)
        let response = try await session(server).stream(.post, "a", body: .bytes([1]), options: options).response()
        #expect(response.status == 200)
        #expect(try await String(buffer: response.body.collect(upTo: 100)) == "taken")
    }

    @Test func `a response after a refusal goes to its file once`() async throws {
        let server = try server()
        let folder = try LabFolder()
        let request = try session(server).download(
            "a",
            to: .file("\(folder.path)/file", isSynced: false),
            method: .post,
            body: .bytes([1]),
            options: .init(expectsContinue: true)
        )
        #expect(try await request.response().file.size == 5)
        #expect(try String(contentsOfFile: "\(folder.path)/file", encoding: .utf8) == "taken")
    }

    @Test func `a 417 to a request without Expect is the response`() async throws {
        let server = try ScriptedServer(always: [.readHead, Self.refusal, .readToEnd])
        let options = RequestOptions(expectsContinue: true)
        let response = try await session(server).upload("a", from: .bytes([1]), options: options).response()
        #expect(response.status == 417 && response.bytes == Array("don't ask".utf8))
        #expect(server.connections.count == 2)
    }

    @Test func `a sequence that was read can't be resent: the refusal is the response`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [.readHead, .await(latch), Self.refusal, .readToEnd])
        let sequence = WatchedSequence([[1], [2]]) { latch.open() }
        let options = RequestOptions(expectsContinue: true)
        let session = try session(server, expectContinue: .milliseconds(50))
        let response = try await session.upload("a", from: .once(sequence), options: options).response()
        #expect(response.status == 417)
        #expect(server.connections.count == 1)
    }

    @Test(arguments: ["100-continue", "100-Continue"])
    func `a request with an explicit Expect field waits for 100 Continue too`(value: String) async throws {
        let server = try server()
        let name = try #require(HTTPField.Name("Expect"))
        let response = try await session(server).post("a", headers: [name: value], body: .bytes([1, 2, 3])).response()
        #expect(response.status == 200)
        expectResent(server, [1, 2, 3])
        #expect(server.connections.first?.requests.first?.body.isEmpty != false)
    }

    @Test func `a refused expectation is retried although the refusal's body stalls`() async throws {
        let refusal = "HTTP/1.1 417 Expectation Failed\r\nContent-Length: 5\r\n\r\nab"
        let server = try ScriptedServer { number in
            number == 0 ? [.readHead, .send(refusal), .hold] : [.readRequest, .response("taken")]
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
        let server = try ScriptedServer(always: [.readRequest, .response("x"), .readToEnd])
        let name = try #require(HTTPField.Name("Expect"))
        _ = try await session(server).post("a", headers: [name: "100-continue"]).response()
        #expect(server.connections.first?.requests.first?.field("Expect") == nil)
    }
}
