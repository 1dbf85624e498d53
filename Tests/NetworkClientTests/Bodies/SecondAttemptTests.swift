import HTTPLab
import NetworkClient
import Testing

/// Bodies of requests that would have to be resent.
@Suite(.timeLimit(.minutes(5)))
struct SecondAttemptTests {
    private let folder: LabFolder

    init() throws { folder = try LabFolder() }

    /// The first connection is closed after the request, or its response is 503; later ones succeed.
    private func server(_ first: [ServerStep] = []) throws -> ScriptedServer {
        try ScriptedServer { number in
            number == 0 ? [.readRequest] + first : [.forever([.readRequest, .response("fine")])]
        }
    }

    private func session(_ server: ScriptedServer) throws -> HTTPSession {
        try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, retry: .init(maximumAttempts: 3, baseDelay: .milliseconds(1)))
        )
    }

    private static let unavailable = ServerStep.response(
        "",
        status: "503 Service Unavailable",
        headers: ["Connection: close"]
    )

    @Test(arguments: [false, true])
    func `a replayable body is resent completely`(isAnswered: Bool) async throws {
        let path = try folder.write("file", "contents")
        let form: MultipartForm = [.text("x", name: "a"), .file(path, name: "b")]
        let bodies: [RequestBody] = [
            .file(path), .multipart(form), .replayable { WatchedSequence([Array("contents".utf8)]) },
            .bytes(Array("contents".utf8)).throttled(),
        ]
        for body in bodies {
            let server = try server(isAnswered ? [Self.unavailable] : [])
            let response = try await session(server).upload("a", from: body, method: .put).response()
            #expect(response.status == 200)
            let requests = server.connections.flatMap(\.requests)
            #expect(requests.count == 2)
            #expect(requests.first?.body == requests.last?.body)
            #expect(requests.first.map { String(decoding: $0.body, as: UTF8.self).contains("contents") } == true)
        }
    }

    @Test func `a one-time body is sent once: the loss of the connection is the error`() async throws {
        let server = try server()
        let sequence = WatchedSequence([[1]])
        let error = await #expect(throws: HTTPError.self) {
            try await session(server).upload("a", from: .once(sequence), method: .put).response()
        }
        #expect(error?.code == .connectionLost && error?.processing == .maybeProcessed)
        #expect(server.connections.count == 1 && sequence.asked.value == 2)
    }

    @Test func `a one-time body is sent once: the first response is the response`() async throws {
        let server = try server([Self.unavailable])
        let form: MultipartForm = [.stream(.once(WatchedSequence([[1]])), name: "a")]
        let response = try await session(server).upload("a", from: .multipart(form), method: .put).response()
        #expect(response.status == 503)
        #expect(server.connections.count == 1)
    }

    @Test func `a one-time body that was not read yet is sent by a later attempt`() async throws {
        // An address from which nothing connects, so that the port stays free.
        let server = try ScriptedServer(on: .ipv4(127, 77, 0, 3), always: [.readRequest, .response()])
        let port = server.port
        try await server.stop()
        let sequence = WatchedSequence([[1]])
        let session = try HTTPSession(
            baseURL: "http://127.77.0.3:\(port)/",
            configuration: .init(timeouts: .lasting, retry: .init(maximumAttempts: 2, baseDelay: .milliseconds(1)))
        )
        let error = await #expect(throws: HTTPError.self) {
            try await session.upload("a", from: .once(sequence), method: .put).response()
        }
        // Two connections were refused: the body did not prevent the retry.
        #expect(error?.code == .connectionRefused && sequence.asked.value == 0)
    }

    @Test func `a body that can be read once serves one request`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response()])])
        let session = try session(server)
        let body = RequestBody.once(WatchedSequence([[1]]))
        _ = try await session.upload("a", from: body).response()
        let error = await #expect(throws: HTTPError.self) { try await session.upload("b", from: body).response() }
        #expect(error?.code == .bodyNotReplayable && error?.processing == .neverSent)
        #expect(server.connections.flatMap(\.requests).count == 1)
    }

    @Test func `a form with a stream that can be read once serves one request`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response()])])
        let session = try session(server)
        let body = RequestBody.multipart([.stream(.once(WatchedSequence([[1]])), name: "a")])
        _ = try await session.upload("a", from: body).response()
        let error = await #expect(throws: HTTPError.self) { try await session.upload("b", from: body).response() }
        #expect(error?.code == .bodyNotReplayable && error?.processing == .neverSent)
        #expect(server.connections.flatMap(\.requests).count == 1)
    }
}
