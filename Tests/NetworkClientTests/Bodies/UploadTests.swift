import Glibc
import HTTPLab
import NIOCore
import NetworkClient
import Testing

/// Bodies that are not in memory, sent to real servers.
@Suite(.timeLimit(.minutes(5)))
struct UploadTests {
    private let folder: LabFolder

    init() throws { folder = try LabFolder() }

    private func session(_ server: ScriptedServer, _ configuration: HTTPConfiguration = .lasting) throws -> HTTPSession
    {
        try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
    }

    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) } }

    @Test func `a file is sent with its length and type, and progress is reported up to its length`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response()])
        let path = try folder.write("data.json", bytes(1_000_000))
        let request = try session(server).upload("x", from: .file(path), options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        var progress: [Int] = []
        for await event in events {
            guard case .sending(let count, let total) = event else { continue }
            #expect(total == 1_000_000)
            progress.append(count)
        }
        #expect(progress == progress.sorted() && progress.last == 1_000_000 && progress.count >= 4)
        #expect(try await request.response().metrics.bodyBytesSent == 1_000_000)
        let sent = try #require(server.connections.first?.requests.first)
        #expect(sent.head.hasPrefix("POST /x HTTP/1.1\r\n"))
        #expect(sent.head.contains("Content-Length: 1000000\r\n"))
        #expect(sent.head.contains("Content-Type: application/json\r\n"))
        #expect(sent.body == bytes(1_000_000))
    }

    @Test func `a sequence is sent with its length, or in chunks`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response()])])
        let session = try session(server)
        let pieces: [[UInt8]] = [[], [1, 2], [3], []]
        _ = try await session.upload("a", from: .once(WatchedSequence(pieces), length: 3)).response()
        _ = try await session.upload("b", from: .once(WatchedSequence(pieces))).response()
        let buffers = AsyncStream<ByteBuffer> { stream in
            stream.yield(ByteBuffer(bytes: [4, 5]))
            stream.finish()
        }
        _ = try await session.upload("c", from: .once(buffers, contentType: "a/b")).response()
        let requests = try #require(server.connections.first?.requests)
        #expect(server.connections.count == 1)
        #expect(requests.map(\.body) == [[1, 2, 3], [1, 2, 3], [4, 5]])
        #expect(requests[0].head.contains("Content-Length: 3\r\n"))
        #expect(!requests[0].head.lowercased().contains("transfer-encoding"))
        #expect(requests[1].head.lowercased().contains("transfer-encoding: chunked\r\n"))
        #expect(!requests[1].head.contains("Content-Length"))
        #expect(requests[2].head.contains("Content-Type: a/b\r\n"))
    }

    @Test func `empty bodies are complete`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response()])])
        let session = try session(server)
        _ = try await session.upload("a", from: .once(WatchedSequence([]))).response()
        _ = try await session.upload("b", from: .file(folder.write("empty", ""))).response()
        let requests = try #require(server.connections.first?.requests)
        #expect(requests.map(\.body) == [[], []])
        #expect(requests[1].head.contains("Content-Length: 0\r\n"))
    }

    @Test func `throttled bytes arrive as they are`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response()])
        let body = RequestBody.bytes(bytes(1_000)).throttled(.init(packetSize: 100, delay: .milliseconds(1)))
        _ = try await session(server).upload("a", from: body).response()
        #expect(server.connections.first?.requests.first?.body == bytes(1_000))
        #expect(server.connections.first?.text.contains("Content-Length: 1000\r\n") == true)
    }

    @Test func `an unreadable body is reported before anything is sent`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("fine")])])
        let session = try session(server)
        let missing = await #expect(throws: HTTPError.self) {
            try await session.upload("a", from: .file(folder.path + "/none")).response()
        }
        #expect(missing?.code == .bodyUnavailable && missing?.processing == .neverSent && missing?.errno == ENOENT)
        let form: MultipartForm = [.file(folder.path + "/none", name: "a")]
        let part = await #expect(throws: HTTPError.self) {
            try await session.upload("a", from: .multipart(form)).response()
        }
        #expect(part?.code == .bodyUnavailable)
        let hostile: MultipartForm = [.text("", name: "a", contentType: "text/plain\r\nX-Evil: 1")]
        let type = await #expect(throws: HTTPError.self) {
            try await session.upload("a", from: .multipart(hostile)).response()
        }
        #expect(type?.code == .requestSerializationFailed)
        #expect(server.connections.isEmpty)
        let path = try folder.write("file", "x")
        let request = session.upload("a", from: .file(path), options: .init(startsAtOnce: false))
        #expect(unlink(path) == 0)
        request.resume()
        let gone = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(gone?.code == .bodyUnavailable && gone?.processing == .neverSent && gone?.errno == ENOENT)
        #expect(try await session.get("b").string() == "fine")
        #expect(server.connections.flatMap(\.requests).count == 1)
    }

    @Test func `a file that grows while it is sent never arrives whole`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer(
            receiveBuffer: 65_536,
            always: [.readHead, .await(latch), .discardBody, .response()]
        )
        let path = try folder.write("file", "")
        #expect(truncate(path, 32 << 20) == 0)
        let request = try session(server).upload("a", from: .file(path))
        try await server.wait(for: "the head") { $0.first?.requests.count == 1 }
        #expect(truncate(path, 33 << 20) == 0)
        latch.open()
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .bodyUnavailable && error?.processing == .maybeProcessed)
        #expect(error?.reason.contains("33554432 bytes were promised, and it has 34603008 now") == true)
        try await server.waitForEnds()
        #expect(server.connections.first.map { $0.discarded < 32 << 20 } == true)
    }

    @Test func `an error of the sequence is the cause of the request's error`() async throws {
        struct Broken: Error {}
        let server = try ScriptedServer(always: [.readHead, .readToEnd])
        let sequence = WatchedSequence([[1]], ending: { throw Broken() })
        let error = await #expect(throws: HTTPError.self) {
            try await session(server).upload("a", from: .once(sequence)).response()
        }
        #expect(error?.code == .bodyUnavailable && error?.cause is Broken)
        try await server.waitForEnds()
    }

    @Test func `a transport of the user's gets the whole body`() async throws {
        struct Echo: Transport {
            func send(_ request: TransportRequest) async throws -> TransportResponse {
                .init(head: .init(status: .ok), body: request.body ?? [])
            }
        }
        let session = try HTTPSession(baseURL: "http://example.com", configuration: .init(transport: Echo()))
        let path = try folder.write("file", "contents")
        #expect(try await session.upload("a", from: .file(path)).bytes() == Array("contents".utf8))
        let error = await #expect(throws: HTTPError.self) {
            try await session.upload("a", from: .once(WatchedSequence([[1]]), length: 2)).response()
        }
        #expect(error?.code == .bodyUnavailable && error?.processing == .neverSent)
    }

    @Test(.enabled(if: Nginx.isInstalled, .init(rawValue: Nginx.advice)))
    func `nginx stores the body unchanged, whatever its source`() async throws {
        var options = Nginx.Options()
        options.directives = ["location /put/ { dav_methods PUT; create_full_put_path on; }"]
        let nginx = try Nginx(options)
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(nginx.port)/", configuration: .lasting)
        let contents = bytes(3_000_000)
        let path = try folder.write("file", contents)
        let pieces = stride(from: 0, to: contents.count, by: 100_000).map { Array(contents[$0..<$0 + 100_000]) }
        let bodies: [RequestBody] = [
            .file(path), .once(WatchedSequence(pieces)), .once(WatchedSequence(pieces), length: 3_000_000),
            .replayable { WatchedSequence(pieces) }, .bytes(contents),
        ]
        for (number, body) in bodies.enumerated() {
            let url = "put/\(number)"
            #expect(try await session.upload(url, from: body, method: .put).response().status == 201)
            #expect(try await session.get(url).bytes() == contents)
        }
    }
}
