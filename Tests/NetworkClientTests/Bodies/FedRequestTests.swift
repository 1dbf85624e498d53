import HTTPLab
import NIOCore
import Testing

@testable import NetworkClient

/// Requests whose bodies are read while they are sent.
@Suite(.timeLimit(.minutes(5)))
struct FedRequestTests {
    private static func session(_ server: ScriptedServer, _ retry: RetryPolicy = .never) throws -> HTTPSession {
        try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, retry: retry)
        )
    }

    private static func lines(_ count: Int) -> @Sendable (Int) -> ByteBuffer? {
        { $0 < count ? ByteBuffer(string: "line \($0)\n") : nil }
    }

    private static func text(_ count: Int) -> String { (0..<count).map { "line \($0)\n" }.joined() }

    @Test(arguments: [0, 1, 20_000]) func `a body of known length arrives whole`(count: Int) async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("yes")])
        let record = NotedFeed.Record()
        let text = Self.text(count)
        let body = NotedFeed.body(length: Int64(text.utf8.count), record: record, Self.lines(count))
        #expect(try await Self.session(server).put("", body: body).string() == "yes")
        let request = try #require(server.connections.first?.requests.first)
        #expect(String(decoding: request.body, as: UTF8.self) == text)
        #expect(request.head.contains("\r\nContent-Length: \(text.utf8.count)\r\n"))
        #expect(record.closed == 1)
    }

    @Test(arguments: [0, 1, 20_000]) func `a body of unknown length arrives in chunks`(count: Int) async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("yes")])])
        let session = try Self.session(server)
        let body = NotedFeed.body(length: nil, Self.lines(count))
        #expect(try await session.post("", body: body).string() == "yes")
        #expect(try await session.get("").string() == "yes")
        let request = try #require(server.connections.first?.requests.first)
        #expect(String(decoding: request.body, as: UTF8.self) == Self.text(count))
        #expect(request.head.contains("\r\nTransfer-Encoding: chunked\r\n"))
        #expect(server.connections.count == 1)
    }

    @Test func `a refused request stops sending`() async throws {
        let server = try ScriptedServer(always: [.readHead, .response("no", status: "413 Too Large"), .readToEnd])
        let record = NotedFeed.Record()
        let piece = ByteBuffer(repeating: 7, count: 10_000)
        let body = NotedFeed.body(length: 1 << 40, record: record) { _ in piece }
        let response = try await Self.session(server).put("", body: body).response()
        #expect(response.status == 413)
        #expect(record.closed == 1)
    }

    @Test func `a body that can't be read fails its request, and nothing more is sent`() async throws {
        let server = try ScriptedServer(always: [.readToEnd])
        let record = NotedFeed.Record()
        let body = NotedFeed.body(length: 100, record: record) { number in
            if number == 1 { throw NotedFeed.Refusal() }
            return ByteBuffer(string: "some")
        }
        let session = try Self.session(server)
        let error = await #expect(throws: HTTPError.self) { try await session.put("", body: body).response() }
        #expect(error?.code == .bodyUnavailable)
        #expect(error?.processing == .maybeProcessed)
        #expect(error?.cause is NotedFeed.Refusal)
        #expect(record.closed == 1)
    }

    @Test func `a sequence that fails while the request waits for 100 Continue is not an empty body`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("yes")])
        let session = try Self.session(server)
        let body = RequestBody.replayable { () async throws -> WatchedSequence in throw NotedFeed.Refusal() }
        let request = session.put("", body: body, options: .init(expectsContinue: true))
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .bodyUnavailable)
        #expect(error?.cause is NotedFeed.Refusal)
        try await server.waitForEnds()
        #expect(server.connections.first?.text.hasSuffix("\r\n\r\n") == true)
        #expect(server.connections.first?.text.hasSuffix("\r\n0\r\n\r\n") == false)
    }

    @Test func `a body that can't be opened keeps the connection usable`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("yes")])])
        let session = try Self.session(server, .init(maximumAttempts: 3, baseDelay: .zero))
        let source = BodySource(length: 1, isReplayable: true) { _ throws(HTTPError) in
            throw .init(.bodyUnavailable, processing: .neverSent, reason: "there is none")
        }
        #expect(try await session.get("").string() == "yes")
        let request = session.put("", body: .init(content: .success(.init(makeSource: { source }))))
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .bodyUnavailable)
        #expect(error?.processing == .neverSent)
        #expect(try await session.get("").string() == "yes")
        #expect(server.connections.count == 1)
    }

    @Test(arguments: [true, false]) func `only a replayable body is resent`(isReplayable: Bool) async throws {
        let server = try ScriptedServer { number in
            number == 0 ? [.readRequest, .reset] : [.readRequest, .response("yes")]
        }
        let session = try Self.session(server, .init(maximumAttempts: 3, baseDelay: .milliseconds(1)))
        let body = NotedFeed.body(length: nil, isReplayable: isReplayable, Self.lines(3))
        let result = try? await session.put("", body: body).string()
        #expect(result == (isReplayable ? "yes" : nil))
        #expect(server.connections.count == (isReplayable ? 2 : 1))
        #expect(server.connections.last?.requests.first?.body == Array(Self.text(3).utf8))
    }

    @Test func `progress is reported`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("yes")])
        let length = Int64(Self.text(20).utf8.count)
        let body = NotedFeed.body(length: length, Self.lines(20))
        let request = try Self.session(server).put("", body: body, options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        var last = 0
        for await case .sending(let count, of: length) in events {
            #expect(count > last)
            last = count
        }
        #expect(Int64(last) == length)
    }

    @Test func `a cancelled request stops reading the body`() async throws {
        let server = try ScriptedServer(always: [.readHead, .hold])
        let record = NotedFeed.Record()
        let body = NotedFeed.body(length: 1 << 40, record: record) { _ in ByteBuffer(repeating: 7, count: 10_000) }
        let request = try Self.session(server).put("", body: body)
        try await server.wait(for: "the head") { $0.first?.received.isEmpty == false }
        request.cancel()
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .cancelled)
        #expect(record.closed == 1)
    }
}
