import HTTPLab
import NetworkClient
import Testing

/// Whole exchanges, on real sockets.
@Suite(.timeLimit(.minutes(10)))
struct ExchangeTests {
    @Test func `a response has status, fields and body`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("hello", headers: ["X-Colour: green"])])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/v1", configuration: .lasting)
        let response = try await session.get("greeting").response()
        #expect(response.status == 200)
        #expect(response["x-colour"] == ["green"])
        #expect(response.bytes == Array("hello".utf8))
        #expect(response.url == "http://127.0.0.1:\(server.port)/v1/greeting")
        let head = try #require(server.connections.first?.requests.first?.head)
        #expect(head.hasPrefix("GET /v1/greeting HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n"))
    }

    @Test func `parameters go into the query or the form, by method`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response()])])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        _ = try await session.get("a?b=1", parameters: ["c": ["x y"]]).response()
        _ = try await session.post("a", parameters: ["c": ["x y"]]).response()
        let requests = try #require(server.connections.first?.requests)
        try #require(requests.count == 2)
        #expect(requests[0].head.hasPrefix("GET /a?b=1&c%5B%5D=x%20y HTTP/1.1\r\n"))
        #expect(requests[1].head.contains("Content-Type: application/x-www-form-urlencoded"))
        #expect(requests[1].body == Array("c%5B%5D=x%20y".utf8))
        #expect(requests[1].head.contains("Content-Length: 13\r\n"))
    }

    /// Swift's strings are equal if they differ in the composition of characters only.
    @Test func `references that are equal as text have the URLs of their bytes`() throws {
        let session = try HTTPSession(baseURL: "http://127.0.0.1:1/")
        let references = ["caf\u{E9}", "cafe\u{301}", "caf\u{E9}", "\u{212A}", "K", "\u{212A}"]
        let paths = references.map { session.get($0, options: .init(startsAtOnce: false)).head.path }
        #expect(paths == ["/caf%C3%A9", "/cafe%CC%81", "/caf%C3%A9", "/%E2%84%AA", "/K", "/%E2%84%AA"])
    }

    @Test func `the longest time limits are none`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("x")])])
        let longest = Duration.seconds(Int64.max)
        let timeouts = Timeouts(
            resolve: longest,
            connect: longest,
            tls: longest,
            firstByte: longest,
            read: longest,
            write: longest,
            expectContinue: longest,
            total: longest
        )
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: timeouts, idleTimeout: longest)
        )
        for _ in 0..<2 { #expect(try await session.get("").string() == "x") }
    }

    @Test func `a connection is reused`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("x")])])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        for count in 0..<5 {
            let response = try await session.get("\(count)").response()
            #expect(response.metrics.isReused == (count > 0))
        }
        #expect(server.connections.count == 1)
    }

    @Test func `values are decoded, and a refusal's body too`() async throws {
        struct Fault: Decodable { var message: String }
        let server = try ScriptedServer { number in
            let json = ["Content-Type: application/json", "Connection: close"]
            let response: ServerStep =
                number == 0
                ? .response(#"{"message":"fine"}"#, headers: json)
                : .response(#"{"message":"no"}"#, status: "403 Forbidden", headers: json)
            return [.readRequest, response]
        }
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let value: Fault = try await session.get("").decoded()
        #expect(value.message == "fine")
        let error = await #expect(throws: HTTPError.self) { try await session.get("").decoded(Fault.self) }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.processing == .answered)
        #expect((error?.decoded as? Fault)?.message == "no")
        #expect(error?.response?.status.code == 403)
    }

    @Test func `a body too large for the kernel's buffers arrives whole`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("thanks")])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let bytes = (0..<10_000_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let text = try await session.put("up", body: .bytes(bytes)).string()
        #expect(text == "thanks")
        #expect(server.connections.first?.requests.first?.body == bytes)
    }

    @Test func `concurrent requests share the allowed connections`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("x")])])
        let configuration = HTTPConfiguration(timeouts: .lasting, maximumConnectionsPerHost: 3)
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
        try await withThrowingTaskGroup(of: Int.self) { group in
            for count in 0..<200 { group.addTask { try await session.get("\(count)").response().status } }
            for try await status in group { #expect(status == 200) }
        }
        #expect(server.connections.count == 3)
        #expect(session.requests.isEmpty)
    }
}
