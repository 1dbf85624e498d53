import HTTPLab
import NetworkClient
import NetworkClientTesting
import NetworkLab
import Outbox
import Testing

/// The end of sending while there is no network.
@Suite(.timeLimit(.minutes(5))) struct ShutdownTests {
    private let network = ScriptedMonitor(.wifi)

    private func open(_ lab: OutboxLab) async throws -> Outbox {
        let retry = RetryPolicy(maximumAttempts: 50, baseDelay: .milliseconds(1))
        let configuration = HTTPConfiguration(proxy: .direct, retry: retry, connectivity: network)
        return try await Outbox(
            at: lab.path,
            session: HTTPSession(configuration: configuration),
            configuration: .init(minimumFreeSpace: 0)
        )
    }

    /// Has another outbox deliver an item once there is a path.
    private func expectDelivery(of id: OutboxItem.ID, from lab: OutboxLab) async throws {
        network.status = .wifi
        let next = try await open(lab)
        #expect(try await next.next(1).map { "\($0.id) \($0.end)" } == ["\(id) delivered"])
        await next.shutdown()
    }

    @Test func `an outbox is closed while an item waits for a path, and the next one sends it`() async throws {
        network.status = .notReachable
        let lab = try OutboxLab()
        let outbox = try await open(lab)
        let id = try await lab.lane(outbox).post("a", .text("x"), options: .init(key: .none))
        try await network.waitUntilWatched()
        await outbox.shutdown()
        try await expectDelivery(of: id, from: lab)
        #expect(lab.server.requests.value.count == 1)
    }

    @Test func `an outbox is closed while an item waits for a path to where it was redirected`() async throws {
        let attempts = Observed(0)
        let lab = try OutboxLab { [network] _ in
            attempts.update { $0 += 1 }
            if attempts.value > 1 { return [.response("done")] }
            network.status = .notReachable
            return [.send("HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n")]
        }
        let outbox = try await open(lab)
        let id = try await lab.lane(outbox).put("a", .text("x"))
        try await attempts.wait(for: "the first attempt") { $0 == 1 }
        try await network.waitUntilWatched()
        await outbox.shutdown()
        try await expectDelivery(of: id, from: lab)
        #expect(attempts.value == 2)
    }

    @Test func `an outbox is closed while an item waits for a path after a failed attempt`() async throws {
        let attempts = Observed(0)
        let lab = try OutboxLab { [network] _ in
            attempts.update { $0 += 1 }
            if attempts.value > 1 { return [.response("done")] }
            network.status = .notReachable
            return [.reset]
        }
        let outbox = try await open(lab)
        let id = try await lab.lane(outbox).put("a", .text("x"))
        try await attempts.wait(for: "the first attempt") { $0 == 1 }
        await outbox.shutdown()
        try await expectDelivery(of: id, from: lab)
        #expect(attempts.value == 2)
    }
}
