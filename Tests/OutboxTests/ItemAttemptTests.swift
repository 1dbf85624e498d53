import HTTPLab
import NetworkLab
import Outbox
import Testing

/// Items that fail by themselves, and that have attempts left.
@Suite(.timeLimit(.minutes(5))) struct ItemAttemptTests {
    private let clock = LabClock()

    /// A server that responds to each request by its number, from 1.
    private func makeLab(_ respond: @escaping @Sendable (Int) -> [ServerStep]) throws -> OutboxLab {
        let received = Observed(0)
        return try OutboxLab { _ in
            let number = received.update { received in
                received += 1
                return received
            }
            return respond(number)
        }
    }

    /// A server that rejects a number of requests.
    private func makeLab(rejections: Int) throws -> OutboxLab {
        try makeLab { $0 <= rejections ? [.response("no", status: "404 Not Found")] : [.response("done")] }
    }

    /// Waits until a number of attempts are stored as failed, and ends the delay that follows.
    private func passFailure(_ number: Int, of outbox: Outbox) async throws {
        while let attempts = try await outbox.items().first?.attempts, attempts < number {
            try await Task.sleep(for: .milliseconds(2))
        }
        clock.advance(by: .seconds(300))
        try await outbox.wake()
    }

    @Test func `a request without a key that the server rejects is sent as often as it may be, and then refused`()
        async throws
    {
        let lab = try makeLab(rejections: 3)
        let outbox = try await lab.open(clock)
        try await lab.lane(outbox, .init(itemAttempts: 3)).post("a", .text("x"), options: .init(key: .none))
        for number in 1...2 { try await passFailure(number, of: outbox) }
        let outcome = try #require(await outbox.next(1).first)
        #expect(outcome.end == .refused && outcome.reason == "the server responded with status 404")
        #expect(lab.server.requests.value.count == 3)
        await outbox.shutdown()
    }

    @Test func `the lifetime of a key does not begin with an attempt that the server rejects`() async throws {
        let lab = try makeLab(rejections: 1)
        let outbox = try await lab.open(clock)
        try await lab.lane(outbox, .init(itemAttempts: 2, keyLifetime: .seconds(60))).post("a", .text("x"))
        try await passFailure(1, of: outbox)
        let ends = try await outbox.next(1).map(\.end)
        #expect(ends == [.delivered])
        await outbox.shutdown()
    }

    /// A server that has a conflict with a request, after it has closed the connection for a number of others.
    private func makeConflictingLab(losses: Int) throws -> OutboxLab {
        try makeLab { number in
            if number <= losses { return [.reset] }
            return number == losses + 1 ? [.response("busy", status: "409 Conflict")] : [.response("done")]
        }
    }

    @Test func `a request whose earlier attempt the server is still processing is sent again later`() async throws {
        let lab = try makeConflictingLab(losses: 1)
        let outbox = try await lab.open(clock)
        try await lab.lane(outbox).post("a", .text("x"))
        while try await outbox.storage.lanes().first?.pause == nil { try await Task.sleep(for: .milliseconds(2)) }
        clock.advance(by: .seconds(3_700))
        try await outbox.wake()
        try await passFailure(1, of: outbox)
        let ends = try await outbox.next(1).map(\.end)
        #expect(ends == [.delivered])
        let keys = lab.server.requests.value.map { $0["Idempotency-Key"] }
        #expect(keys.count == 3 && Set(keys).count == 1)
        await outbox.shutdown()
    }

    @Test func `a request to whose only attempt the server responds with a conflict is refused`() async throws {
        let lab = try makeConflictingLab(losses: 0)
        let outbox = try await lab.open(clock)
        try await lab.lane(outbox).post("a", .text("x"))
        let outcome = try #require(await outbox.next(1).first)
        #expect(outcome.end == .refused && outcome.reason == "the server responded with status 409")
        #expect(lab.server.requests.value.count == 1)
        await outbox.shutdown()
    }

    @Test func `a request whose file was missing was not sent, and is sent once the file is back`() async throws {
        let lab = try makeLab(rejections: 0)
        let file = try lab.folder.write("kept", "contents")
        let adding = try await lab.open(clock, sends: false)
        let lane = lab.lane(adding, .init(itemAttempts: 2))
        try await lane.post("a", .file(file, .reference), options: .init(key: .none))
        try lab.folder.write("kept", "other")
        let outbox = try await lab.open(clock)
        while try await outbox.items().first?.attempts != 1 { try await Task.sleep(for: .milliseconds(2)) }
        try lab.folder.write("kept", "contents")
        try await passFailure(1, of: outbox)
        let ends = try await outbox.next(1).map(\.end)
        #expect(ends == [.delivered])
        #expect(lab.server.requests.value.map(\.body) == [Array("contents".utf8)])
        await outbox.shutdown()
        await adding.shutdown()
    }
}
