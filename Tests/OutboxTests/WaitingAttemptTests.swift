import DurableStore
import HTTPLab
import NetworkClient
import NetworkClientTesting
import Outbox
import OutboxCore
import Testing

/// Items whose attempt has failed, while the session waits before it repeats it.
@Suite(.timeLimit(.minutes(5))) struct WaitingAttemptTests {
    private let network = ScriptedMonitor(.wifi)

    private func open(_ lab: OutboxLab) async throws -> Outbox {
        let configuration = HTTPConfiguration(proxy: .direct, retry: .standard, connectivity: network)
        return try await Outbox(
            at: lab.path,
            session: HTTPSession(configuration: configuration),
            configuration: .init(minimumFreeSpace: 0)
        )
    }

    /// Waits until the outbox holds an item as one that waits, after its first attempt.
    private func waitUntilReturned(_ outbox: Outbox) async throws {
        while try await outbox.items().first?.state != .waiting { try await Task.sleep(for: .milliseconds(2)) }
    }

    private func firstSent(_ outbox: Outbox) async throws -> Int64? {
        try await outbox.storage.store.read { database in
            try database.first("SELECT first_sent FROM item") { $0.optionalInteger(0) } ?? nil
        }
    }

    /// A server that is too busy is asked again in less than the shortest pause of a lane, by the session.
    @Test(arguments: [("503 Service Unavailable", false), ("502 Bad Gateway", true)])
    func `an item can be cancelled while the session waits to send it again`(
        status: String,
        mayBeProcessed: Bool
    ) async throws {
        let attempts = Observed(0)
        let lab = try OutboxLab { _ in
            attempts.update { $0 += 1 }
            return [.response(status: status, headers: ["Retry-After: 25"])]
        }
        let outbox = try await open(lab)
        let id = try await lab.lane(outbox).put("a", .text("x"))
        try await attempts.wait(for: "the first attempt") { $0 > 0 }
        try await waitUntilReturned(outbox)
        #expect((try await firstSent(outbox) != nil) == mayBeProcessed)
        try await outbox.cancel(id)
        let outcome = try #require(await outbox.next(1).first)
        #expect(outcome.end == .cancelled)
        // The session had not given up.
        #expect(attempts.value < RetryPolicy.standard.maximumAttempts)
        await outbox.shutdown()
    }

    @Test func `an item that waits for a path after an attempt that sent nothing counts as not sent`() async throws {
        let attempts = Observed(0)
        let lab = try OutboxLab { [network] _ in
            attempts.update { $0 += 1 }
            network.status = .notReachable
            return [.send("HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")]
        }
        let outbox = try await open(lab)
        try await lab.lane(outbox).post("a", .text("x"), options: .init(key: .none))
        try await attempts.wait(for: "the redirect") { $0 == 1 }
        try await waitUntilReturned(outbox)
        #expect(try await firstSent(outbox) == nil)
        await outbox.shutdown()
    }

    @Test func `a server's longer delay pauses the lane, although the session may repeat the request`() async throws {
        let lab = try OutboxLab { _ in [.response(status: "429 Too Many Requests", headers: ["Retry-After: 3600"])] }
        let outbox = try await open(lab)
        try await lab.lane(outbox).post("a", .text("x"), options: .init(key: .none))
        while try await outbox.storage.lanes().first?.pause?.retryAfterEnd == nil {
            try await Task.sleep(for: .milliseconds(2))
        }
        try await waitUntilReturned(outbox)
        #expect(lab.server.requests.value.count == 1)
        await outbox.shutdown()
    }
}
