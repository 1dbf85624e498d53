import HTTPLab
import NIOCore
import NIOHPACK
import NIOHTTP1
import NetworkClientCore
import Testing

@testable import NetworkClient

/// A scripted server whose first connection is HTTP/2 and allows WebSockets; further ones are WebSockets over HTTP/1.1.
private final class Lab: Sendable {
    /// What the client has sent over HTTP/2.
    let events = Observed<[HTTP2WebSocketPeer.Event]>([])
    let server: ScriptedServer
    let session: HTTPSession

    /// Starts the server, whose script handles an event, or leaves it to the server that returns each message.
    ///
    /// - Parameters:
    ///   - settings: The server's settings by their numbers.
    ///   - returnsWindows: Whether the client may send more than 65,535 bytes.
    ///   - script: Returns whether it has handled the event.
    /// - Throws: The errno if it can't listen.
    init(
        settings: [(UInt16, UInt32)] = HTTP2WebSocketPeer.settings,
        returnsWindows: Bool = true,
        script: @escaping @Sendable (HTTP2WebSocketPeer, HTTP2WebSocketPeer.Event) throws -> Bool = { _, _ in false }
    ) throws {
        let events = events
        server = try ScriptedServer { number in
            [
                .custom { connection in
                    guard number == 0 else { return try Self.serveHTTP1(connection) }
                    let peer = try HTTP2WebSocketPeer(
                        connection,
                        settings: settings,
                        returnsWindows: returnsWindows
                    )
                    while true {
                        let event = try peer.next()
                        events.update { $0.append(event) }
                        if try !script(peer, event) { try peer.respond(to: event) }
                    }
                }
            ]
        }
        session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .http2())
    }

    private static func serveHTTP1(_ connection: ServerConnection) throws {
        try connection.acceptWebSocket()
        while true {
            let frame = try connection.readFrame()
            try connection.send(.init(frame.opcode, frame.payload, isFinal: frame.isFinal))
            if frame.opcode == 8 { return }
        }
    }

    /// Makes a request, after which the settings of the connection are known.
    func connect() async throws { #expect(try await session.get("").bytes() == Array("ok".utf8)) }

    /// Opens a WebSocket without pings.
    func open(_ options: WebSocketOptions = .init()) async throws -> WebSocket {
        var options = options
        options.keepAliveInterval = nil
        options.closeTimeout = .seconds(300)
        return try await session.webSocket("feed", webSocketOptions: options)
    }

    /// Waits until the client has ended or reset a number of WebSockets, and returns how.
    func ends(_ count: Int = 1) async throws -> [HTTP2WebSocketPeer.Event] {
        try await events.wait(for: "the end of a stream") { Self.ends($0).count >= count }
        return Self.ends(events.value)
    }

    private static func ends(_ events: [HTTP2WebSocketPeer.Event]) -> [HTTP2WebSocketPeer.Event] {
        events.filter { event in
            switch event {
            case .end, .reset: true
            case .request, .open, .frame: false
            }
        }
    }
}

/// WebSockets on streams of HTTP/2 connections (RFC 8441).
@Suite(.timeLimit(.minutes(5)))
struct ExtendedConnectTests {
    // MARK: Opening

    @Test func `a WebSocket is a stream of the connection that carries the requests`() async throws {
        let lab = try Lab { peer, event in
            guard case .open(let stream) = event else { return false }
            try peer.accept(stream, [("sec-websocket-protocol", "b")])
            return true
        }
        try await lab.connect()
        let socket = try await lab.open(.init(subprotocols: ["a", "b"]))
        #expect(socket.subprotocol == "b" && socket.response.status.code == 200)
        #expect(lab.session.requests.map(\.kind) == [.webSocket])
        for text in ["one", "", "three"] {
            try await socket.send(text)
            try await lab.connect()
            #expect(try await socket.receive() == .text(text))
        }
        #expect(try await socket.ping() > .zero)
        #expect(await socket.close() == .init(.normal))
        #expect(try await socket.receive() == nil)
        #expect(try await lab.ends() == [.end(3)])
        try await lab.connect()
        #expect(lab.server.connections.count == 1 && lab.session.requests.isEmpty)
    }

    @Test func `the request is an extended CONNECT without the fields of an upgrade`() {
        let handshake = WebSocketHandshake(subprotocols: ["a"], compression: .init())
        let own = [("Host", "example.com"), ("Sec-WebSocket-Key", "x"), ("Authorization", "Bearer t")]
        let headers = HTTPHeaders(own + handshake.fields.map { ($0.name, $0.value) })
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/feed?a=b", headers: headers)
        let fields = HPACKHeaders(head.extendedConnect, isSecure: true)
        #expect(
            fields.map { "\($0.name): \($0.value)" } == [
                ":method: CONNECT", ":protocol: websocket", ":scheme: https", ":authority: example.com",
                ":path: /feed?a=b", "authorization: Bearer t", "sec-websocket-version: 13",
                "sec-websocket-protocol: a", "sec-websocket-extensions: \(WebSocketCompression().offer)",
            ]
        )
        #expect(HPACKHeaders(head, isSecure: true).contains(name: ":protocol") == false)
    }

    @Test(arguments: [[], [(8, 0)], [(8, 1), (3, 0)]] as [[(UInt16, UInt32)]])
    func `a server that does not allow it gets a connection with HTTP/1.1`(settings: [(UInt16, UInt32)]) async throws {
        let lab = try Lab(settings: settings.filter { $0.0 != 3 }) { peer, event in
            guard case .request(let stream) = event else { return false }
            // A server that allows no streams at the moment.
            if settings.contains(where: { $0.0 == 3 }) { try peer.peer.send(.settings([(3, 0)])) }
            try peer.peer.respond(on: stream)
            return true
        }
        try await lab.connect()
        let socket = try await lab.open()
        #expect(socket.response.status.code == 101)
        try await socket.send("one")
        #expect(try await socket.receive() == .text("one"))
        #expect(lab.server.connections.count == 2)
        #expect(lab.server.connections.last?.requests.first?.head.hasPrefix("GET /feed HTTP/1.1\r\n") == true)
        await socket.close()
    }

    @Test func `without a connection to the origin, a WebSocket has one with HTTP/1.1`() async throws {
        let server = try ScriptedServer(always: [
            .custom { connection in
                try connection.acceptWebSocket()
                while try connection.readFrame().opcode != 8 {}
                try connection.send(.close(1000))
            }
        ])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .http2())
        let socket = try await session.webSocket("")
        #expect(socket.response.status.code == 101)
        await socket.close()
    }

    @Test func `a WebSocket takes one of the connection's streams`() async throws {
        let lab = try Lab(settings: [(8, 1), (3, 1)])
        try await lab.connect()
        let (first, second) = (try await lab.open(), try await lab.open())
        #expect(first.response.status.code == 200 && second.response.status.code == 101)
        await first.close()
        _ = try await lab.ends()
        // Its place is free again.
        try await lab.connect()
        let third = try await lab.open()
        #expect(third.response.status.code == 200)
        await third.close()
        await second.close()
        #expect(lab.server.connections.count == 2)
    }

    // MARK: Refusals

    @Test func `a refusal has the server's status and body, and the connection stays`() async throws {
        let lab = try Lab { peer, event in
            guard case .open(let stream) = event else { return false }
            try peer.peer.respond(on: stream, "no entry", status: "403")
            return true
        }
        try await lab.connect()
        let error = await #expect(throws: HTTPError.self) { _ = try await lab.open() }
        #expect(error?.code == .webSocketRefused && error?.response?.status.code == 403)
        #expect(error.map { String(decoding: $0.body, as: UTF8.self) } == "no entry")
        #expect(error?.reason.contains("403") == true)
        #expect(try await lab.ends() == [.end(3)])
        try await lab.connect()
        #expect(lab.server.connections.count == 1)
    }

    @Test(arguments: [("sec-websocket-protocol", "c"), ("sec-websocket-extensions", "x-unknown")])
    func `terms that were not offered are refused, and the stream is reset`(name: String, value: String) async throws {
        let lab = try Lab { peer, event in
            guard case .open(let stream) = event else { return false }
            try peer.accept(stream, [(name, value)])
            return true
        }
        try await lab.connect()
        let error = await #expect(throws: HTTPError.self) { _ = try await lab.open() }
        #expect(error?.code == .webSocketRefused && error?.reason.contains("not offered") == true)
        #expect(try await lab.ends() == [.reset(3, code: 8)])
        try await lab.connect()
    }

    @Test func `a stream that is reset before the response is a lost connection`() async throws {
        let lab = try Lab { peer, event in
            guard case .open(let stream) = event else { return false }
            try peer.peer.send(.reset(2, on: stream))
            return true
        }
        try await lab.connect()
        let error = await #expect(throws: HTTPError.self) { _ = try await lab.open() }
        #expect(error?.code == .connectionLost && error?.reason.contains("INTERNAL_ERROR") == true)
        try await lab.connect()
        #expect(lab.server.connections.count == 1)
    }

    @Test func `a refused stream is requested again, and a server that requires HTTP/1.1 gets it`() async throws {
        let lab = try Lab { peer, event in
            guard case .open(let stream) = event else { return false }
            try peer.peer.send(.reset(stream == 3 ? 7 : 13, on: stream))
            return true
        }
        try await lab.connect()
        let socket = try await lab.open()
        #expect(socket.response.status.code == 101)
        let opened = lab.events.value.filter { if case .open = $0 { true } else { false } }
        #expect(opened == [.open(3), .open(5)])
        await socket.close()
    }

    // MARK: Messages

    @Test(arguments: [nil, WebSocketCompression(minimumSize: 0)])
    func `large messages return as they were sent`(compression: WebSocketCompression?) async throws {
        let lab = try Lab { peer, event in
            guard case .open(let stream) = event, compression != nil else { return false }
            try peer.accept(stream, [("sec-websocket-extensions", "permessage-deflate")])
            return true
        }
        try await lab.connect()
        let socket = try await lab.open(.init(compression: compression, maximumFrameSize: 300_000))
        #expect(socket.isCompressed == (compression != nil))
        var generator = SystemRandomNumberGenerator()
        let random = (0..<1_000_000).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        for message: WebSocketMessage in [
            .binary(random), .text(String(repeating: "é", count: 700_000)), .binary([]), .binary(random),
        ] {
            try await socket.send(message)
            #expect(try await socket.receive() == message)
        }
        await socket.close()
        #expect(try await lab.ends() == [.end(3)])
        #expect(lab.server.connections.count == 1)
    }

    @Test func `a slow reader of a WebSocket stops no other stream`() async throws {
        let piece = [UInt8](repeating: 1, count: 16_380)
        let lab = try Lab { peer, event in
            guard case .open(let stream) = event else { return false }
            try peer.accept(stream)
            // As much as the stream's window allows, with the four bytes of each header: 4 MiB.
            for _ in 0..<256 { try peer.send(.init(2, piece), on: stream) }
            return true
        }
        try await lab.connect()
        let socket = try await lab.open()
        for _ in 0..<4 { try await lab.connect() }
        for _ in 0..<256 { #expect(try await socket.receive() == .binary(piece)) }
        try await socket.send("done")
        #expect(try await socket.receive() == .text("done"))
        await socket.close()
    }

    @Test func `the window of a stream is returned as the messages are read`() async throws {
        let piece = [UInt8](repeating: 1, count: 16_380)
        let returned = Observed<[UInt32]>([])
        let server = try ScriptedServer(always: [
            .custom { connection in
                let peer = try HTTP2WebSocketPeer(connection)
                try peer.respond(to: peer.next())
                guard case .open(let stream) = try peer.next() else { return }
                try peer.accept(stream)
                for _ in 0..<256 { try peer.send(.init(2, piece), on: stream) }
                let next = try peer.peer.readFrame {
                    $0.kind == LabHTTP2Frame.Kind.headers
                        || ($0.kind == LabHTTP2Frame.Kind.windowUpdate && $0.stream == stream)
                }
                // Nothing has been returned before the second request.
                guard next.kind == LabHTTP2Frame.Kind.headers else { return }
                try peer.peer.respond(on: next.stream)
                let update = try peer.peer.readFrame {
                    $0.kind == LabHTTP2Frame.Kind.windowUpdate && $0.stream == stream
                }
                returned.update { $0.append(update.number(at: 0)) }
                for _ in 0..<128 { try peer.send(.init(2, piece), on: stream) }
                try peer.serve()
            }
        ])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .http2())
        _ = try await session.get("").bytes()
        let socket = try await session.webSocket("", webSocketOptions: .init(keepAliveInterval: nil))
        #expect(try await session.get("").bytes() == Array("ok".utf8))
        for _ in 0..<384 { #expect(try await socket.receive() == .binary(piece)) }
        #expect(returned.value.first.map { $0 >= 2 << 20 } == true)
        await socket.close()
    }

    @Test func `a server that does not return the window makes the sender wait, and no other stream`() async throws {
        let lab = try Lab(returnsWindows: false)
        try await lab.connect()
        let socket = try await lab.open()
        let hasReturned = Observed(false)
        // 65,535 bytes are sent.
        let sending = Task {
            defer { hasReturned.update { $0 = true } }
            try await socket.send([UInt8](repeating: 1, count: 200_000))
        }
        try await lab.server.wait(for: "the first window") { $0.contains { $0.received.count > 65_000 } }
        for _ in 0..<5 { try await lab.connect() }
        #expect(!hasReturned.value)
        lab.session.requests.first?.cancel()
        let error = await #expect(throws: HTTPError.self) { try await sending.value }
        #expect(error?.code == .connectionLost)
        #expect(try await lab.ends() == [.reset(3, code: 8)])
        try await lab.connect()
    }

    // MARK: The end

    @Test(arguments: [false, true])
    func `a server closes a WebSocket, and both directions of its stream end`(endsAtOnce: Bool) async throws {
        let lab = try Lab { peer, event in
            switch event {
            case .frame(let frame, let stream) where frame.opcode == 1:
                try peer.send(.close(4001, "because"), on: stream, ends: endsAtOnce)
            case .end(let stream) where !endsAtOnce: try peer.peer.send(.data([], on: stream, ends: true))
            case .frame, .end: break
            case .request, .open, .reset: return false
            }
            return true
        }
        try await lab.connect()
        let socket = try await lab.open()
        try await socket.send("close")
        let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
        #expect(error?.code == .webSocketClosed)
        #expect(socket.closure == .init(.init(rawValue: 4001), reason: "because"))
        #expect(try await lab.ends() == [.end(3)])
        let closes = lab.events.value.compactMap { event -> UInt16? in
            if case .frame(let frame, _) = event { frame.closeCode } else { nil }
        }
        #expect(closes == [4001])
        try await lab.connect()
        #expect(lab.session.requests.isEmpty && lab.server.connections.count == 1)
    }

    @Test func `a WebSocket that is given up makes its connection acknowledge a PING`() async throws {
        let pings = Observed(0)
        let lab = try Lab { peer, event in
            let frames = peer.peer.frames
            pings.update { $0 = frames.count { $0.kind == LabHTTP2Frame.Kind.ping && $0.flags == 0 } }
            guard case .frame(let frame, _) = event else { return false }
            return frame.opcode == 9
        }
        var configuration = try HTTPConfiguration.http2()
        // The next request waits for the acknowledgement.
        configuration.maximumConnectionsPerHost = 1
        // The server may be late with it on a busy machine.
        configuration.fixedLimits.silence = .seconds(300)
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(lab.server.port)/", configuration: configuration)
        #expect(try await session.get("").bytes() == Array("ok".utf8))
        var options = WebSocketOptions()
        (options.keepAliveInterval, options.keepAliveTimeout) = (.milliseconds(50), .milliseconds(50))
        let socket = try await session.webSocket("feed", webSocketOptions: options)
        let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
        #expect(error?.code == .connectionLost)
        #expect(try await session.get("").bytes() == Array("ok".utf8))
        #expect(pings.value == 1 && lab.server.connections.count == 1)
    }

    @Test func `a stream that ends without a Close frame is lost, and is reset`() async throws {
        let lab = try Lab { peer, event in
            guard case .open(let stream) = event else { return false }
            try peer.accept(stream)
            try peer.send(.text("last"), on: stream, ends: true)
            return true
        }
        try await lab.connect()
        let socket = try await lab.open()
        #expect(try await socket.receive() == .text("last"))
        let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
        #expect(error?.code == .connectionLost && error?.reason.contains("without a Close frame") == true)
        #expect(socket.closure?.code == .abnormal)
        #expect(try await lab.ends() == [.reset(3, code: 8)])
        try await lab.connect()
    }

    @Test func `a stream that the server resets is lost, after what was received before`() async throws {
        let lab = try Lab { peer, event in
            guard case .open(let stream) = event else { return false }
            try peer.accept(stream)
            try peer.send(.text("last"), on: stream)
            try peer.peer.send(.reset(11, on: stream))
            return true
        }
        try await lab.connect()
        let socket = try await lab.open()
        #expect(try await socket.receive() == .text("last"))
        let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
        #expect(error?.code == .connectionLost)
        #expect(error?.reason.contains("ENHANCE_YOUR_CALM") == true, "\(error?.reason ?? "")")
        let late = await #expect(throws: HTTPError.self) { try await socket.send("more") }
        #expect(late?.processing == .neverSent)
        try await lab.connect()
        #expect(lab.server.connections.count == 1)
    }

    @Test func `a WebSocket that is cancelled resets its stream, and a released one closes it`() async throws {
        let lab = try Lab()
        try await lab.connect()
        let socket = try await lab.open()
        lab.session.requests.first?.cancel()
        let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
        #expect(error?.code == .cancelled)
        #expect(try await lab.ends() == [.reset(3, code: 8)])
        _ = try await lab.open()
        #expect(try await lab.ends(2).last == .end(5))
        try await lab.connect()
        #expect(lab.session.requests.isEmpty && lab.server.connections.count == 1)
    }

    @Test func `a violation of the WebSocket protocol closes the stream, and nothing else`() async throws {
        let lab = try Lab { peer, event in
            switch event {
            case .open(let stream):
                try peer.accept(stream)
                try peer.send(.init(3), on: stream)
            case .frame: break
            case .end(let stream): try peer.peer.send(.data([], on: stream, ends: true))
            case .request, .reset: return false
            }
            return true
        }
        try await lab.connect()
        let socket = try await lab.open()
        let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
        #expect(error?.code == .webSocketFailed)
        #expect(try await lab.ends() == [.end(3)])
        let codes = lab.events.value.map { event -> UInt16? in
            if case .frame(let frame, _) = event { frame.closeCode } else { nil }
        }
        #expect(codes.contains(1002))
        try await lab.connect()
        #expect(lab.server.connections.count == 1)
    }

    @Test func `a WebSocket lives on after GOAWAY with its stream, and requests have another connection`() async throws
    {
        let server = try ScriptedServer { number in
            [
                .custom { connection in
                    let peer = try HTTP2WebSocketPeer(connection)
                    while true {
                        let event = try peer.next()
                        try peer.respond(to: event)
                        if number == 0, case .open(let stream) = event { try peer.peer.send(.goAway(stream)) }
                    }
                }
            ]
        }
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .http2())
        _ = try await session.get("").bytes()
        let options = WebSocketOptions(keepAliveInterval: nil, closeTimeout: .seconds(300))
        let socket = try await session.webSocket("", webSocketOptions: options)
        for text in ["one", "two"] {
            try await socket.send(text)
            #expect(try await socket.receive() == .text(text))
            #expect(try await session.get("").bytes() == Array("ok".utf8))
        }
        #expect(server.connections.count == 2)
        #expect(await socket.close() == .init(.normal))
        // The connection ends with its last stream.
        try await server.wait(for: "the end of the first connection") { $0.first?.clientEnd != nil }
        session.invalidate()
    }

    @Test(arguments: [false, true])
    func `a WebSocket is lost with its connection, or with GOAWAY below its stream`(isGoAway: Bool) async throws {
        let lab = try Lab { peer, event in
            guard case .frame(let frame, _) = event, frame.opcode == 1 else { return false }
            if isGoAway { try peer.peer.send(.goAway(1, 2, "restart")) } else { try peer.peer.close() }
            return true
        }
        try await lab.connect()
        let socket = try await lab.open()
        try await socket.send("end")
        let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
        #expect(error?.code == .connectionLost && error?.reason.contains("without a Close frame") == true)
        if isGoAway { #expect(error?.reason.contains("restart") == true) }
        #expect(socket.closure?.code == .abnormal)
        #expect(lab.session.requests.isEmpty)
    }

    @Test func `places of streams are not lost by WebSockets that end in any way`() async throws {
        let lab = try Lab(settings: [(8, 1), (3, 2)])
        try await lab.connect()
        for turn in 0..<60 {
            let socket = try await lab.open()
            #expect(socket.response.status.code == 200)
            try await socket.send("\(turn)")
            switch turn % 3 {
            case 0:
                #expect(try await socket.receive() == .text("\(turn)"))
                await socket.close()
            case 1: await socket.close(.goingAway)
            default: lab.session.requests.first?.cancel()
            }
            _ = try await lab.ends(turn + 1)
            try await lab.connect()
        }
        #expect(lab.server.connections.count == 1)
    }
}

/// WebSockets over HTTP/2 through nghttpx, to Python's `websockets`.
@Suite(
    .timeLimit(.minutes(5)),
    .enabled(if: HTTP2Proxy.isInstalled, "\(HTTP2Proxy.advice)"),
    .enabled(if: PythonWebSockets.isInstalled, "\(PythonWebSockets.advice)")
)
struct ExtendedConnectServerTests {
    @Test(arguments: [false, true])
    func `messages return as they were sent, beside requests`(isSecure: Bool) async throws {
        let authority = try CertificateAuthority()
        let server = try PythonWebSockets(compression: "ServerPerMessageDeflateFactory()")
        let proxy = try HTTP2Proxy(toPort: server.port, identity: isSecure ? authority.issue() : nil)
        let session = try HTTPSession(baseURL: proxy.url + "/", configuration: .http2(authority))
        // The server of WebSockets asks for the upgrade.
        let first = try await session.get("").response()
        #expect(first.status == 426 && first.metrics.version == "HTTP/2")
        let options = WebSocketOptions(subprotocols: ["chat"], compression: .init(), closeTimeout: .seconds(300))
        var sockets: [WebSocket] = []
        for _ in 0..<8 { sockets.append(try await session.webSocket("", webSocketOptions: options)) }
        for socket in sockets {
            #expect(socket.response.status.code == 200 && socket.subprotocol == "chat" && socket.isCompressed)
            for message: WebSocketMessage in [
                .text("x"), .binary([UInt8](repeating: 7, count: 1_000_000)),
                .text(String(repeating: "é", count: 100_000)),
            ] {
                try await socket.send(message)
                #expect(try await socket.receive() == message)
            }
            #expect(try await session.get("").response().status == 426)
            #expect(try await socket.ping() > .zero)
        }
        for socket in sockets {
            #expect(await socket.close() == .init(.normal))
            #expect(try await socket.receive() == nil)
        }
        #expect(session.requests.isEmpty)
        let core = session.core
        #expect(try await core.loop.submit { core.pools.connectionCount }.get() == 1)
    }

    @Test func `the server's code is known, and a server that is not there is a refusal`() async throws {
        let server = try PythonWebSockets()
        let proxy = try HTTP2Proxy(toPort: server.port)
        let session = try HTTPSession(baseURL: proxy.url + "/", configuration: .http2())
        _ = try await session.get("").response()
        let socket = try await session.webSocket("close/3456")
        await #expect(throws: HTTPError.self) { try await socket.receive() }
        #expect(socket.response.status.code == 200)
        #expect(socket.closure == .init(.init(rawValue: 3456), reason: "as asked"))
        let nowhere = try HTTP2Proxy(toPort: 9)
        let other = try HTTPSession(baseURL: nowhere.url + "/", configuration: .http2())
        #expect((502...503).contains(try await other.get("").response().status))
        let error = await #expect(throws: HTTPError.self) { _ = try await other.webSocket("") }
        #expect(error?.code == .webSocketRefused)
        #expect(error?.response.map { (502...503).contains($0.status.code) } == true)
    }
}
