import HTTPLab
import NetworkClient
import Testing

/// Servers that do not read the whole body, and the effect on its source.
@Suite(.timeLimit(.minutes(5)))
struct EarlyEndTests {
    /// A sequence that never ends, and counts the requested elements.
    private final class Endless: AsyncSequence, Sendable {
        typealias Element = [UInt8]

        let asked = Observed(0)
        private let piece = [UInt8](repeating: 0x61, count: 65_536)

        func makeAsyncIterator() -> Iterator { .init(sequence: self) }

        struct Iterator: AsyncIteratorProtocol {
            let sequence: Endless

            mutating func next() async throws -> [UInt8]? {
                sequence.asked.update { $0 += 1 }
                return sequence.piece
            }
        }
    }

    private func session(_ server: ScriptedServer, _ timeouts: Timeouts = .lasting) throws -> HTTPSession {
        try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .init(timeouts: timeouts))
    }

    @Test func `no more elements are requested while the server does not read`() async throws {
        let server = try ScriptedServer(receiveBuffer: 65_536, always: [.readHead, .hold])
        let sequence = Endless()
        var timeouts = Timeouts.lasting
        timeouts.write = .seconds(1)
        let session = try session(server, timeouts)
        // It ends when the kernel has accepted nothing for a second; until then, it fills the kernel's buffers.
        let error = await #expect(throws: HTTPError.self) {
            try await session.upload("a", from: .once(sequence)).response()
        }
        #expect(error?.code == .writeTimedOut)
        #expect(sequence.asked.value > 0)
        #expect(sequence.asked.value < (24 << 20) / 65_536)
    }

    @Test func `a response during an upload is the response, and stops reading the body`() async throws {
        let refusal = ServerStep.response("too much", status: "413 Content Too Large", headers: ["Connection: close"])
        let server = try ScriptedServer(receiveBuffer: 65_536, always: [.readHead, refusal, .readToEnd])
        let sequence = Endless()
        let request = try session(server).upload("a", from: .once(sequence))
        let response = try await request.response()
        #expect(response.status == 413 && response.bytes == Array("too much".utf8))
        try await server.waitForEnds()
        #expect(sequence.asked.value < (24 << 20) / 65_536)
    }

    @Test func `a server that closes during an upload ends the request and stops reading the body`() async throws {
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [.readHead, .readBytes(200_000), .await(latch), .reset])
        let ended = Observed(false)
        let sequence = WatchedSequence([[UInt8](repeating: 0, count: 200_000)]) {
            // The next element is requested once the kernel has accepted the first.
            latch.open()
            await withTaskCancellationHandler {
                let (never, end) = AsyncStream.makeStream(of: Void.self)
                for await _ in never {}
                end.finish()
            } onCancel: {
                ended.update { $0 = true }
            }
        }
        let error = await #expect(throws: HTTPError.self) {
            try await session(server).upload("a", from: .once(sequence)).response()
        }
        #expect(error?.code == .connectionLost && error?.processing == .maybeProcessed)
        try await ended.wait(for: "the cancelling") { $0 }
        #expect(server.connections.count == 1)
    }

    @Test func `cancelling a request cancels reading its body`() async throws {
        let server = try ScriptedServer(always: [.readHead, .readToEnd])
        let ended = Observed(false)
        let sequence = WatchedSequence([[1]]) {
            await withTaskCancellationHandler {
                let (never, end) = AsyncStream.makeStream(of: Void.self)
                for await _ in never {}
                end.finish()
            } onCancel: {
                ended.update { $0 = true }
            }
        }
        let request = try session(server).upload("a", from: .once(sequence))
        try await sequence.asked.wait(for: "the second demand") { $0 == 2 }
        request.cancel()
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .cancelled)
        try await ended.wait(for: "the cancelling") { $0 }
    }

    @Test func `the head is sent, and may be refused, before the first element is there`() async throws {
        let refusal = ServerStep.response("no", status: "403 Forbidden")
        let server = try ScriptedServer(always: [.readHead, refusal, .readToEnd])
        let sequence = WatchedSequence([]) {
            let (never, end) = AsyncStream.makeStream(of: Void.self)
            for await _ in never {}
            end.finish()
        }
        var timeouts = Timeouts.lasting
        timeouts.total = .seconds(60)
        let response = try await session(server, timeouts).upload("a", from: .once(sequence)).response()
        #expect(response.status == 403)
    }

    @Test func `a sequence is not read before the server sends 100 Continue`() async throws {
        let latch = try ServerLatch()
        let leave: [ServerStep] = [
            .readHead, .await(latch), .send("HTTP/1.1 100 Continue\r\n\r\n"), .readBody, .response(),
        ]
        let server = try ScriptedServer(always: leave)
        let sequence = WatchedSequence([[1], [2]])
        var timeouts = Timeouts.lasting
        timeouts.expectContinue = .seconds(300)
        let request = try session(server, timeouts)
            .upload("a", from: .once(sequence), options: .init(expectsContinue: true))
        try await server.wait(for: "the head") {
            $0.first?.requests.first?.head.contains("Expect: 100-continue") == true
        }
        latch.open()
        #expect(try await request.response().status == 200)
        #expect(server.connections.first?.requests.first?.body == [1, 2])
    }

    @Test func `a sequence is never read if the server refuses instead of sending 100 Continue`() async throws {
        let refusal = ServerStep.response("no", status: "403 Forbidden")
        let server = try ScriptedServer(always: [.readHead, refusal, .readToEnd])
        let sequence = WatchedSequence([[1]])
        var timeouts = Timeouts.lasting
        timeouts.expectContinue = .seconds(300)
        let options = RequestOptions(expectsContinue: true)
        let request = try session(server, timeouts).upload("a", from: .once(sequence), options: options)
        let response = try await request.response()
        #expect(response.status == 403)
        try await server.waitForEnds()
        #expect(server.connections.first.map { $0.received.count == $0.requests[0].head.utf8.count } == true)
    }
}
