import HTTPLab
import NetworkLab
import Testing

@testable import NetworkClient

/// Event streams of servers that end again and again.
@Suite(.timeLimit(.minutes(10)))
struct KilledEventServerTests {
    private static let kills = 50
    /// An address from which nothing connects, so that a port stays free while its server is away.
    private static let restarted = ServerAddress.ipv4(127, 77, 0, 1)

    private static func events(at host: String = "127.0.0.1", _ port: UInt16) throws -> ServerSentEvents {
        let configuration = HTTPConfiguration(timeouts: .lasting, connectivity: MadeUpNetwork(.wifi))
        return try HTTPSession(baseURL: "http://\(host):\(port)/", configuration: configuration).events("")
    }

    @Test func `each event arrives once and in order, although connections end after any byte`() async throws {
        let total = 500
        let server = try ScriptedServer { number in
            var generator = SeededGenerator(seed: UInt64(number))
            let cut = number < Self.kills ? Int.random(in: 0...200, using: &generator) : .max
            let isChunked = Bool.random(using: &generator)
            let isReset = Bool.random(using: &generator)
            return [
                .respond { request in
                    if request.field("Last-Event-ID") == "\(total)" { return [EventServer.noContent] }
                    let last = request.field("Last-Event-ID").flatMap { Int($0) } ?? 0
                    var bytes = EventServer.events(after: request, count: total - last)
                    var head = EventServer.head
                    if isChunked {
                        head = head.replacing("\r\n\r\n", with: "\r\nTransfer-Encoding: chunked\r\n\r\n")
                        let size = String(bytes.count, radix: 16)
                        bytes = Array("\(size)\r\n".utf8) + bytes + Array("\r\n0\r\n\r\n".utf8)
                    }
                    return [.send(head), .sendBytes(Array(bytes.prefix(cut))), isReset ? .reset : .close]
                }
            ]
        }
        let events = try await Self.events(server.port).withoutDelay.all()
        #expect(events.map(\.data) == (1...total).map(String.init))
        #expect(events.map(\.id) == events.map(\.data))
        #expect(server.connections.count > Self.kills)
    }

    @Test func `each event arrives once and in order, although the server is killed 50 times`() async throws {
        // One byte at a time, so that each kill cuts an event somewhere.
        let steps: [ServerStep] = [
            .respond { [.send(EventServer.head), .drip(EventServer.events(after: $0, count: 1_000), every: .zero)] }
        ]
        var server = try ScriptedServer(on: Self.restarted, always: steps)
        let port = server.port
        let received = Observed<[ServerSentEvent]>([])
        let events = try Self.events(at: "127.77.0.1", port).withoutDelay
        let task = Task { for try await event in events { received.update { $0.append(event) } } }
        var generator = SeededGenerator(seed: 1)
        for kill in 0...Self.kills {
            let count = received.value.count + .random(in: 1...5, using: &generator)
            try await received.wait(for: "\(count) events after \(kill) kills") { $0.count >= count }
            try await server.stop()
            if kill < Self.kills { server = try ScriptedServer(on: Self.restarted, port: port) { _ in steps } }
        }
        task.cancel()
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        let numbers = received.value.map(\.data)
        #expect(numbers.count > Self.kills)
        #expect(numbers == (1...numbers.count).map(String.init))
        #expect(received.value.map(\.id) == numbers)
    }
}
