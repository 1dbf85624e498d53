import HTTPLab
import NIOCore
import Testing

@testable import NetworkClient

/// Reused connections that are lost, and the request that is sent on them.
@Suite(.timeLimit(.minutes(10)))
struct ConnectionReuseTests {
    /// Responds once, then closes the first connection after it has read the second request.
    private static let dying: ScriptedServer.Script = { number in
        number == 0
            ? [.readRequest, .response("first"), .readRequest, .close]
            : [.forever([.readRequest, .response("again")])]
    }

    @Test func `a request that is lost with a reused connection is resent once`() async throws {
        let server = try ScriptedServer(script: Self.dying)
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        #expect(try await session.get("").string() == "first")
        let response = try await session.get("").response()
        #expect(response.bytes == Array("again".utf8))
        #expect(response.metrics.attempts == 2)
        #expect(server.connections.count == 2)
    }

    @Test func `a POST that may have been processed is not resent`() async throws {
        let server = try ScriptedServer(script: Self.dying)
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        #expect(try await session.get("").string() == "first")
        let error = await #expect(throws: HTTPError.self) {
            try await session.post("", body: .text("pay")).response()
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.processing == .maybeProcessed)
        #expect(server.connections.flatMap(\.requests).count == 2)
    }

    @Test func `a POST with an Idempotency-Key is resent`() async throws {
        let server = try ScriptedServer(script: Self.dying)
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        #expect(try await session.get("").string() == "first")
        let key = try #require(HTTPField.Name("Idempotency-Key"))
        let text = try await session.post("", headers: [key: "7"], body: .text("pay")).string()
        #expect(text == "again")
    }

    @Test func `a connection that the server closed while idle is not reused`() async throws {
        let server = try ScriptedServer { number in
            number == 0 ? [.readRequest, .response("first"), .close] : [.readRequest, .response("second"), .readToEnd]
        }
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        #expect(try await session.get("").string() == "first")
        try await server.waitForEnds()
        // A busy kernel delivers the end of the connection after the server's close(2) has returned.
        try await waitForNoConnection(of: session)
        #expect(try await session.post("", body: .text("pay")).string() == "second")
    }

    private func waitForNoConnection(of session: HTTPSession) async throws {
        let core = session.core
        while try await core.loop.submit({ core.pools.connectionCount }).get() > 0 {
            try await core.loop.scheduleTask(in: .milliseconds(1)) {}.futureResult.get()
        }
    }

    @Test func `an unsolicited response closes the connection`() async throws {
        let server = try ScriptedServer { number in
            number == 0
                ? [.readRequest, .response("first"), .response("unasked"), .readToEnd]
                : [.readRequest, .response("second"), .readToEnd]
        }
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        #expect(try await session.get("").string() == "first")
        try await server.waitForEnds()
        #expect(try await session.get("").string() == "second")
    }

    @Test func `a response before the end of the request closes the connection`() async throws {
        let server = try ScriptedServer(receiveBuffer: 4_096) { number in
            number == 0 ? [.readHead, .response("enough"), .hold] : [.readRequest, .response("next"), .readToEnd]
        }
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let body = RequestBody.bytes([UInt8](repeating: 7, count: 20_000_000))
        #expect(try await session.put("", body: body).string() == "enough")
        #expect(try await session.get("").string() == "next")
        #expect(server.received.count < 20_000_000)
    }

    @Test(arguments: [true, false])
    func `a body with Expect is sent after 100 Continue, or after a while without it`(isGiven: Bool) async throws {
        let leave: [ServerStep] = isGiven ? [.send("HTTP/1.1 100 Continue\r\n\r\n")] : []
        let server = try ScriptedServer(always: [.readHead] + leave + [.readBody, .response("thanks")])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let request = session.post("", body: .text("please"), options: .init(expectsContinue: true))
        #expect(try await request.string() == "thanks")
        #expect(server.connections.first?.requests.first?.head.contains("Expect: 100-continue\r\n") == true)
        #expect(server.connections.first?.requests.first?.body == Array("please".utf8))
    }

    @Test func `a body without 100 Continue is never sent`() async throws {
        let server = try ScriptedServer(always: [
            .readHead, .response("no", status: "403 Forbidden"), .readToEnd,
        ])
        var configuration = HTTPConfiguration.lasting
        configuration.timeouts.expectContinue = .seconds(300)
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
        let request = session.post("", body: .text("secret"), options: .init(expectsContinue: true))
        #expect(try await request.response().status == 403)
        try await server.waitForEnds()
        #expect(!String(decoding: server.received, as: UTF8.self).contains("secret"))
    }

    @Test func `on a Unix socket`() async throws {
        let folder = try LabFolder()
        let path = folder.path + "/socket"
        let server = try ScriptedServer(on: .unix(path), always: [.readRequest, .response("here")])
        let session = try HTTPSession(
            baseURL: "http://docker/v1",
            configuration: .init(timeouts: .lasting, unixSocketPath: path)
        )
        #expect(try await session.get("info").string() == "here")
        #expect(
            server.connections.first?.requests.first?.head.hasPrefix("GET /v1/info HTTP/1.1\r\nHost: docker\r\n")
                == true
        )
    }
}
