import HTTPLab
import NIOCore
import NetworkClientCore
import Testing

@testable import NetworkClient

/// WebSockets of Python's `websockets`, with compression, TLS and proxies.
@Suite(.timeLimit(.minutes(5)), .enabled(if: PythonWebSockets.isInstalled, "\(PythonWebSockets.advice)"))
struct WebSocketServerTests {
    /// Messages that repeat themselves and each other, and some that can't be compressed.
    private static func messages() -> [WebSocketMessage] {
        var generator = SystemRandomNumberGenerator()
        let words = String(repeating: "the quick brown fox jumps over the lazy dog µ€😀 ", count: 20)
        return [
            .text(""), .binary([]), .text("x"), .text(words), .text(words), .binary(Array(words.utf8)),
            .binary((0..<100_000).map { _ in .random(in: .min ... .max, using: &generator) }),
            .binary([UInt8](repeating: 0, count: 2_000_000)), .text(words),
            .text(String(repeating: "é", count: 70_000)),
        ]
    }

    private func exchange(_ socket: WebSocket) async throws {
        for message in Self.messages() {
            try await socket.send(message)
            #expect(try await socket.receive() == message)
        }
        #expect(try await socket.ping() > .zero)
        #expect(await socket.close() == .init(.normal))
        #expect(try await socket.receive() == nil)
    }

    @Test func `messages return as they were sent`() async throws {
        let server = try PythonWebSockets()
        let session = try HTTPSession(baseURL: server.url, configuration: .lasting)
        let options = WebSocketOptions(
            subprotocols: ["other", "chat"],
            maximumFrameSize: 1000,
            closeTimeout: .seconds(300)
        )
        let socket = try await session.webSocket("", webSocketOptions: options)
        #expect(socket.subprotocol == "chat" && !socket.isCompressed)
        try await exchange(socket)
    }

    @Test(
        arguments: [
            ("", WebSocketCompression()),
            ("server_no_context_takeover=True", .init()), ("client_no_context_takeover=True", .init()),
            ("server_no_context_takeover=True, client_no_context_takeover=True", .init(minimumSize: 0)),
            ("", .init(clientContextTakeover: false, serverContextTakeover: false)),
            ("server_max_window_bits=9, client_max_window_bits=9", .init()),
            ("client_max_window_bits=10", .init(clientWindowBits: 9, serverWindowBits: 11, minimumSize: 0)),
            ("client_max_window_bits=8", .init()),
        ] as [(String, WebSocketCompression)]
    )
    func `compressed messages return as they were sent`(server: String, offer: WebSocketCompression) async throws {
        let server = try PythonWebSockets(compression: "ServerPerMessageDeflateFactory(\(server))")
        let session = try HTTPSession(baseURL: server.url, configuration: .lasting)
        for frameSize in [1 << 20, 100] {
            let options = WebSocketOptions(compression: offer, maximumFrameSize: frameSize, closeTimeout: .seconds(300))
            let socket = try await session.webSocket("", webSocketOptions: options)
            #expect(socket.isCompressed)
            try await exchange(socket)
        }
    }

    @Test func `a server without compression declines it`() async throws {
        let server = try PythonWebSockets()
        let session = try HTTPSession(baseURL: server.url, configuration: .lasting)
        let options = WebSocketOptions(compression: .init(), closeTimeout: .seconds(300))
        let socket = try await session.webSocket("", webSocketOptions: options)
        #expect(!socket.isCompressed)
        try await exchange(socket)
    }

    @Test func `the server's code is known`() async throws {
        let server = try PythonWebSockets()
        let session = try HTTPSession(baseURL: server.url, configuration: .lasting)
        let socket = try await session.webSocket("close/3456")
        await #expect(throws: HTTPError.self) { try await socket.receive() }
        #expect(socket.closure == .init(.init(rawValue: 3456), reason: "as asked"))
    }

    @Test func `a WebSocket over TLS is trusted like a request, and compressed`() async throws {
        let (authority, other) = (try CertificateAuthority(), try CertificateAuthority("Other"))
        let identity = try authority.issue()
        let server = try PythonWebSockets(
            compression: "ServerPerMessageDeflateFactory()",
            identity: (identity.chainPEM, identity.own.keyPEM)
        )
        var configuration = HTTPConfiguration.lasting
        configuration.tls = try .trusting(authority)
        let session = try HTTPSession(baseURL: server.url, configuration: configuration)
        let options = WebSocketOptions(compression: .init(), closeTimeout: .seconds(300))
        try await exchange(try await session.webSocket("", webSocketOptions: options))
        configuration.tls = try .trusting(other)
        let stranger = try HTTPSession(baseURL: server.url, configuration: configuration)
        let error = await #expect(throws: HTTPError.self) { _ = try await stranger.webSocket("") }
        #expect(error?.code == .certificateUntrusted)
    }

    @Test func `an HTTP proxy opens a tunnel, even without TLS`() async throws {
        let server = try PythonWebSockets()
        let proxy = try ScriptedServer(always: [
            .readHead, .send("HTTP/1.1 200 Connection established\r\n\r\n"), .relay(toPort: server.port, cutAfter: nil),
        ])
        var configuration = HTTPConfiguration.lasting
        configuration.proxy = .all(try ProxyServer("http://127.0.0.1:\(proxy.port)"))
        let session = try HTTPSession(baseURL: server.url, configuration: configuration)
        try await exchange(try await session.webSocket("", webSocketOptions: .init(closeTimeout: .seconds(300))))
        #expect(
            proxy.connections.map { $0.requests.first?.head.hasPrefix("CONNECT 127.0.0.1:\(server.port) ") } == [true]
        )
    }

    @Test func `a SOCKS proxy connects to the server`() async throws {
        let server = try PythonWebSockets()
        let proxy = try ScriptedServer(always: [
            .readBytes(3), .sendBytes([5, 0]), .readBytes(10), .sendBytes([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]),
            .relay(toPort: server.port, cutAfter: nil),
        ])
        var configuration = HTTPConfiguration.lasting
        configuration.proxy = .all(try ProxyServer("socks5h://127.0.0.1:\(proxy.port)"))
        let session = try HTTPSession(baseURL: server.url, configuration: configuration)
        try await exchange(try await session.webSocket("", webSocketOptions: .init(closeTimeout: .seconds(300))))
        #expect(proxy.connections.count == 1)
    }
}

/// Compressed messages of scripted servers.
@Suite(.timeLimit(.minutes(5)))
struct WebSocketCompressionTests {
    private static let agreed = ["Sec-WebSocket-Extensions: permessage-deflate"]
    private static let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]

    /// The examples of RFC 7692, 7.2.3: each is one or two messages "Hello".
    @Test(
        arguments: [
            ("one block", [LabFrame(1, hello, reserved: 4)], 1),
            (
                "fragments",
                [LabFrame(1, Array(hello[..<3]), isFinal: false, reserved: 4), .init(0, Array(hello[3...]))], 1
            ),
            (
                "a shared window",
                [.init(1, hello, reserved: 4), .init(1, [0xF2, 0x00, 0x11, 0x00, 0x00], reserved: 4)], 2
            ),
            ("no compression", [.init(1, [0, 5, 0, 0xFA, 0xFF] + Array("Hello".utf8) + [0], reserved: 4)], 1),
            ("a final block", [.init(1, [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00], reserved: 4)], 1),
            (
                "a window across a final block",
                [
                    .init(1, [0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00], reserved: 4),
                    .init(1, [0xF2, 0x00, 0x11, 0x00, 0x00], reserved: 4),
                ], 2
            ),
            (
                "two blocks",
                [
                    .init(
                        1,
                        [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00],
                        reserved: 4
                    )
                ], 1
            ),
            ("an uncompressed message", [.init(1, hello, reserved: 4), .text("Hello")], 2),
        ] as [(String, [LabFrame], Int)]
    )
    func `the examples of the specification are read`(name: String, frames: [LabFrame], count: Int) async throws {
        for size in [1, 1000] {
            let lab = try WebSocketLab(Self.agreed) { connection, _ in
                let bytes = frames.flatMap(\.bytes)
                for start in stride(from: 0, to: bytes.count, by: size) {
                    try connection.send(Array(bytes[start..<min(start + size, bytes.count)]))
                }
            }
            let socket = try await lab.open(.init(compression: .init()))
            for _ in 0..<count { #expect(try await socket.receive() == .text("Hello"), "\(name)") }
            await socket.close()
        }
    }

    @Test func `data that can't be decompressed, and invalid text, close the WebSocket`() async throws {
        for (payload, code) in [
            ([0xFF, 0xFF, 0xFF], 1002), ([0x00, 1, 0, 0xFE, 0xFF, 0xFF, 0x00], 1007),
        ] as [([UInt8], UInt16)] {
            let lab = try WebSocketLab(Self.agreed) { connection, _ in
                try connection.send(.init(1, payload, reserved: 4))
            }
            let socket = try await lab.open(.init(compression: .init()))
            let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
            #expect(error?.code == .webSocketFailed)
            try await lab.server.waitForEnds()
            #expect(lab.received == [.close(code)])
        }
    }

    @Test func `a bomb of 1 GiB is refused at the limit`() async throws {
        // A thousand times the same: each MiB is about a KiB.
        let deflater = try #require(MessageDeflater(.init()))
        let pieces = (0..<1024).map { _ in
            Array(deflater.deflate(.init(repeating: 0, count: 1 << 20)).readableBytesView) + [0, 0, 0xFF, 0xFF]
        }
        let bomb = pieces.flatMap(\.self)
        #expect(bomb.count < 4 << 20)
        let lab = try WebSocketLab(Self.agreed) { connection, _ in
            try? connection.send(.init(2, bomb, reserved: 4))
        }
        let socket = try await lab.open(.init(compression: .init(), maximumMessageSize: 1 << 20))
        let error = await #expect(throws: HTTPError.self) { try await socket.receive() }
        #expect(error?.code == .webSocketFailed && error?.reason.contains("larger than 1048576 bytes") == true)
        try await lab.server.waitForEnds()
        #expect(lab.received == [.close(1009)])
    }
}
