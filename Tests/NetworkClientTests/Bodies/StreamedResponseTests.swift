import HTTPLab
import Locking
import NIOCore
import NIOPosix
import Testing

@testable import NetworkClient

/// Responses that are read while they arrive.
@Suite(.timeLimit(.minutes(5)))
struct StreamedResponseTests {
    private static func session(_ server: ScriptedServer) throws -> HTTPSession {
        try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, retry: .init(maximumAttempts: 3, baseDelay: .milliseconds(1)))
        )
    }

    @Test func `the head is there before the body, and each piece before the next`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [
            .readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .await(latch), .send("two"),
        ])
        let response = try await Self.session(server).stream(.get, "").response()
        #expect(response.status == 200)
        var pieces = response.body.makeAsyncIterator()
        #expect(try await pieces.next() == ByteBuffer(string: "one"))
        latch.open()
        #expect(try await pieces.next() == ByteBuffer(string: "two"))
        #expect(try await pieces.next() == nil)
        #expect(try await pieces.next() == nil)
    }

    @Test func `an unsuccessful response is read from memory, and its request may be retried`() async throws {
        let server = try ScriptedServer { number in
            number == 0
                ? [.readRequest, .response("busy", status: "503 No", headers: ["Connection: close"])]
                : [.readRequest, .response("missing", status: "404 Not Found")]
        }
        let response = try await Self.session(server).stream(.get, "").response()
        #expect(response.status == 404)
        #expect(try await String(buffer: response.body.collect(upTo: 100)) == "missing")
        #expect(server.connections.count == 2)
    }

    @Test func `a truncated response provides its bytes, then the error, and is not retried`() async throws {
        let response = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"
        let server = try ScriptedServer(always: [.readRequest, .send(response)])
        var pieces = try await Self.session(server).stream(.get, "").response().body.makeAsyncIterator()
        #expect(try await pieces.next() == ByteBuffer(string: "one"))
        let error = await #expect(throws: HTTPError.self) { try await pieces.next() }
        #expect(error?.code == .bodyTruncated)
        #expect(server.connections.count == 1)
    }

    @Test func `a body without a length that breaks off before it is read is no whole one`() async throws {
        let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [
            .readRequest, .send(head + String(repeating: "x", count: 2_000_000)), .await(latch), .reset,
        ])
        let response = try await Self.session(server).stream(.get, "").response()
        try await Task.sleep(for: .milliseconds(100))
        latch.open()
        try await Task.sleep(for: .milliseconds(200))
        let error = await #expect(throws: HTTPError.self) { try await response.body.collect(upTo: 1 << 22) }
        #expect(error?.code == .bodyTruncated)
    }

    @Test(arguments: 1...2)
    func `a highly compressed body is not inflated before it is read`(times: Int) async throws {
        let size = 64 << 20
        var body = [UInt8](repeating: 0, count: size)
        for _ in 0..<times { body = compressed(body) }
        let coding = Array(repeating: "gzip", count: times).joined(separator: ", ")
        let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(coding)\r\nContent-Length: \(body.count)\r\n\r\n"
        let server = try ScriptedServer(always: [.readRequest, .sendBytes(Array(head.utf8) + body)])
        let request = try Self.session(server).stream(.get, "", options: .init(startsAtOnce: false))
        var events = request.events.makeAsyncIterator()
        request.resume()
        while let event = await events.next() { if case .received = event { break } }
        // The limit of waiting bytes, and the piece that exceeded it.
        #expect(request.stream.waitingBytes <= BodyStream.limit + Inflater.pieceSize + BodyStream.pieceOverhead)
        var count = 0
        for try await piece in try await request.response().body { count += piece.readableBytes }
        #expect(count == size)
    }

    @Test func `small pieces that are not read take bounded memory`() async throws {
        let stream = BodyStream()
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        var count = 0
        var isFull = false
        // With the buffer in which a TLS record is received.
        while !isFull, count < 4096 {
            var piece = ByteBuffer()
            piece.reserveCapacity(16_384)
            piece.writeInteger(UInt8(truncatingIfNeeded: count))
            isFull = stream.give(piece, on: loop) != nil
            count += 1
        }
        #expect(isFull)
        var memory = 0
        for number in 0..<count {
            let piece = try #require(try await stream.next())
            #expect(piece == ByteBuffer(integer: UInt8(truncatingIfNeeded: number)))
            memory += piece.storageCapacity
        }
        #expect(memory <= BodyStream.limit)
        _ = stream.abandon()
    }

    @Test func `unread bytes stay with the server`() async throws {
        let size = 24 << 20
        let server = try ScriptedServer(always: [
            .readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n"),
            .sendBytes(.init(repeating: 7, count: size)),
        ])
        let request = try Self.session(server).stream(.get, "", options: .init(startsAtOnce: false))
        let taken = Lock(0)
        let most = Lock(0)
        let events = request.events
        request.resume()
        let response = try await request.response()
        for await case .received(let count, _) in events where count >= BodyStream.limit { break }
        let watch = Task {
            for await case .received(let count, _) in events {
                let waiting = count - taken.withLock { $0 }
                most.withLock { $0 = max($0, waiting) }
            }
        }
        for try await piece in response.body { taken.withLock { $0 += piece.readableBytes } }
        await watch.value
        #expect(taken.withLock { $0 } == size)
        #expect(request.state == .finished)
        // A read may bring what the socket's buffer holds at once, and the counts are not taken at the same moment.
        #expect(most.withLock { $0 } < 4 << 20)
    }

    @Test func `dropping the body cancels the request`() async throws {
        let server = try ScriptedServer(always: [
            .readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .readToEnd,
        ])
        let request = try Self.session(server).stream(.get, "")
        for try await _ in try await request.response().body { break }
        let error = await #expect(throws: HTTPError.self) { try await request.ending().get() }
        #expect(error?.code == .cancelled)
    }

    @Test func `cancelling a reading task ends its read immediately`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .send("HTTP/1.1 200 OK\r\n\r\n"), .readToEnd])
        let request = try Self.session(server).stream(.get, "")
        let body = try await request.response().body
        let task = Task { try await body.collect(upTo: 1) }
        task.cancel()
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .cancelled)
    }

    @Test func `a later call returns the same body, which the first one may have released`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [
            .readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .await(latch), .send("two"),
        ])
        let request = try Self.session(server).stream(.get, "")
        var first: StreamedResponse? = try await request.response()
        var pieces = try #require(first?.body.makeAsyncIterator())
        #expect(try await pieces.next() == ByteBuffer(string: "one"))
        let second = try await request.response()
        first = nil
        pieces = second.body.makeAsyncIterator()
        latch.open()
        #expect(try await pieces.next() == ByteBuffer(string: "two"))
        #expect(try await pieces.next() == nil)
    }

    @Test func `the body of an unsuccessful response is one, too`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("missing", status: "404 Not Found")])
        let request = try Self.session(server).stream(.get, "")
        let first = try await request.response()
        #expect(try await String(buffer: first.body.collect(upTo: 100)) == "missing")
        #expect(try await request.response().body.collect(upTo: 100).readableBytes == 0)
        withExtendedLifetime(first) {}
    }

    @Test func `a body that was released before its end is not empty afterwards`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("whole")])
        let request = try Self.session(server).stream(.get, "")
        _ = await request.ending()
        _ = try await request.response()
        let error = await #expect(throws: HTTPError.self) { try await request.response().body.collect(upTo: 100) }
        #expect(error?.code == .cancelled)
    }
}
