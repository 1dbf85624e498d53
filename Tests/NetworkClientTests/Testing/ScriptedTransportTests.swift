import NIOCore
import NetworkClient
import NetworkClientTesting
import Testing

/// The scripted transport, as a user's tests see it.
@Suite(.timeLimit(.minutes(5)))
struct ScriptedTransportTests {
    private let transport = ScriptedTransport()

    private func session(_ retry: RetryPolicy = .never, monitors: [any EventMonitor] = []) throws -> HTTPSession {
        try HTTPSession(
            baseURL: "https://api.example.com/v1",
            configuration: .init(timeouts: .lasting, eventMonitors: monitors, transport: transport, retry: retry)
        )
    }

    @Test func `expected requests are answered in any order, and recorded`() async throws {
        transport.expect(.get, "/v1/a?b=c", .json(#"{"x": 1}"#), .text("second"))
        transport.expect(.post, "/v1/a", .status(.created, headers: [.location: "/v1/a/1"], body: [1, 2])) { request in
            request.body == Array("yes".utf8)
        }
        let session = try session()
        let created = try await session.post("a", body: .text("yes")).response()
        #expect(created.status == 201 && created["Location"] == ["/v1/a/1"] && created.bytes == [1, 2])
        #expect(try await session.get("a", parameters: ["b": "c"]).json()["x"]?.int == 1)
        let missing = #expect(throws: ScriptedTransport.Mismatch.self) { try transport.verify() }
        #expect(missing?.description == "expected and not received: GET /v1/a?b=c")
        #expect(try await session.get("a", parameters: ["b": "c"]).string() == "second")
        try transport.verify()
        #expect(transport.requests.map(\.head.method) == [.post, .get, .get])
        #expect(transport.requests[0].head.headerFields[.contentType] == "text/plain; charset=utf-8")
    }

    @Test func `a request that is not expected fails at once, and is named`() async throws {
        transport.expect(.get, "/v1/a")
        transport.expect(.get, "/v1/b", .status(.ok), .status(.ok))
        let session = try session(.init(maximumAttempts: 9, baseDelay: .zero))
        let error = await #expect(throws: HTTPError.self) { try await session.get("c").response() }
        #expect(error?.code == .invalidConfiguration)
        #expect(
            error?.reason == "the script has no response to GET /v1/c: it expects GET /v1/a, GET /v1/b"
        )
        #expect(transport.requests.count == 1)
        let mismatch = #expect(throws: ScriptedTransport.Mismatch.self) { try transport.verify() }
        #expect(mismatch?.missing == ["GET /v1/a", "GET /v1/b (2 times)"])
        #expect(mismatch?.unexpected == ["GET /v1/c"])
        #expect(mismatch?.description.split(separator: "\n").count == 3)
    }

    @Test func `the last response is repeated on request`() async throws {
        transport.expect(.get, "/v1/a", .text("first"), .text("later"), repeats: true)
        let session = try session()
        var texts: [String] = []
        for _ in 0..<4 { texts.append(try await session.get("a").string()) }
        #expect(texts == ["first", "later", "later", "later"])
        try transport.verify()
    }

    @Test func `failures are retried as real ones are`() async throws {
        transport.expect(
            .put,
            "/v1/a",
            .failure(.connectionLost, .maybeProcessed),
            .status(.serviceUnavailable),
            .status(.noContent)
        )
        let response = try await session(.init(baseDelay: .zero)).put("a", body: .text("x")).response()
        #expect(response.status == 204 && response.metrics.attempts == 3)
        transport.expect(.post, "/v1/a", .failure(.connectionLost, .maybeProcessed))
        let error = await #expect(throws: HTTPError.self) {
            try await session(.init(baseDelay: .zero)).post("a", body: .text("x")).response()
        }
        #expect(error?.code == .connectionLost && error?.processing == .maybeProcessed)
        try transport.verify()
    }

    @Test func `a held response arrives after the signal, and not after a cancellation`() async throws {
        let signal = ScriptedSignal()
        transport.expect(.get, "/v1/a", .text("late").held(until: signal), .text("never").held(until: .init()))
        let session = try session()
        let request = session.get("a")
        try await transport.requests(count: 1)
        #expect(!request.isFinished)
        signal.send()
        #expect(try await request.string() == "late")
        let cancelled = session.get("a")
        try await transport.requests(count: 2)
        cancelled.cancel()
        let error = await #expect(throws: HTTPError.self) { try await cancelled.response() }
        #expect(error?.code == .cancelled)
        #expect(session.requests.isEmpty)
        transport.expect(.get, "/v1/b", .text("soon").delayed(by: .milliseconds(1)))
        #expect(try await session.get("b").string() == "soon")
    }

    @Test func `parts reach memory, streams, files and progress one by one`() async throws {
        let lab = try DownloadLab()
        let parts: [[UInt8]] = [[1, 2], [3], [], [4, 5, 6]]
        transport.expect(
            .get,
            "/v1/a",
            .parts(parts, headers: [.contentLength: "6", .eTag: #""1""#]),
            repeats: true
        )
        let session = try session()
        let request = session.get("a", options: .init(startsAtOnce: false))
        let progress = request.progress
        request.resume()
        #expect(try await request.bytes() == [1, 2, 3, 4, 5, 6])
        var received: [Int] = []
        for await value in progress where value.toReceive == 6 { received.append(value.received) }
        #expect(received == [2, 3, 3, 6])
        let stream = try await session.stream(.get, "a").response()
        var pieces: [[UInt8]] = []
        for try await piece in stream.body { pieces.append(Array(piece.readableBytesView)) }
        #expect(pieces == [[1, 2], [3], [4, 5, 6]])
        #expect(try await session.download("a", to: lab.path).response().file.size == 6)
        #expect(lab.file == [1, 2, 3, 4, 5, 6])
    }

    @Test func `a download whose body breaks off continues after the part that arrived`() async throws {
        let lab = try DownloadLab()
        let lost = HTTPError(.bodyTruncated, processing: .answered, reason: "the server is gone")
        let tag: HTTPFields = [.eTag: #""1""#, .contentLength: "4"]
        transport.expect(.get, "/v1/a", .parts([[1, 2]], headers: tag, failure: lost)) {
            $0.head.headerFields[.range] == nil
        }
        var rest = tag
        rest[.contentLength] = "2"
        rest[.contentRange] = "bytes 2-3/4"
        transport.expect(.get, "/v1/a", .parts([[3], [4]], status: .partialContent, headers: rest)) {
            $0.head.headerFields[.range] == "bytes=2-"
        }
        let file = try await session(.init(baseDelay: .zero)).download("a", to: lab.path).response().file
        #expect(file.size == 4 && file.resumedFrom == 2)
        #expect(lab.file == [1, 2, 3, 4])
        try transport.verify()
    }

    @Test func `a body in parts is limited, and an error within it has the head`() async throws {
        transport.expect(.get, "/v1/a", .parts([[1, 2], [3]]))
        let session = try session()
        let large = await #expect(throws: HTTPError.self) {
            try await session.get("a", options: .init(maximumBodySize: 2)).response()
        }
        #expect(large?.code == .bodyTooLarge && large?.response?.status == .ok)
        struct Broken: Error {}
        transport.expect(
            .get,
            "/v1/b",
            .custom { _ in
                let parts = AsyncThrowingStream<[UInt8], any Error> { stream in
                    stream.yield([7])
                    stream.finish(throwing: Broken())
                }
                return .init(head: .init(status: .accepted), parts: parts)
            }
        )
        let broken = await #expect(throws: HTTPError.self) { try await session.get("b").response() }
        #expect(broken?.code == .bodyTruncated && broken?.cause is Broken && broken?.processing == .answered)
        #expect(broken?.response?.status == .accepted && broken?.body == [7])
    }

    @Test func `a stream that is not read stops the parts`() async throws {
        let taken = ScriptedSignal()
        let part = [UInt8](repeating: 7, count: 200 << 10)
        transport.expect(
            .get,
            "/v1/a",
            .custom { _ in
                .init(head: .init(status: .ok), parts: Parts(part: part, count: 4, last: taken))
            }
        )
        let response = try await session().stream(.get, "a").response()
        var count = 0
        for try await piece in response.body { count += piece.readableBytes }
        #expect(count == 800 << 10)
        try await taken.wait()
    }

    /// A body of equal parts, with a signal at its end.
    private struct Parts: AsyncSequence, AsyncIteratorProtocol, Sendable {
        let part: [UInt8]
        var count: Int
        let last: ScriptedSignal

        func makeAsyncIterator() -> Self { self }

        mutating func next() async throws -> [UInt8]? {
            guard count > 0 else {
                last.send()
                return nil
            }
            count -= 1
            return part
        }
    }
}
