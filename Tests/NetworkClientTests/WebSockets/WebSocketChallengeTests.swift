import HTTPLab
import NetworkClientCore
import Testing

@testable import NetworkClient

/// Opening handshakes that a server or a proxy answers with a challenge.
@Suite(.timeLimit(.minutes(5)))
struct WebSocketChallengeTests {
    private static let anna = Credential(user: "anna", password: "secret")
    /// `anna:secret`.
    private static let basic = "Basic YW5uYTpzZWNyZXQ="
    private static let digest = "Digest realm=\"r\", nonce=\"n\", algorithm=SHA-256, qop=\"auth\""

    /// A server that challenges handshakes until a condition on their field `Authorization` holds, and then returns one
    /// message.
    private func server(
        _ challenge: String,
        _ requests: Observed<[ServerRecord.Request]>,
        closes: Bool = false,
        until isAccepted: @escaping @Sendable (String) -> Bool
    ) throws -> ScriptedServer {
        try ScriptedServer(always: [
            .custom { connection in
                while true {
                    let request = try connection.readRequest()
                    requests.update { $0.append(request) }
                    if isAccepted(request.field("Authorization") ?? "") {
                        return try Self.serve(connection, request)
                    }
                    let fields = ["WWW-Authenticate: \(challenge)"] + (closes ? ["Connection: close"] : [])
                    try connection.perform(.response("who?", status: "401 Unauthorized", headers: fields))
                    if closes { return }
                }
            }
        ])
    }

    private static func serve(_ connection: ServerConnection, _ request: ServerRecord.Request) throws {
        let lines = [
            "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Accept: \(ServerConnection.accept(request))", "", "",
        ]
        try connection.perform(.send(lines.joined(separator: "\r\n")))
        let message = try connection.readFrame()
        try connection.send(.init(message.opcode, message.payload))
        try connection.send(.init(8, try connection.readFrame().payload))
    }

    /// Opens a WebSocket, exchanges a message and closes it.
    private func exchange(_ session: HTTPSession, _ options: RequestOptions = .init()) async throws {
        let socket = try await session.webSocket("feed", options: options)
        try await socket.send("hello")
        #expect(try await socket.receive() == .text("hello"))
        await socket.close()
    }

    private func session(_ server: ScriptedServer, _ policy: AuthenticationPolicy) throws -> HTTPSession {
        let configuration = HTTPConfiguration(timeouts: .lasting, authentication: policy)
        return try HTTPSession(baseURL: "ws://127.0.0.1:\(server.port)/", configuration: configuration)
    }

    private func credentials(_ server: ScriptedServer) -> AuthenticationPolicy {
        .init(credentials: [.init(Self.anna, for: "http://127.0.0.1:\(server.port)")])
    }

    @Test(arguments: [false, true])
    func `Basic after a 401, whether the server keeps the connection or not`(closes: Bool) async throws {
        let requests = Observed<[ServerRecord.Request]>([])
        let server = try server("Basic realm=\"r\"", requests, closes: closes) { $0 == Self.basic }
        let session = try session(server, credentials(server))
        try await exchange(session)
        try await exchange(session)
        #expect(requests.value.map { $0.field("Authorization") } == [nil, Self.basic, Self.basic])
        #expect(server.connections.count == (closes ? 3 : 2))
        let keys = requests.value.compactMap { $0.field("Sec-WebSocket-Key") }
        #expect(Set(keys).count == 3)
    }

    @Test func `Digest after a 401, and a counted nonce later`() async throws {
        let requests = Observed<[ServerRecord.Request]>([])
        let server = try server(Self.digest, requests) { $0.hasPrefix("Digest ") }
        let session = try session(server, credentials(server))
        for _ in 0..<2 { try await exchange(session) }
        let values = requests.value.map { $0.field("Authorization") ?? "" }
        #expect(values.count == 3 && values[0].isEmpty)
        #expect(values[1].contains("uri=\"/feed\"") && values[1].contains("nc=00000001"))
        #expect(values[2].contains("nc=00000002"))
    }

    @Test func `a request's own credential answers the challenge of a handshake`() async throws {
        let requests = Observed<[ServerRecord.Request]>([])
        let server = try server("Basic realm=\"r\"", requests) { $0 == Self.basic }
        try await exchange(session(server, .none), .init(credential: Self.anna))
        #expect(requests.value.count == 2)
    }

    @Test func `a bearer token that is refused is refreshed`() async throws {
        let requests = Observed<[ServerRecord.Request]>([])
        let server = try server("Bearer", requests) { $0 == "Bearer new" }
        let tokens = BearerTokens(for: "http://127.0.0.1:\(server.port)", token: "old") { _ in "new" }
        let session = try session(server, .init(tokens: [tokens]))
        for _ in 0..<2 { try await exchange(session) }
        let values = requests.value.map { $0.field("Authorization") }
        #expect(values == ["Bearer old", "Bearer new", "Bearer new"])
    }

    @Test func `the next nonce that a server names with the handshake's response is used`() async throws {
        let requests = Observed<[ServerRecord.Request]>([])
        let server = try ScriptedServer(always: [
            .custom { connection in
                while true {
                    let request = try connection.readRequest()
                    requests.update { $0.append(request) }
                    guard request.field("Authorization") == nil else {
                        let lines = [
                            "HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade",
                            "Sec-WebSocket-Accept: \(ServerConnection.accept(request))",
                            "Authentication-Info: nextnonce=\"m\"", "", "",
                        ]
                        try connection.perform(.send(lines.joined(separator: "\r\n")))
                        return try connection.send(.init(8, try connection.readFrame().payload))
                    }
                    let fields = ["WWW-Authenticate: \(Self.digest)"]
                    try connection.perform(.response(status: "401 Unauthorized", headers: fields))
                }
            }
        ])
        let session = try session(server, credentials(server))
        for _ in 0..<2 { try await session.webSocket("feed").close() }
        let nonces = requests.value.compactMap { $0.field("Authorization") }.map { $0.contains("nonce=\"m\"") }
        #expect(nonces == [false, true])
    }

    @Test func `a challenge without credentials is the error of the handshake`() async throws {
        let requests = Observed<[ServerRecord.Request]>([])
        let server = try server("Basic realm=\"r\"", requests) { _ in false }
        let error = await #expect(throws: HTTPError.self) { _ = try await session(server, .none).webSocket("feed") }
        #expect(error?.code == .webSocketRefused && error?.response?.status.code == 401)
        #expect(error.map { String(decoding: $0.body, as: UTF8.self) } == "who?")
        let wrong = AuthenticationPolicy(credentials: [
            .init(.init(user: "anna", password: "wrong"), for: "http://127.0.0.1:\(server.port)")
        ])
        let refused = await #expect(throws: HTTPError.self) { _ = try await session(server, wrong).webSocket("feed") }
        #expect(refused?.code == .webSocketRefused && refused?.response?.status.code == 401)
        #expect(requests.value.count == 3)
    }

    @Test(arguments: ["Basic realm=\"p\"", digest])
    func `the 407 of a proxy is answered, and the tunnel carries the handshake`(challenge: String) async throws {
        let requests = Observed<[ServerRecord.Request]>([])
        let server = try server("Basic realm=\"r\"", requests) { $0 == Self.basic }
        let port = server.port
        let proofs = Observed<[String]>([])
        let proxy = try ScriptedServer(always: [
            .respond { request in
                let value = request.field("Proxy-Authorization") ?? ""
                proofs.update { $0.append(value) }
                guard value.hasPrefix(challenge.prefix { $0 != " " }) else {
                    return [.response(status: "407 Who", headers: ["Proxy-Authenticate: \(challenge)"]), .close]
                }
                return [.send("HTTP/1.1 200 Open\r\n\r\n"), .relay(toPort: port, cutAfter: nil)]
            }
        ])
        var configuration = HTTPConfiguration(timeouts: .lasting, authentication: credentials(server))
        configuration.proxy = .all(try ProxyServer("http://me:pw@127.0.0.1:\(proxy.port)"))
        let session = try HTTPSession(baseURL: "ws://127.0.0.1:\(port)/", configuration: configuration)
        try await exchange(session)
        #expect(proofs.value.last?.hasPrefix(challenge.prefix { $0 != " " }) == true)
        #expect(requests.value.allSatisfy { $0.field("Proxy-Authorization") == nil })
    }
}
