import Glibc
import HTTPLab
import NIOCore
import NetworkClientCore
import Testing

@testable import NetworkClient

/// WebSockets of scripted servers.
@Suite(.timeLimit(.minutes(5)))
struct WebSocketTests {
    // MARK: The opening handshake

    @Test func `the handshake is a request of the session`() async throws {
        let lab = try WebSocketLab(["Sec-WebSocket-Protocol: b"]) { _, _ in }
        let socket = try await lab.session.webSocket(
            "feed",
            parameters: ["topic": "x"],
            headers: [.authorization: "Bearer t"],
            webSocketOptions: .init(subprotocols: ["a", "b"], closeTimeout: .seconds(300)),
            options: .init(interceptors: [Marker()])
        )
        #expect(socket.subprotocol == "b" && !socket.isCompressed && socket.closure == nil)
        #expect(socket.response.status.code == 101)
        #expect(lab.session.requests.map(\.kind) == [.webSocket])
        #expect(await socket.close().code == .normal)
        #expect(lab.session.requests.isEmpty)
        let request = try #require(lab.server.connections.first?.requests.first)
        #expect(request.head.hasPrefix("GET /feed?topic=x HTTP/1.1\r\n"))
        let names = ["Connection", "Upgrade", "Sec-WebSocket-Version", "Sec-WebSocket-Protocol", "Authorization", "X"]
        #expect(names.map { request.field($0) } == ["Upgrade", "websocket", "13", "a, b", "Bearer t", "marked"])
        #expect(request.field("Sec-WebSocket-Key")?.count == 24)
        #expect(request.field("Sec-WebSocket-Extensions") == nil)
    }

    private struct Marker: RequestInterceptor {
        func adapt(_ request: HTTPRequest, for attempt: RequestAttempt) -> HTTPRequest {
            var request = request
            if let name = HTTPField.Name("X") { request.headerFields[name] = "marked" }
            return request
        }
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nno", "status 200|responded with 200"),
        ("HTTP/1.1 426 Upgrade Required\r\nContent-Length: 0\r\n\r\n", "426"),
        ("HTTP/1.1 101 Switching Protocols\r\n\r\n", "Upgrade field"),
        ("HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n", "Sec-WebSocket-Accept is missing"),
        (
            "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: x\r\n\r\n",
            "Sec-WebSocket-Accept is 'x'"
        ),
    ])
    func `a server that does not open a WebSocket is refused`(response: String, reason: String) async throws {
        let server = try ScriptedServer(always: [.readRequest, .send(response), .readToEnd])
        let session = try HTTPSession(configuration: .lasting)
        let error = await #expect(throws: HTTPError.self) {
            _ = try await session.webSocket("ws://127.0.0.1:\(server.port)/")
        }
        #expect(error?.code == .webSocketRefused)
        #expect(reason.split(separator: "|").contains { error?.reason.contains($0) == true }, "\(error?.reason ?? "")")
        #expect(error?.response != nil && error?.request != nil)
        if response.contains(" 200 ") { #expect(error.map { String(decoding: $0.body, as: UTF8.self) } == "no") }
    }

    @Test func `a handshake that breaks off is a lost connection, and one without an end a timeout`() async throws {
        let half = "HTTP/1.1 101 Switching Protocols\r\nUpgr"
        let server = try ScriptedServer { number in
            [.readRequest, .send(half), number == 0 ? .close : .readToEnd]
        }
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)", configuration: .lasting)
        let lost = await #expect(throws: HTTPError.self) { _ = try await session.webSocket("") }
        #expect(lost?.code == .connectionLost)
        let options = RequestOptions(timeouts: .init(total: .milliseconds(200)))
        let late = await #expect(throws: HTTPError.self) { _ = try await session.webSocket("", options: options) }
        #expect(late?.code == .requestTimedOut)
    }

    @Test func `options and fields that can't be used are refused before anything is sent`() async throws {
        let session = try HTTPSession(baseURL: "ws://127.0.0.1:9/")
        for (fields, options) in [
            ([.connection: "close"], .init()), ([.upgrade: "h2c"], .init()), ([:], .init(subprotocols: ["a b"])),
            ([:], .init(maximumMessageSize: 0)), ([:], .init(keepAliveInterval: .zero)),
        ] as [(HTTPFields, WebSocketOptions)] {
            let error = await #expect(throws: HTTPError.self) {
                _ = try await session.webSocket("", headers: fields, webSocketOptions: options)
            }
            #expect(error?.code == .invalidConfiguration && error?.processing == .neverSent)
        }
    }

    @Test func `redirects and challenges are followed`() async throws {
        let target = try WebSocketLab { _, _ in }
        let server = try ScriptedServer(always: [
            .readRequest, .response(status: "302 Found", headers: ["Location: ws://127.0.0.1:\(target.server.port)/x"]),
            .readToEnd,
        ])
        let session = try HTTPSession(baseURL: "ws://127.0.0.1:\(server.port)/", configuration: .lasting)
        let socket = try await session.webSocket("")
        await socket.close()
        let keys = [server, target.server].map { $0.connections.first?.requests.first?.field("Sec-WebSocket-Key") }
        #expect(keys[0] != nil && keys[1] != nil && keys[0] != keys[1])
    }

    @Test func `bytes that arrive with the response belong to the WebSocket`() async throws {
        let server = try ScriptedServer(always: [
            .custom { connection in
                let request = try connection.readRequest()
                let head =
                    "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
                    + "\(ServerConnection.accept(request))\r\n\r\n"
                try connection.send(Array(head.utf8) + LabFrame.text("first").bytes + LabFrame.close(1000).bytes)
                while try connection.readFrame().opcode != 8 {}
            }
        ])
        let session = try HTTPSession(baseURL: "ws://127.0.0.1:\(server.port)/", configuration: .lasting)
        let socket = try await session.webSocket("")
        #expect(try await socket.receive() == .text("first"))
        #expect(try await socket.receive() == nil)
    }

    @Test func `a WebSocket takes no place in the pool`() async throws {
        let server = try ScriptedServer(always: [
            .custom { connection in
                let request = try connection.readRequest()
                guard request.head.contains("Upgrade: websocket") else {
                    return try connection.send(Array("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes".utf8))
                }
                let head =
                    "HTTP/1.1 101 S\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
                    + "\(ServerConnection.accept(request))\r\n\r\n"
                try connection.send(Array(head.utf8))
                while try connection.readFrame().opcode != 8 {}
            }
        ])
        var configuration = HTTPConfiguration.lasting
        configuration.maximumConnectionsPerHost = 1
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
        let socket = try await session.webSocket("")
        #expect(try await session.get("").string() == "yes")
        await socket.close()
    }

    // MARK: Messages

    @Test func `large messages are sent in frames, and pongs between them`() async throws {
        // More than fits into the buffers of both sockets: the ping arrives before the last frame is written.
        let message = [UInt8](repeating: 7, count: 8 << 20)
        let frameSize = 64 << 10
        let lab = try WebSocketLab(receiveBuffer: 4096) { connection, frames in
            try connection.readFrame(into: frames)
            try connection.send(.ping("now"))
            var frame = try connection.readFrame(into: frames)
            while frame.opcode != 0 || !frame.isFinal { frame = try connection.readFrame(into: frames) }
        }
        let socket = try await lab.open(.init(maximumFrameSize: frameSize))
        try await socket.send(message)
        await socket.close(.init(rawValue: 4000), reason: String(repeating: "é", count: 100))
        try await lab.server.waitForEnds()
        let frames = lab.frames.value
        #expect(frames.count(where: { $0.opcode == 0 }) == 127)
        #expect(frames.allSatisfy { $0.payload.count <= frameSize })
        #expect(lab.received.first { $0.opcode == 2 }?.payload == message)
        let pong = try #require(frames.firstIndex { $0.opcode == 10 })
        let end = try #require(frames.firstIndex { $0.opcode == 0 && $0.isFinal })
        #expect(pong < end && frames[pong].payload == Array("now".utf8))
        #expect(frames.last?.closeCode == 4000)
        #expect(
            frames.last.map { String(decoding: $0.payload.dropFirst(2), as: UTF8.self) }
                == String(repeating: "é", count: 61)
        )
        #expect(Set(frames.compactMap(\.key)).count > 120)
    }

    @Test func `a slow reader makes the server wait`() async throws {
        let sent = Observed(0)
        let piece = [UInt8](repeating: 1, count: 64 << 10)
        let lab = try WebSocketLab { connection, _ in
            for _ in 0..<256 {
                try connection.send(.init(2, piece))
                sent.update { $0 += 1 }
            }
            try connection.send(.close(1000))
        }
        let socket = try await lab.open()
        // 16 MiB do not fit into the buffers of two sockets and the inbox.
        var last = 0
        try await sent.wait(for: "the first message") { $0 > 0 }
        while sent.value != last {
            last = sent.value
            try await Task.sleep(for: .milliseconds(300))
        }
        #expect(sent.value < 256)
        var count = 0
        for try await message in socket.messages {
            #expect(message == .binary(piece))
            count += 1
        }
        #expect(count == 256)
    }

    @Test func `a connection is read again also if more arrives while its messages are not read`() async throws {
        let lab = try WebSocketLab { connection, frames in
            try connection.readFrame(into: frames)
            try connection.send(.text("late"))
        }
        let socket = try await lab.open()
        let connection = socket.connection
        let receive: @Sendable (LabFrame) async throws -> Void = { frame in
            try await connection.loop.submit { connection.receive(ByteBuffer(bytes: frame.bytes)) }.get()
        }
        // Five are more than the inbox takes; with three, it is not full, and has no room yet.
        for _ in 0..<5 { try await receive(.init(2, [UInt8](repeating: 1, count: 64 << 10))) }
        for _ in 0..<2 { _ = try await socket.receive() }
        // The channel may pass on what it had read before it was told to stop.
        try await receive(.text("early"))
        for _ in 0..<3 { _ = try await socket.receive() }
        try await socket.send("go")
        #expect(try await socket.receive() == .text("early"))
        #expect(try await socket.receive() == .text("late"))
    }

    @Test func `messages are not sent after the end of a connection whose messages nobody reads`() async throws {
        let piece = [UInt8](repeating: 1, count: 64 << 10)
        let server = try ScriptedServer(always: [
            .custom { connection in
                try connection.acceptWebSocket()
                for _ in 0..<5 { try connection.send(.init(2, piece)) }
            }, .halfClose, .readToEnd,
        ])
        let session = try HTTPSession(baseURL: "ws://127.0.0.1:\(server.port)/", configuration: .lasting)
        var options = WebSocketOptions()
        options.keepAliveInterval = nil
        let socket = try await session.webSocket("", webSocketOptions: options)
        var failure: HTTPError?
        while failure == nil {
            do throws(HTTPError) { try await socket.send("still there?") } catch { failure = error }
        }
        #expect(failure?.code == .connectionLost)
        let error = await #expect(throws: HTTPError.self) { try await socket.ping() }
        #expect(error?.code == .connectionLost && error?.processing == .neverSent)
        var messages = socket.messages.makeAsyncIterator()
        for _ in 0..<5 { #expect(try await messages.next() == .binary(piece)) }
    }

    @Test func `a server that does not read makes the sender wait, and a cancelled message is not sent`() async throws {
        let latch = try ServerLatch()
        let hasBegun = Observed(false)
        let server = try ScriptedServer(
            receiveBuffer: 4096,
            always: [
                .custom { connection in
                    try connection.acceptWebSocket()
                    while try !connection.hasInput { usleep(1000) }
                    hasBegun.update { $0 = true }
                },
                .await(latch),
                .custom { connection in
                    while true {
                        let frame = try connection.readFrame()
                        if frame.opcode == 8 { return }
                        #expect(frame.payload.first == 1)
                    }
                },
            ]
        )
        let session = try HTTPSession(baseURL: "ws://127.0.0.1:\(server.port)/", configuration: .lasting)
        let socket = try await session.webSocket("", webSocketOptions: .init(keepAliveInterval: nil))
        let large = Task { try await socket.send([UInt8](repeating: 1, count: 12 << 20)) }
        try await hasBegun.wait(for: "the first bytes of the large message") { $0 }
        let behind = Task { try await socket.send([UInt8](repeating: 2, count: 10)) }
        try await Task.sleep(for: .milliseconds(200))
        behind.cancel()
        await #expect(throws: HTTPError.self) { try await behind.value }
        latch.open()
        try await large.value
        await socket.close()
    }

    @Test func `cancelling a read or a ping leaves the WebSocket open`() async throws {
        let lab = try WebSocketLab { connection, frames in
            while try connection.readFrame(into: frames).opcode != 1 {}
            try connection.send(.text("yes"))
        }
        let socket = try await lab.open()
        let read = Task { try await socket.receive() }
        let ping = Task { try await socket.ping() }
        try await lab.frames.wait(for: "the ping") { !$0.isEmpty }
        for task in [Task { _ = try await read.value }, Task { _ = try await ping.value }] {
            read.cancel()
            ping.cancel()
            let error = await #expect(throws: HTTPError.self) { try await task.value }
            #expect(error?.code == .cancelled)
        }
        try await socket.send("still there?")
        #expect(try await socket.receive() == .text("yes"))
        await socket.close()
    }

    // MARK: Pings

    @Test func `a ping measures the round trip`() async throws {
        let lab = try WebSocketLab { connection, frames in
            for _ in 0..<2 {
                let ping = try connection.readFrame(into: frames)
                try connection.send(.init(10, ping.payload))
            }
        }
        let socket = try await lab.open()
        #expect(try await socket.ping() > .zero)
        #expect(try await socket.ping() > .zero)
        #expect(lab.received.map(\.opcode) == [9, 9])
        await socket.close()
        let error = await #expect(throws: HTTPError.self) { try await socket.ping() }
        #expect(error?.code == .webSocketClosed)
    }

    @Test func `a connection whose other end is silent is given up, one with pongs is not`() async throws {
        let lab = try WebSocketLab { connection, frames in
            for _ in 0..<3 {
                let ping = try connection.readFrame(into: frames)
                try connection.send(.init(10, ping.payload))
            }
            while true { try connection.readFrame(into: frames) }
        }
        let options = WebSocketOptions(keepAliveInterval: .milliseconds(20), keepAliveTimeout: .seconds(20))
        let socket = try await lab.session.webSocket("", webSocketOptions: options)
        let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
        #expect(error?.code == .connectionLost && error?.reason.contains("ping") == true)
        #expect(lab.received.count(where: { $0.opcode == 9 }) >= 4)
        #expect(socket.closure?.code == .abnormal)
    }

    @Test func `a pong that arrived while the process was stopped keeps the connection`() async throws {
        try await LabLoops.run { loops in
            let pongCount = Observed(0)
            let server = try ScriptedServer(
                in: loops.lab,
                always: [
                    .custom { connection in
                        try connection.acceptWebSocket()
                        while true {
                            let frame = try connection.readFrame()
                            guard frame.opcode == 9 else { continue }
                            try connection.send(.init(10, frame.payload), .text("here"))
                            pongCount.update { $0 += 1 }
                        }
                    }
                ]
            )
            let session = try Self.session(with: server, on: loops)
            let options = WebSocketOptions(keepAliveInterval: .seconds(3), keepAliveTimeout: .seconds(3))
            let socket = try await session.webSocket("", webSocketOptions: options)
            let connection = socket.connection
            try await loops.loop.submit {
                let count = pongCount.value
                connection.ping(for: WebSocketCall()) { _ in }
                stopThread(for: .milliseconds(6_400)) { pongCount.value > count }
            }.get()
            #expect(try await socket.receive() == .text("here"))
            session.invalidate(.cancellingRequests)
        }
    }

    // MARK: Closing

    @Test func `a Close frame that arrived while the process was stopped is returned`() async throws {
        try await LabLoops.run { loops in
            let isClosed = Observed(false)
            let server = try ScriptedServer(
                in: loops.lab,
                always: [
                    .custom { connection in
                        try connection.acceptWebSocket()
                        while try connection.readFrame().opcode != 8 {}
                        try connection.send(.close(1000, "done"))
                        isClosed.update { $0 = true }
                    }
                ]
            )
            let session = try Self.session(with: server, on: loops)
            let options = WebSocketOptions(keepAliveInterval: nil, closeTimeout: .milliseconds(500))
            let socket = try await session.webSocket("", webSocketOptions: options)
            let connection = socket.connection
            let end = Observed<WebSocketClosure?>(nil)
            try await loops.loop.submit {
                connection.close(.init(.normal)) { closure in end.update { $0 = closure } }
                stopThread(for: .milliseconds(900)) { isClosed.value }
            }.get()
            let closure = try await end.wait(for: "the end of the WebSocket") { $0 != nil }
            #expect(closure == WebSocketClosure(.normal, reason: "done"))
            session.invalidate()
        }
    }

    /// Makes a session on an event loop that no other test uses, so that its thread can be stopped.
    private static func session(with server: ScriptedServer, on loops: LabLoops) throws -> HTTPSession {
        try HTTPSession(baseURL: "ws://127.0.0.1:\(server.port)/", .lasting, loop: loops.loop, NameResolver())
    }

    @Test(arguments: [1000, 1001, 1011, 4001])
    func `the server's code and reason are known after the end`(code: UInt16) async throws {
        let lab = try WebSocketLab { connection, _ in try connection.send(.text("last"), .close(code, "because")) }
        let socket = try await lab.open()
        #expect(try await socket.receive() == .text("last"))
        if code <= 1001 {
            #expect(try await socket.receive() == nil)
        } else {
            let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
            #expect(error?.code == .webSocketClosed && error?.reason.contains("\(code), 'because'") == true)
        }
        #expect(socket.closure == .init(.init(rawValue: code), reason: "because"))
        #expect(await socket.close() == .init(.init(rawValue: code), reason: "because"))
        let error = await #expect(throws: HTTPError.self) { try await socket.send("more") }
        #expect(error?.code == .webSocketClosed && error?.processing == .neverSent)
    }

    @Test func `a server that does not respond to the Close frame is waited for up to the limit`() async throws {
        let server = try ScriptedServer(always: [.custom { try $0.acceptWebSocket() }, .readToEnd])
        let session = try HTTPSession(baseURL: "ws://127.0.0.1:\(server.port)/", configuration: .lasting)
        let socket = try await session.webSocket("", webSocketOptions: .init(closeTimeout: .milliseconds(50)))
        #expect(await socket.close().code == .abnormal)
        #expect(try await socket.receive() == nil)
        try await server.waitForEnds()
    }

    @Test func `a WebSocket that is released is closed`() async throws {
        let lab = try WebSocketLab { _, _ in }
        _ = try await lab.open()
        try await lab.server.waitForEnds()
        #expect(lab.received == [.close(1001)])
    }

    @Test func `invalidating the session cancels its WebSockets, or waits for them`() async throws {
        let lab = try WebSocketLab { connection, frames in try connection.send(.text("hello")) }
        let socket = try await lab.open()
        lab.session.invalidate(.finishingRequests)
        #expect(try await socket.receive() == .text("hello"))
        lab.session.invalidate(.cancellingRequests)
        let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
        #expect(error?.code == .cancelled)
        try await lab.server.waitForEnds()
    }

    @Test func `every connection that ends at random ends the messages and the request`() async throws {
        let server = try ScriptedServer { number in
            [
                .custom { connection in
                    try connection.acceptWebSocket()
                    for index in 0..<(number % 7) { try connection.send(.text("\(index)")) }
                    if number % 5 == 3 { try connection.send([0x81, 0x7E, 0x01]) }
                    if number % 5 == 4 { try connection.send(Array(LabFrame.text("incomplete").bytes.dropLast(3))) }
                },
                number.isMultiple(of: 2) ? .reset : .close,
            ]
        }
        let session = try HTTPSession(baseURL: "ws://127.0.0.1:\(server.port)/", configuration: .lasting)
        for number in 0..<50 {
            var received: [WebSocketMessage] = []
            do throws(HTTPError) {
                let socket = try await session.webSocket("")
                for try await message in socket.messages { received.append(message) }
                Issue.record("connection \(number) ended in order")
            } catch {
                #expect(error.code == .connectionLost || error.code == .bodyTruncated, "\(error)")
            }
            // A reset may discard what was not read yet.
            let expected = (0..<(number % 7)).map { WebSocketMessage.text("\($0)") }
            if number.isMultiple(of: 2) {
                #expect(expected.starts(with: received))
            } else {
                #expect(received == expected)
            }
        }
        #expect(session.requests.isEmpty)
    }

    // MARK: Hostile servers

    @Test func `a frame that announces 100 MiB is refused by its header`() async throws {
        let lab = try WebSocketLab { connection, frames in
            try connection.send([0x82, 127, 0, 0, 0, 0, 0x06, 0x40, 0, 0])
        }
        let socket = try await lab.open()
        let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
        #expect(error?.code == .webSocketFailed && error?.reason.contains("larger than 16777216 bytes") == true)
        try await lab.server.waitForEnds()
        #expect(lab.received == [.close(1009)])
    }

    @Test func `a masked frame is refused`() async throws {
        let lab = try WebSocketLab { connection, _ in try connection.send(.init(1, [0x61], key: [1, 2, 3, 4])) }
        let socket = try await lab.open()
        let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
        #expect(error?.code == .webSocketFailed && error?.reason.contains("masked") == true)
        try await lab.server.waitForEnds()
        #expect(lab.received == [.close(1002)])
    }

    @Test func `a server that sends pings and reads nothing gets only few pongs`() async throws {
        let flood = LabFrame(9, [UInt8](repeating: 1, count: 125)).bytes
        let piece = (0..<500).flatMap { _ in flood }
        let server = try ScriptedServer(
            receiveBuffer: 4096,
            always: [
                .custom { connection in
                    try connection.acceptWebSocket()
                    for _ in 0..<1000 { try connection.send(piece) }
                },
                .sendBytes(LabFrame.text("end").bytes), .readToEnd,
            ]
        )
        let session = try HTTPSession(baseURL: "ws://127.0.0.1:\(server.port)/", configuration: .lasting)
        let socket = try await session.webSocket("")
        #expect(try await socket.receive() == .text("end"))
        // The rest was in the buffers of the kernel.
        #expect(server.received.count < 500_000 * 131 / 2)
    }
}
