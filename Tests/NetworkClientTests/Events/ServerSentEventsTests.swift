import HTTPLab
import NIOCore
import NIOPosix
import NetworkClientCore
import Testing

@testable import NetworkClient

/// Event streams of scripted servers.
@Suite(.timeLimit(.minutes(5)))
struct ServerSentEventsTests {
    private static func session(
        _ server: ScriptedServer,
        timeouts: Timeouts = .lasting
    ) throws -> HTTPSession {
        try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: timeouts, connectivity: MadeUpNetwork(.wifi))
        )
    }

    // MARK: Requests and responses

    @Test func `the request asks for an event stream, and names the last event after that`() async throws {
        let server = try ScriptedServer { number in
            switch number {
            case 0: EventServer.stream("id:7\ndata:a\n\nid:lost\ndata:b\n")
            case 1: EventServer.stream("data:b\n\nid\n\n")
            case 2: EventServer.stream("id:é…\ndata:c\n\n")
            default: [.readRequest, EventServer.noContent]
            }
        }
        let session = try Self.session(server)
        let events = session.events("stream", parameters: ["topic": "x"], headers: [.authorization: "Bearer t"])
        let expected: [ServerSentEvent] = [
            .init(id: "7", data: "a"), .init(id: "7", data: "b"), .init(id: "é…", data: "c"),
        ]
        #expect(try await events.withoutDelay.all() == expected)
        let requests = server.connections.flatMap(\.requests)
        #expect(requests.allSatisfy { $0.head.hasPrefix("GET /stream?topic=x HTTP/1.1\r\n") })
        #expect(requests.allSatisfy { $0.field("Accept") == "text/event-stream" })
        #expect(requests.allSatisfy { $0.field("Cache-Control") == "no-cache" })
        #expect(requests.allSatisfy { $0.field("Authorization") == "Bearer t" })
        #expect(requests.map { $0.field("Last-Event-ID") } == [nil, "7", nil, "é…"])
    }

    @Test func `the first request names an event that was processed earlier`() async throws {
        let server = try ScriptedServer { number in
            number == 0 ? EventServer.stream("data:a\n\n") : [.readRequest, EventServer.noContent]
        }
        let headers: HTTPFields = [.accept: "text/event-stream, */*", .cacheControl: "no-store"]
        let events = try Self.session(server).events("", headers: headers, lastEventID: "12")
        #expect(try await events.withoutDelay.all() == [.init(id: "12", data: "a")])
        let requests = server.connections.flatMap(\.requests)
        #expect(requests.map { $0.field("Last-Event-ID") } == ["12", "12"])
        #expect(requests.first?.field("Accept") == "text/event-stream, */*")
        #expect(requests.first?.field("Cache-Control") == "no-store")
    }

    @Test func `a response with 204 ends the sequence without an error`() async throws {
        let server = try ScriptedServer(always: [.readRequest, EventServer.noContent])
        var events = try Self.session(server).events("").makeAsyncIterator()
        #expect(try await events.next() == nil)
        #expect(try await events.next() == nil)
        #expect(server.connections.count == 1)
    }

    @Test(arguments: [
        "404 Not Found", "500 Error", "503 Busy", "206 Partial Content", "205 Reset Content", "301 Moved",
    ])
    func `a response with another status than 200 ends the sequence with an error`(status: String) async throws {
        let fields = ["Content-Type: text/event-stream"]
        let server = try ScriptedServer(always: [
            .readRequest, .response("data:a\n\n", status: status, headers: fields),
        ])
        var options = RequestOptions()
        options.redirects = .refuse
        var events = try Self.session(server).events("", options: options).withoutDelay.makeAsyncIterator()
        let error = await #expect(throws: HTTPError.self) { try await events.next() }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response.map { status.hasPrefix("\($0.status.code) ") } == true)
        #expect(error?.request == "GET http://127.0.0.1:\(server.port)/")
        if !status.hasPrefix("20") { #expect(error?.body == Array("data:a\n\n".utf8)) }
        #expect(try await events.next() == nil)
        #expect(server.connections.count == 1)
    }

    @Test func `a response with an error status ends the sequence also if its body stalls`() async throws {
        let server = try ScriptedServer(always: [
            .readRequest, .send("HTTP/1.1 500 Error\r\nContent-Length: 9\r\n\r\ndata"), .readToEnd,
        ])
        var configuration = HTTPConfiguration(timeouts: .lasting, connectivity: MadeUpNetwork(.wifi))
        configuration.fixedLimits.errorBody = .milliseconds(1)
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
        var events = session.events("").withoutDelay.makeAsyncIterator()
        let error = await #expect(throws: HTTPError.self) { try await events.next() }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.response?.status.code == 500)
        #expect(error?.request == "GET http://127.0.0.1:\(server.port)/")
        #expect(try await events.next() == nil)
        #expect(server.connections.count == 1)
    }

    @Test func `a response with an error status ends the sequence also if its body is truncated`() async throws {
        let server = try ScriptedServer(always: [
            .readRequest, .send("HTTP/1.1 500 Error\r\nContent-Length: 9\r\n\r\ndata"),
        ])
        let configuration = HTTPConfiguration(timeouts: .lasting, connectivity: MadeUpNetwork(.wifi))
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: configuration)
        var events = session.events("").withoutDelay.makeAsyncIterator()
        let error = await #expect(throws: HTTPError.self) { try await events.next() }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.body == Array("data".utf8))
        #expect(try await events.next() == nil)
        #expect(server.connections.count == 1)
    }

    @Test(arguments: [
        "text/html", "text/event-streams", "text/event-stream-x; a=b", "text/plain;text/event-stream", nil,
    ])
    func `a response of another type ends the sequence with an error`(type: String?) async throws {
        let fields = type.map { ["Content-Type: \($0)"] } ?? []
        let server = try ScriptedServer(always: [.readRequest, .response("data:a\n\n", headers: fields), .readToEnd])
        let events = try Self.session(server).events("").withoutDelay
        let error = await #expect(throws: HTTPError.self) { try await events.all() }
        #expect(error?.code == .unacceptableContentType)
        #expect(error?.reason.contains(type ?? "no Content-Type") == true)
        #expect(server.connections.count == 1)
    }

    @Test(arguments: ["text/event-stream;", "Text/Event-Stream ; charset=utf-8", "text/event-stream;x"])
    func `parameters and case of the type do not matter`(type: String) async throws {
        let server = try ScriptedServer { number in
            number == 0
                ? [.readRequest, .response("data:a\n\n", headers: ["Content-Type: \(type)"])]
                : [.readRequest, EventServer.noContent]
        }
        #expect(try await Self.session(server).events("").withoutDelay.all() == [.init(data: "a")])
    }

    @Test func `redirects are followed, and each connection starts from the first URL`() async throws {
        let server = try ScriptedServer(always: [
            .forever([
                .respond { request in
                    if request.head.hasPrefix("GET /stream ") {
                        return [.response(status: "307 Moved", headers: ["Location: /other"])]
                    }
                    if request.field("Last-Event-ID") != nil { return [EventServer.noContent] }
                    return [.response("id:1\ndata:a\n\n", headers: ["Content-Type: text/event-stream"])]
                }
            ])
        ])
        #expect(try await Self.session(server).events("stream").withoutDelay.all() == [.init(id: "1", data: "a")])
        let targets = server.connections.flatMap(\.requests).map { $0.head.split(separator: " ")[1] }
        #expect(targets == ["/stream", "/other", "/stream", "/other"])
    }

    @Test func `a compressed stream is read while it arrives`() async throws {
        let latch = try ServerLatch()
        let stream = Array("data:a\n\n".utf8)
        let bytes = compressed(stream)
        let fields = ["Content-Type: text/event-stream", "Content-Encoding: gzip", "Content-Length: \(bytes.count)"]
        let head = "HTTP/1.1 200 OK\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n"
        let server = try ScriptedServer(always: [
            .readRequest, .send(head), .sendBytes(Array(bytes.dropLast())), .await(latch),
        ])
        var events = try Self.session(server).events("").makeAsyncIterator()
        #expect(try await events.next() == .init(data: "a"))
        latch.open()
    }

    @Test func `a transport takes the place of connections`() async throws {
        struct Stub: Transport {
            func send(_ request: TransportRequest) async throws -> TransportResponse {
                let isFirst = !request.head.headerFields.contains { $0.name.canonicalName == "last-event-id" }
                guard isFirst else { return .init(head: .init(status: .noContent)) }
                let head = HTTPResponse(status: .ok, headerFields: [.contentType: "text/event-stream"])
                return .init(head: head, body: Array("id:1\nevent:add\ndata:a\n\n".utf8))
            }
        }
        let network = MadeUpNetwork(.notReachable)
        let session = try HTTPSession(configuration: .init(transport: Stub(), connectivity: network))
        let events = session.events("http://example.com/").withoutDelay
        #expect(try await events.all() == [ServerSentEvent(id: "1", name: "add", data: "a")])
        #expect(network.watchers == 0)
    }

    // MARK: Limits

    @Test func `maximumBodySize limits each event, not the stream`() async throws {
        let event = "data:\(String(repeating: "x", count: 90))\n\n"
        let server = try ScriptedServer(
            always: EventServer.stream(String(repeating: event, count: 10) + "data:x" + event)
        )
        var events = try Self.session(server).events("", options: .init(maximumBodySize: 96)).makeAsyncIterator()
        for _ in 0..<10 { #expect(try await events.next()?.data.utf8.count == 90) }
        let error = await #expect(throws: HTTPError.self) { try await events.next() }
        #expect(error?.code == .bodyTooLarge)
        #expect(error?.reason.contains("96 bytes") == true)
        #expect(try await events.next() == nil)
        #expect(server.connections.count == 1)
    }

    @Test func `the time limits of a session do not end a stream, those between its reads replace the connection`()
        async throws
    {
        let server = try ScriptedServer { number in
            number == 0 ? EventServer.stream("id:1\ndata:a\n\n") + [.readToEnd] : [.readRequest, EventServer.noContent]
        }
        let session = try Self.session(server, timeouts: .init(read: .milliseconds(1), total: .seconds(1)))
        var options = RequestOptions()
        options.timeouts = .lasting
        options.timeouts?.read = .milliseconds(100)
        #expect(try await session.events("", options: options).withoutDelay.all() == [.init(id: "1", data: "a")])
        #expect(server.connections.count == 2)
        let request = EventStreamRequest(
            session: session,
            reference: "",
            parameters: nil,
            headers: [:],
            lastEventID: "",
            options: .init()
        ).start(after: "")
        #expect(request.request.limits.read == nil && request.request.limits.total == nil)
        #expect(request.request.limits.connect == Timeouts().connect)
        request.cancel()
    }

    @Test func `unread events stay with the server`() async throws {
        let count = 100_000
        let server = try ScriptedServer { number in
            number == 0
                ? [.respond { [.send(EventServer.head), .sendBytes(EventServer.events(after: $0, count: count))] }]
                : [.readRequest, EventServer.noContent]
        }
        let session = try Self.session(server)
        var events = session.events("").withoutDelay.makeAsyncIterator()
        #expect(try await events.next()?.id == "1")
        let request = try #require(session.requests.first as? StreamRequest)
        while request.stream.waitingBytes <= BodyStream.limit { try await Task.sleep(for: .milliseconds(1)) }
        // A read may bring what the socket's buffer holds.
        #expect(request.stream.waitingBytes < BodyStream.limit + (1 << 20))
        for number in 2...count { #expect(try await events.next()?.data == "\(number)") }
        #expect(try await events.next() == nil)
    }

    // MARK: Delays

    @Test func `a reconnection waits for the retry time that the server has set`() async throws {
        let server = try ScriptedServer { number in
            switch number {
            case 0: EventServer.stream("data:a\n\n")
            case 1: EventServer.stream("retry:1234\n")
            case 2: EventServer.stream("retry:never\n")
            default: [.readRequest, EventServer.noContent]
            }
        }
        let delays = RecordedDelays()
        #expect(try await delays.record(Self.session(server).events("")).all() == [.init(data: "a")])
        #expect(delays.all == [.seconds(3), .milliseconds(1_234), .milliseconds(1_234)])
    }

    @Test func `a server that ends each stream immediately is not flooded with requests, whatever retry time it sets`()
        async throws
    {
        let server = try ScriptedServer { number in
            switch number {
            case 0: EventServer.stream("retry:0\ndata:a\n\n")
            case 1, 2: EventServer.stream(":\n\n")
            case 3: EventServer.stream("data:b\n\n")
            default: [.readRequest, EventServer.noContent]
            }
        }
        let delays = RecordedDelays()
        let events = try await delays.record(Self.session(server).events("")).all()
        #expect(events.map(\.data) == ["a", "b"])
        let expected: [Duration] = [
            .milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(100),
        ]
        #expect(delays.all == expected)
    }

    @Test func `the delay grows while attempts fail, and is the retry time again after a stream`() async throws {
        let server = try ScriptedServer { number in
            switch number {
            case 0: EventServer.stream("retry:1000\nid:1\ndata:a\n\n")
            case 1...5: number.isMultiple(of: 2) ? [.close] : [.readRequest, .send("HTTP/1.1 200 O"), .reset]
            case 6: EventServer.stream("id:2\ndata:b\n\n")
            default: [.readRequest, EventServer.noContent]
            }
        }
        let delays = RecordedDelays()
        let events = try await delays.record(Self.session(server).events("")).all()
        #expect(events.map(\.id) == ["1", "2"])
        #expect(delays.all.count == 7)
        #expect(delays.all.first == .seconds(1) && delays.all.last == .seconds(1))
        for (delay, bound) in zip(delays.all.dropFirst(), [1, 2, 4, 8, 16]) {
            #expect(delay >= .seconds(1) && delay <= .seconds(1 + bound))
        }
        #expect(delays.all[1...5].contains { $0 > .seconds(1) })
    }

    @Test func `a delay ends after its time, and immediately if it is zero`() async throws {
        let session = try HTTPSession(configuration: .lasting)
        for delay in [Duration.milliseconds(1), .zero] {
            await ReconnectDelay(session.core, .init(delay: delay, gateKey: nil, change: nil)).wait()
        }
    }

    @Test func `a delay ends when the session is invalidated`() async throws {
        let session = try HTTPSession(configuration: .lasting)
        let (core, pause) = (session.core, ReconnectPause(delay: .seconds(3_600), gateKey: nil, change: nil))
        let task = Task { await ReconnectDelay(core, pause).wait() }
        while try await core.loop.submit({ core.reconnectDelays.isEmpty }).get() {
            try await Task.sleep(for: .milliseconds(1))
        }
        session.invalidate()
        await task.value
        // One that begins later ends immediately.
        await ReconnectDelay(core, pause).wait()
        #expect(try await core.loop.submit { core.reconnectDelays.isEmpty }.get())
    }

    // MARK: Failures

    @Test func `a name that is not found ends the sequence, unless there has been a stream`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer { number in
            number == 0
                ? EventServer.stream("data:a\n\n") + [.await(latch)]
                : EventServer.stream("data:b\n\n") + [.readToEnd]
        }
        let isFound = Observed(true)
        let failures = Observed(0)
        let resolver = NameResolver { _ in
            if isFound.value, let address = try? SocketAddress(ipAddress: "127.0.0.1", port: 0) {
                return .addresses([address])
            }
            failures.update { $0 += 1 }
            return .failure(code: -2, errno: 0)
        }
        let session = try HTTPSession(
            baseURL: "http://events.test:\(server.port)/",
            .init(timeouts: .lasting, connectivity: MadeUpNetwork(.wifi)),
            loop: MultiThreadedEventLoopGroup.singleton.next(),
            resolver
        )
        let received = Observed<[String]>([])
        let events = session.events("").withoutDelay
        let task = Task { for try await event in events { received.update { $0.append(event.data) } } }
        try await received.wait(for: "an event") { $0 == ["a"] }
        isFound.update { $0 = false }
        latch.open()
        try await failures.wait(for: "failed lookups") { $0 > 10 }
        let error = await #expect(throws: HTTPError.self) { try await session.events("").withoutDelay.all() }
        #expect(error?.code == .nameNotFound)
        isFound.update { $0 = true }
        try await received.wait(for: "an event of another connection") { $0 == ["a", "b"] }
        task.cancel()
        _ = try? await task.value
    }

    @Test func `an unusable URL ends the sequence`() async throws {
        let events = try HTTPSession(configuration: .lasting).events("no-scheme").withoutDelay
        let error = await #expect(throws: HTTPError.self) { try await events.all() }
        #expect(error?.code == .invalidURL)
    }

    @Test func `a session that is invalidated ends the sequence at its next connection`() async throws {
        let server = try ScriptedServer(always: EventServer.stream("data:a\n\n"))
        let session = try Self.session(server)
        var events = session.events("").withoutDelay.makeAsyncIterator()
        #expect(try await events.next() == .init(data: "a"))
        session.invalidate()
        let error = await #expect(throws: HTTPError.self) { while try await events.next() != nil {} }
        #expect(error?.code == .sessionInvalidated)
    }

    // MARK: Cancellation

    @Test func `cancelling the task that reads closes the connection`() async throws {
        let server = try ScriptedServer(always: EventServer.stream("data:a\n\n") + [.readToEnd])
        let events = try Self.session(server).events("")
        let read = Observed(0)
        let task = Task { for try await _ in events { read.update { $0 += 1 } } }
        try await read.wait(for: "an event") { $0 == 1 }
        task.cancel()
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        try await server.wait(for: "the client's end") { $0.first?.clientEnd != nil }
        #expect(server.connections.count == 1)
    }

    @Test func `cancelling the task ends it although events are waiting`() async throws {
        let server = try ScriptedServer(
            always: EventServer.stream(String(repeating: "data:a\n\n", count: 100)) + [.readToEnd]
        )
        let events = try Self.session(server).events("")
        let task = Task {
            var count = 0
            do throws(HTTPError) {
                for try await _ in events {
                    count += 1
                    withUnsafeCurrentTask { $0?.cancel() }
                }
            } catch {
                #expect(error.code == .cancelled)
            }
            return count
        }
        #expect(await task.value == 1)
        try await server.wait(for: "the client's end") { $0.first?.clientEnd != nil }
    }

    @Test func `cancelling the task ends a request without a response`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .readToEnd])
        let events = try Self.session(server).events("")
        let task = Task { try await events.all() }
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        task.cancel()
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        try await server.wait(for: "the client's end") { $0.first?.clientEnd != nil }
    }

    @Test func `a task that is cancelled already sends no request`() async throws {
        let server = try ScriptedServer(always: EventServer.stream("data:a\n\n"))
        let events = try Self.session(server).events("")
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await events.all()
        }
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(error?.processing == .neverSent)
        #expect(server.connections.isEmpty)
    }

    @Test func `cancelling the task ends a delay`() async throws {
        let server = try ScriptedServer(always: EventServer.stream("retry:86400000\ndata:a\n\n"))
        let session = try Self.session(server)
        let isWaiting = Observed(false)
        var events = session.events("")
        events.pause = { [before = events.pause] pause in
            isWaiting.update { $0 = true }
            await before(pause)
        }
        let task = Task { [events] in try await events.all() }
        try await isWaiting.wait(for: "the delay") { $0 }
        task.cancel()
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(server.connections.count == 1)
    }

    @Test func `releasing the iterator closes the connection`() async throws {
        let server = try ScriptedServer(always: EventServer.stream("data:a\n\ndata:b\n\n") + [.readToEnd])
        let session = try Self.session(server)
        for try await event in session.events("") {
            #expect(event.data == "a")
            break
        }
        try await server.wait(for: "the client's end") { $0.first?.clientEnd != nil }
        #expect(server.connections.count == 1)
    }
}
