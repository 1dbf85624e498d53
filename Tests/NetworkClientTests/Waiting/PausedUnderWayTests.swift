import HTTPLab
import Locking
import NIOCore
import Testing

@testable import NetworkClient

/// Pauses a session's first request as soon as it is sent.
private struct PauseOfFirst: EventMonitor {
    func request(_ request: RequestHandle, did event: RequestEvent) {
        if case .sent = event, request.id == 1 { request.pause() }
    }
}

/// Pauses a session's first request as soon as it sends a part of its body.
private struct PauseOfSending: EventMonitor {
    func request(_ request: RequestHandle, did event: RequestEvent) {
        if case .sending = event, request.id == 1 { request.pause() }
    }
}

/// Requests that are paused while they are on a connection.
@Suite(.timeLimit(.minutes(5)))
struct PausedUnderWayTests {
    private static func session(_ server: ScriptedServer, _ retry: RetryPolicy = .never) throws -> HTTPSession {
        try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, retry: retry)
        )
    }

    /// Pauses a request, and waits until that is so.
    private static func pause(_ request: RequestHandle, _ events: AsyncStream<RequestEvent>) async {
        request.pause()
        for await case .paused in events { break }
    }

    @Test func `a paused request stops reading, and continues where it stopped`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer { number in
            number == 0
                ? [.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .await(latch), .send("two")]
                : [.readRequest, .response("other")]
        }
        let session = try Self.session(server)
        let request = session.post("", body: .text("once"), options: .init(startsAtOnce: false))
        let events = request.events
        #expect(request.state == .ready)
        request.resume()
        for await case .received in events { break }
        #expect(request.state == .running)
        await Self.pause(request, events)
        #expect(request.state == .paused)
        latch.open()
        // Once another request has its response, the bytes sent before it have arrived too, if they were read.
        #expect(try await session.get("other").string() == "other")
        #expect(!request.isFinished)
        request.resume()
        #expect(try await request.string() == "onetwo")
        #expect(request.state == .finished)
        #expect(server.connections.count == 2)
    }

    @Test func `stage timeouts are suspended during a pause`() async throws {
        let latch = try ServerLatch()
        let hasResponded = Observed(false)
        let server = try ScriptedServer { number in
            number == 0
                ? [.readRequest, .await(latch), .response("late"), .custom { _ in hasResponded.update { $0 = true } }]
                : [.readRequest, .readToEnd]
        }
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, eventMonitors: [PauseOfFirst()])
        )
        var short = Timeouts.lasting
        short.firstByte = .seconds(2)
        let request = session.get("", options: .init(timeouts: short, startsAtOnce: false))
        let events = request.events
        request.resume()
        for await case .paused in events { break }
        // This request began later with the same timeout, so it lasts longer.
        let error = await #expect(throws: HTTPError.self) {
            try await session.get("", options: .init(timeouts: short)).response()
        }
        #expect(error?.code == .firstByteTimedOut)
        #expect(!request.isFinished)
        latch.open()
        try await hasResponded.wait(for: "the response") { $0 }
        request.resume()
        #expect(try await request.string() == "late")
    }

    @Test func `a body is sent no further`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("yes")])])
        // Another thread might come to it late, while the body goes on and on.
        let session = try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, eventMonitors: [PauseOfSending()])
        )
        let record = NotedFeed.Record()
        let isResumed = Lock(false)
        let piece = ByteBuffer(repeating: 7, count: 100_000)
        let body = NotedFeed.body(length: nil, record: record) { _ in isResumed.withLock { $0 } ? nil : piece }
        let request = session.put("", body: body, options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        for await case .paused in events { break }
        let asked = record.asked
        // The server keeps reading, so only the pause holds the rest back.
        for _ in 0..<20 { #expect(try await session.get("other").string() == "yes") }
        #expect(record.asked == asked)
        #expect(!request.isFinished)
        isResumed.withLock { $0 = true }
        request.resume()
        #expect(try await request.string() == "yes")
    }

    @Test func `a body that rests has no write limit after a pause either`() async throws {
        let server = try ScriptedServer { number in
            number == 0 ? [.readRequest, .response("yes")] : [.readRequest, .readToEnd]
        }
        let session = try Self.session(server)
        let (sequence, body) = AsyncStream.makeStream(of: [UInt8].self)
        var short = Timeouts.lasting
        (short.write, short.firstByte) = (.seconds(1), .seconds(1))
        let options = RequestOptions(timeouts: short, startsAtOnce: false)
        let request = session.put("", body: .once(sequence), options: options)
        let events = request.events
        request.resume()
        body.yield([1])
        for await case .sending in events { break }
        await Self.pause(request, events)
        request.resume()
        for await case .resumed in events { break }
        // This request began later with the same timeout, so it lasts longer.
        let error = await #expect(throws: HTTPError.self) {
            try await session.get("", options: .init(timeouts: short)).response()
        }
        #expect(error?.code == .firstByteTimedOut)
        let isFinished = request.isFinished
        #expect(!isFinished)
        body.finish()
        guard !isFinished else { return }
        // The server may take longer than a second to respond on a busy machine.
        let result: HTTPError.Code?
        do throws(HTTPError) {
            #expect(try await request.string() == "yes")
            result = nil
        } catch {
            result = error.code
        }
        #expect(result != .writeTimedOut)
    }

    @Test func `a connection lost during a pause is retried only after the request is resumed`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer { number in
            number == 0
                ? [.readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\none"), .await(latch), .reset]
                : [.forever([.readRequest, .response("whole")])]
        }
        let session = try Self.session(server, .init(maximumAttempts: 3, baseDelay: .milliseconds(1)))
        let request = session.get("", options: .init(startsAtOnce: false))
        let events = request.events
        request.resume()
        for await case .received in events { break }
        await Self.pause(request, events)
        latch.open()
        #expect(try await session.get("other").string() == "whole")
        #expect(!request.isFinished)
        request.resume()
        #expect(try await request.string() == "whole")
    }

    @Test func `pause, resume and cancel in any order from any thread lead to one end`() async throws {
        let text = String(repeating: "x", count: 100_000)
        let server = try ScriptedServer(always: [.forever([.readRequest, .response(text)])])
        let session = try Self.session(server, .init(maximumAttempts: 3, baseDelay: .milliseconds(1)))
        for seed in 0..<60 {
            let request = session.get("", options: .init(startsAtOnce: seed % 2 == 0))
            await withTaskGroup(of: Void.self) { group in
                for task in 0..<3 {
                    group.addTask {
                        for step in 0..<20 {
                            switch (seed &* 31 &+ task &* 17 &+ step &* 7) % 5 {
                            case 0, 1: request.pause()
                            case 2 where seed % 3 == 0 && step > 10: request.cancel()
                            default: request.resume()
                            }
                            await Task.yield()
                        }
                    }
                }
            }
            request.resume()
            do {
                #expect(try await request.string().utf8.count == 100_000)
            } catch {
                #expect(seed % 3 == 0)
                #expect(error.code == .cancelled)
            }
            #expect(request.state == .finished)
        }
        #expect(session.requests.isEmpty)
    }
}
