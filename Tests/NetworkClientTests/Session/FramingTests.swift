import HTTPLab
import NetworkClient
import Testing

/// The framing fields of a request's head.
@Suite(.timeLimit(.minutes(5)))
struct FramingTests {
    private static func server() throws -> ScriptedServer {
        try ScriptedServer(always: [.forever([.readRequest, .response("x")])])
    }

    private static func session(
        _ server: ScriptedServer,
        _ serializer: any RequestSerializer = FormSerializer(),
        headers: HTTPFields = [:]
    ) throws -> HTTPSession {
        var configuration = HTTPConfiguration.lasting
        configuration.requestSerializer = serializer
        configuration.headers = headers
        return try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
    }

    @Test func `a TRACE with a body is refused`() async throws {
        let server = try Self.server()
        let session = try Self.session(server)
        let smuggled = "GET /evil HTTP/1.1\r\nHost: x\r\n\r\n"
        let requests = [
            session.request(.trace, "", body: .text(smuggled)), session.request(.trace, "", parameters: ["a": "b"]),
            session.request(.trace, "", body: .file("/proc/self/status")),
        ]
        for request in requests {
            let error = await #expect(throws: HTTPError.self) { try await request.response() }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.processing == .neverSent)
            #expect(error?.reason.contains("TRACE") == true)
        }
        #expect(server.connections.isEmpty)
        #expect(try await session.request(.trace, "").response().status == 200)
        #expect(server.connections.flatMap(\.requests).count == 1)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .patch])
    func `methods that usually have a body send Content-Length 0`(method: HTTPRequest.Method) async throws {
        let server = try Self.server()
        let serializers: [any RequestSerializer] = [JSONSerializer(), PropertyListSerializer(), FormSerializer()]
        for serializer in serializers {
            _ = try await Self.session(server, serializer).request(method, "").response()
        }
        let requests = server.connections.flatMap(\.requests)
        #expect(requests.count == 3)
        for request in requests {
            #expect(request.field("Content-Length") == "0")
            #expect(request.field("Transfer-Encoding") == nil)
        }
    }

    @Test func `other methods without a body have no framing fields`() async throws {
        let server = try Self.server()
        let session = try Self.session(server, JSONSerializer())
        for method in [HTTPRequest.Method.get, .head, .delete, .options, .trace] {
            _ = try? await session.request(method, "").response()
        }
        for request in server.connections.flatMap(\.requests) { #expect(request.field("Content-Length") == nil) }
    }

    @Test func `a range is requested uncompressed by default`() async throws {
        let server = try Self.server()
        let plain = try Self.session(server)
        _ = try await plain.get("").response()
        _ = try await plain.get("", headers: [.range: "bytes=0-3"]).response()
        _ = try await plain.get("", headers: [.range: "bytes=0-3", .acceptEncoding: "gzip"]).response()
        let ranging = try Self.session(server, headers: [.range: "bytes=0-3"])
        _ = try await ranging.get("").response()
        let wanting = try Self.session(server, headers: [.acceptEncoding: "br"])
        _ = try await wanting.get("", headers: [.range: "bytes=0-3"]).response()
        let codings = server.connections.flatMap(\.requests).map { $0.field("Accept-Encoding") }
        #expect(codings == ["gzip, deflate", "identity", "gzip", "identity", "br"])
    }

    @Test func `a request with two Host fields is refused`() async throws {
        let server = try Self.server()
        var headers = HTTPFields()
        let name = try #require(HTTPField.Name("Host"))
        for host in ["a.example", "b.example"] { headers.append(.init(name: name, value: host)) }
        let error = await #expect(throws: HTTPError.self) {
            try await Self.session(server).get("", headers: headers).response()
        }
        #expect(error?.code == .invalidConfiguration && error?.processing == .neverSent)
        let always = await #expect(throws: HTTPError.self) {
            try await Self.session(server, headers: headers).post("").response()
        }
        #expect(always?.code == .invalidConfiguration)
        #expect(server.connections.isEmpty)
        _ = try await Self.session(server).get("", headers: [name: "a.example"]).response()
        #expect(server.connections.first?.requests.first?.field("Host") == "a.example")
    }
}
