import HTTPLab
import Locking
import NetworkClient
import Testing

/// The properties of requests that are available for logging.
@Suite(.timeLimit(.minutes(10)))
struct RequestSightTests {
    private final class Connections: EventMonitor {
        let seen = Lock<[ConnectMetrics]>([])

        func request(_ request: RequestHandle, did event: RequestEvent) {
            if case .attempt(_, _, let connection) = event { seen.withLock { $0.append(connection) } }
        }
    }

    @Test func `the sent head, the response's version and the connection's address are visible`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .send("HTTP/1.0 204 No Content\r\n\r\n")])
        let connections = Connections()
        let session = try HTTPSession(configuration: .init(timeouts: .lasting, eventMonitors: [connections]))
        let url = "http://127.0.0.1:\(server.port)/a b"
        let request = session.post(url, parameters: ["c": "d"], headers: [.cookie: "e=f"])
        #expect(try await request.response().version == "HTTP/1.0")
        let sent = try #require(server.connections.first?.requests.first?.head)
        #expect(sent.hasPrefix("\(request.head.method) \(request.head.path ?? "") HTTP/1.1\r\n"))
        for field in request.head.headerFields {
            #expect(sent.contains("\r\n\(field.name.rawName): \(field.value)\r\n"))
        }
        #expect(request.head.headerFields[.cookie] == "e=f")
        #expect(request.head.headerFields[.contentLength] == "3")
        #expect(connections.seen.withLock { $0.map(\.remoteAddress) } == ["127.0.0.1:\(server.port)"])
    }
}
