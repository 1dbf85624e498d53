import HTTPLab
import NIOCore
import NetworkClientCore
import NetworkLab
import Testing

@testable import NetworkClient

/// Servers that violate HTTP/2.
@Suite(.timeLimit(.minutes(5)))
struct HTTP2MisbehaviourTests {
    @Test(arguments: HTTP2Misbehaviour.all)
    func `a server that violates HTTP/2 fails its request only`(_ misbehaviour: HTTP2Misbehaviour) async throws {
        let server = try ScriptedServer { number in
            [
                .custom { connection in
                    let peer = try HTTP2Peer(connection)
                    if number == 0 { try misbehaviour.action(peer, peer.readRequest()) }
                    try peer.respondToAll()
                }
            ]
        }
        var configuration = try HTTPConfiguration.http2()
        configuration.maximumHeadSize = 8192
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
        let request = session.post("first", body: .bytes([1]))
        do {
            let response = try await request.response()
            #expect(misbehaviour.code == nil)
            #expect(response.bytes == Array("ok".utf8))
        } catch {
            #expect(error.code == misbehaviour.code, "\(error)")
            #expect(error.processing == misbehaviour.processing, "\(error)")
            #expect(error.reason.contains(misbehaviour.reason), "\(error)")
        }
        let core = session.core
        // A flood goes on after the response until the client has closed the connection.
        while misbehaviour.testDescription.hasPrefix("a flood"),
            try await core.loop.submit({ core.pools.connectionCount }).get() > 0
        {
            try await Task.sleep(for: .milliseconds(2))
        }
        // The session goes on, with this connection or another one.
        #expect(try await session.get("second").bytes() == Array("ok".utf8))
        #expect(session.requests.isEmpty)
        #expect(try await core.loop.submit { core.pools.connectionCount }.get() <= 2)
        session.invalidate()
    }

    @Test func `a server that speaks HTTP/1.1 is no server of HTTP/2`() async throws {
        let server = try ScriptedServer(always: [.response("no", status: "400 Bad Request"), .readToEnd])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .http2())
        let error = await #expect(throws: HTTPError.self) { try await session.get("").response() }
        #expect(error?.code == .invalidResponse)
        #expect(session.requests.isEmpty)
    }

    @Test func `a refused request whose body can't be repeated was not processed`() async throws {
        let server = try ScriptedServer(always: [
            .custom { connection in
                let peer = try HTTP2Peer(connection)
                try peer.send(.reset(7, on: peer.readRequest()))
                try peer.respondToAll()
            }
        ])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .http2())
        let body = AsyncStream<ByteBuffer> { stream in
            stream.yield(ByteBuffer(bytes: [1]))
            stream.finish()
        }
        let error = await #expect(throws: HTTPError.self) {
            try await session.upload("", from: .once(body)).response()
        }
        #expect(error?.code == .connectionLost)
        #expect(error?.processing == .refusedUnprocessed)
        session.invalidate()
    }

    @Test func `a server that requires HTTP/1.1 gets it`() async throws {
        let server = try ScriptedServer { number in
            guard number == 0 else { return [.forever([.readRequest, .response("old")])] }
            return [
                .custom { connection in
                    let peer = try HTTP2Peer(connection)
                    try peer.send(.reset(13, on: peer.readRequest()))
                },
                .readToEnd,
            ]
        }
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .http2())
        for _ in 0..<3 {
            let response = try await session.get("").response()
            #expect(response.metrics.version == "HTTP/1.1")
            #expect(response.bytes == Array("old".utf8))
        }
    }

    @Test func `streams are limited by changes of the settings under way`() async throws {
        let most = Observed(0)
        let server = try ScriptedServer(always: [
            .custom { connection in
                let peer = try HTTP2Peer(connection, settings: [(3, 4)])
                var open: [UInt32] = []
                for turn in 0..<200 {
                    open.append(try peer.readRequest())
                    while try peer.hasInput {
                        let frame = try peer.readFrame()
                        if frame.kind == LabHTTP2Frame.Kind.headers { open.append(frame.stream) }
                    }
                    if turn > 4 { most.update { [count = open.count] in $0 = max($0, count) } }
                    if turn % 7 == 0 { try peer.send(.settings([(3, UInt32(1 + turn % 4))])) }
                    for stream in open { try peer.respond(on: stream) }
                    open = []
                }
                try peer.respondToAll()
            }
        ])
        var configuration = try HTTPConfiguration.http2()
        configuration.maximumConnectionsPerHost = 1
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
        #expect(try await session.get("").bytes() == Array("ok".utf8))
        let requests = (0..<300).map { _ in session.get("") }
        for request in requests { #expect(try await request.bytes() == Array("ok".utf8)) }
        #expect(most.value <= 4)
        #expect(session.requests.isEmpty)
    }

    @Test func `the window of a stream is returned as its reader takes the bytes`() async throws {
        let sent = Observed(0)
        let server = try ScriptedServer(always: [
            .custom { connection in
                let peer = try HTTP2Peer(connection)
                let stream = try peer.readRequest()
                try peer.send(.headers([(":status", "200")], on: stream))
                let piece = [UInt8](repeating: 1, count: 16_384)
                // As much as the window allows: 4 MiB.
                for _ in 0..<256 { try peer.send(.data(piece, on: stream)) }
                sent.update { $0 = 256 }
                _ = try peer.readFrame { $0.kind == LabHTTP2Frame.Kind.windowUpdate && $0.stream == stream }
                sent.update { $0 += 1 }
                try peer.send(.data([], on: stream, ends: true))
                try peer.respondToAll()
            }
        ])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .http2())
        let stream = try await session.stream(.get, "").response()
        try await sent.wait(for: "the window to be full") { $0 == 256 }
        // Another request is not delayed, and nothing was returned for the first stream meanwhile.
        #expect(sent.value == 256)
        var count = 0
        for try await piece in stream.body { count += piece.readableBytes }
        #expect(count == 256 * 16_384)
        #expect(sent.value == 257)
    }

    @Test func `after a timeout, requests use another connection, and a silent one is closed`() async throws {
        let server = try ScriptedServer { number in
            [
                .custom { connection in
                    let peer = try HTTP2Peer(connection)
                    guard number == 0 else { return try peer.respondToAll() }
                    try peer.respond(on: peer.readRequest())
                    try connection.perform(.hold)
                }
            ]
        }
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .http2())
        #expect(try await session.get("first").bytes() == Array("ok".utf8))
        let waiting = session.get("waiting")
        var short = Timeouts.lasting
        short.firstByte = .milliseconds(100)
        let error = await #expect(throws: HTTPError.self) {
            try await session.get("", options: .init(timeouts: short)).response()
        }
        #expect(error?.code == .firstByteTimedOut)
        short.firstByte = .seconds(60)
        let options = RequestOptions(timeouts: short)
        #expect(try await session.get("next", options: options).bytes() == Array("ok".utf8))
        // The silent connection fails its last request, which is sent again.
        #expect(try await waiting.bytes() == Array("ok".utf8))
        #expect(server.connections.count > 1)
        session.invalidate()
    }

    @Test func `after the total time limit, requests leave a connection that has received nothing`() async throws {
        let server = try ScriptedServer { number in
            [
                .custom { connection in
                    let peer = try HTTP2Peer(connection)
                    guard number == 0 else { return try peer.respondToAll() }
                    try peer.respond(on: peer.readRequest())
                    try connection.perform(.hold)
                }
            ]
        }
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .http2())
        #expect(try await session.get("first").bytes() == Array("ok".utf8))
        var limits = Timeouts.lasting
        limits.total = .seconds(2)
        let error = await #expect(throws: HTTPError.self) {
            try await session.get("", options: .init(timeouts: limits)).response()
        }
        #expect(error?.code == .requestTimedOut)
        limits.total = .seconds(60)
        let options = RequestOptions(timeouts: limits)
        #expect(try await session.get("next", options: options).bytes() == Array("ok".utf8))
        #expect(server.connections.count == 2)
        session.invalidate()
    }

    @Test func `after a cancellation, requests leave a connection that has received nothing`() async throws {
        let isSent = Observed(false)
        let server = try ScriptedServer { number in
            [
                .custom { connection in
                    let peer = try HTTP2Peer(connection)
                    guard number == 0 else { return try peer.respondToAll() }
                    try peer.respond(on: peer.readRequest())
                    _ = try peer.readRequest()
                    isSent.update { $0 = true }
                    try connection.perform(.hold)
                }
            ]
        }
        var configuration = try HTTPConfiguration.http2()
        configuration.fixedLimits.silenceBeforeCancellation = .zero
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
        #expect(try await session.get("first").bytes() == Array("ok".utf8))
        let request = session.get("")
        try await isSent.wait(for: "the request") { $0 }
        request.cancel()
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .cancelled)
        var limits = Timeouts.lasting
        limits.firstByte = .seconds(60)
        let options = RequestOptions(timeouts: limits)
        #expect(try await session.get("next", options: options).bytes() == Array("ok".utf8))
        #expect(server.connections.count == 2)
        session.invalidate()
    }

    @Test func `a download that is paused after it has stalled continues on another connection`() async throws {
        let lab = try DownloadLab()
        let server = try ScriptedServer { number in
            [
                .custom { connection in
                    let peer = try HTTP2Peer(connection)
                    let stream = try peer.readRequest()
                    let fields = [("etag", "\"a\""), ("content-length", number == 0 ? "8" : "4")]
                    guard number == 0 else {
                        let part = [(":status", "206"), ("content-range", "bytes 4-7/8")]
                        try peer.send(
                            .headers(part + fields, on: stream),
                            .data(Array("rest".utf8), on: stream, ends: true)
                        )
                        return try peer.close()
                    }
                    try peer.send(
                        .headers([(":status", "200")] + fields, on: stream),
                        .data(Array("part".utf8), on: stream)
                    )
                    try connection.perform(.hold)
                }
            ]
        }
        var configuration = try HTTPConfiguration.http2()
        configuration.fixedLimits.silenceBeforeCancellation = .zero
        var limits = Timeouts.lasting
        limits.firstByte = .seconds(60)
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
        var options = DownloadOptions()
        options.request.timeouts = limits
        options.request.startsAtOnce = false
        let request = session.download("", to: lab.path, options: options)
        let progress = request.progress
        request.resume()
        for await state in progress where state.received == 4 { break }
        request.pause()
        request.resume()
        #expect(try await request.response().file.isResumed)
        #expect(lab.file == Array("partrest".utf8))
        #expect(server.connections.count == 2)
        session.invalidate()
    }
}
