import DurableStore
import HTTPLab
import NetworkClient
import NetworkClientTesting
import NetworkLab
import Outbox
import Testing

/// The lifetimes of items that are in a batch.
@Suite(.timeLimit(.minutes(5))) struct BatchLifetimeTests {
    private let network = ScriptedMonitor(.wifi)
    private let clock = LabClock()

    /// Adds two items to a lane that sends batches of two; the first one lives for ten seconds.
    private func add(to lab: OutboxLab) async throws {
        let adding = try await lab.open(clock, sends: false)
        let lane = lab.lane(adding, .init(batch: .ndjson(items: 2, linger: .zero)))
        try await lane.post("a", .text("1"), options: .init(lifetime: .seconds(10)))
        try await lane.post("a", .text("2"))
        await adding.shutdown()
    }

    private func open(_ lab: OutboxLab) async throws -> Outbox {
        let configuration = HTTPConfiguration(timeouts: OutboxLab.patient, proxy: .direct, connectivity: network)
        let session = try HTTPSession(configuration: configuration)
        return try await Outbox(at: lab.path, session, .init(minimumFreeSpace: 0), clock: clock.machine)
    }

    /// Adds two items, and opens an outbox that has composed them while there was no path.
    private func composed(_ lab: OutboxLab) async throws -> Outbox {
        network.status = .notReachable
        try await add(to: lab)
        let outbox = try await open(lab)
        while try await batches(of: outbox) == 0 { try await Task.sleep(for: .milliseconds(2)) }
        return outbox
    }

    private func batches(of outbox: Outbox) async throws -> Int {
        try await outbox.storage.store.read { database in
            try database.first("SELECT count(*) FROM batch") { Int($0.integer(0)) } ?? 0
        }
    }

    private func bodies(_ lab: OutboxLab) -> [String] {
        lab.server.requests.value.map { String(decoding: $0.body, as: UTF8.self) }
    }

    @Test func `an item whose lifetime ends while its batch waits for a path leaves the batch`() async throws {
        let lab = try OutboxLab()
        let outbox = try await composed(lab)
        clock.advance(by: .seconds(11))
        try await outbox.wake()
        let first = try await outbox.next(1).map { "\($0.id) \($0.end)" }
        #expect(first == ["1 expired"])
        network.status = .wifi
        let second = try await outbox.next(1).map { "\($0.id) \($0.end)" }
        #expect(second == ["2 delivered"])
        #expect(bodies(lab) == ["2\n"])
        await outbox.shutdown()
    }

    @Test func `an item whose lifetime has ended is not sent with a batch that an earlier process composed`()
        async throws
    {
        let lab = try OutboxLab()
        let first = try await composed(lab)
        await first.shutdown()
        clock.advance(by: .seconds(11))
        network.status = .wifi
        let outbox = try await open(lab)
        let ends = try await outbox.next(2).map { "\($0.id) \($0.end)" }
        #expect(ends == ["1 expired", "2 delivered"])
        #expect(bodies(lab) == ["2\n"])
        #expect(try await batches(of: outbox) == 0)
        await outbox.shutdown()
    }

    @Test func `a batch whose items have all expired is removed`() async throws {
        let lab = try OutboxLab()
        let first = try await composed(lab)
        await first.shutdown()
        clock.advance(by: .seconds(8 * 86_400))
        network.status = .wifi
        let outbox = try await open(lab)
        let ends = try await outbox.next(2).map(\.end)
        #expect(ends == [.expired, .expired])
        #expect(try await batches(of: outbox) == 0)
        #expect(bodies(lab) == [])
        await outbox.shutdown()
    }

    @Test func `a batch that may have been processed keeps its items although their lifetime ends`() async throws {
        let isReached = Observed(false)
        let lab = try OutboxLab { _ in isReached.value ? [.response("done")] : [.reset] }
        try await add(to: lab)
        let outbox = try await open(lab)
        while try await outbox.storage.lanes().first?.pause == nil { try await Task.sleep(for: .milliseconds(2)) }
        isReached.update { $0 = true }
        clock.advance(by: .seconds(3_700))
        try await outbox.wake()
        let ends = try await outbox.next(2).map(\.end)
        #expect(ends == [.delivered, .delivered])
        #expect(Set(bodies(lab)) == ["1\n2\n"])
        await outbox.shutdown()
    }
}
