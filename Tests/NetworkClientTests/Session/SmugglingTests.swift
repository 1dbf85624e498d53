import HTTPLab
import NetworkClient
import Testing

/// Protection against injection through URLs, fields and parameters.
@Suite(.timeLimit(.minutes(10)))
struct SmugglingTests {
    @Test(arguments: ["a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\r\n\r\nGET /evil HTTP/1.1\r\n", "a\0b"])
    func `a field's value can't inject a field or a request`(value: String) async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("x"), .readToEnd])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        _ = try await session.get("", headers: [.accept: value]).response()
        let text = try #require(server.connections.first?.text)
        #expect(!text.contains("\r\nX-Evil") && !text.contains("\nX-Evil") && !text.contains("\nGET /evil"))
        #expect(!text.contains("\0"))
        #expect(server.connections.flatMap(\.requests).count == 1)
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a HTTP/1.1\r\nX-Evil: 1", "?a\r\nb", "a\0b"])
    func `a reference can't inject a field`(reference: String) async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("x"), .readToEnd])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let error = await #expect(throws: HTTPError.self) { try await session.get(reference).response() }
        #expect(error?.code == .invalidURL)
        #expect(server.connections.isEmpty)
    }

    @Test func `a parameter can't inject a parameter or a field`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("x"), .readToEnd])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        _ = try await session.get("", parameters: ["a&b=c\r\nX-Evil: 1": "d#e&f=g\r\n\r\n"]).response()
        let head = try #require(server.connections.first?.requests.first?.head)
        #expect(head.hasPrefix("GET /?a%26b%3Dc%0D%0AX-Evil%3A%201=d%23e%26f%3Dg%0D%0A%0D%0A HTTP/1.1\r\n"))
    }

    @Test(arguments: ["a\r\nX-Evil: 1", "a\nb", "a\rb", "a\0b", "", " a", "a\t"])
    func `an idempotency key can't inject a field`(key: String) async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("x"), .readToEnd])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let error = await #expect(throws: HTTPError.self) {
            try await session.post("", options: .init(idempotencyKey: .custom(key))).response()
        }
        #expect(error?.code == .invalidConfiguration && error?.processing == .neverSent)
        #expect(server.connections.isEmpty)
    }
}
