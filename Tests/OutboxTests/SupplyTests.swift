import DurableStore
import HTTPLab
import NetworkLab
import OutboxCore
import Testing

@testable import Outbox

/// What the sender and people read from the database.
@Suite(.timeLimit(.minutes(10))) struct SupplyTests {
    private let clock = LabClock()

    @Test(arguments: [(3_600, true, 10), (3, true, 3), (3_600, false, 10), (-5, true, nil)])
    func `the sender looks for an item with a moment when that comes, or after ten seconds`(
        start: Int64,
        isSynchronized: Bool,
        delay: Int64?
    ) async throws {
        let lab = try OutboxLab()
        let outbox = try await lab.open(clock, sends: false)
        let now = Double(clock.machine.read().wall) / 1e9
        let options = ItemOptions(lifetime: nil, notBefore: now + Double(start))
        try await lab.lane(outbox).post("a", options: options)
        clock.setSynchronized(isSynchronized)
        let transactions = SendingTransactions(storage: outbox.storage)
        let lane = try #require(await outbox.storage.lanes().first)
        let supply = try await transactions.supply(of: lane, 8, besides: [], room: nil)
        let time = try await transactions.time()
        #expect(supply.next == delay.map { time.advanced(by: .seconds($0)) })
        #expect(supply.parcels.count == (delay == nil ? 1 : 0))
        await outbox.shutdown()
    }

    @Test func `each lane is listed with the items that it holds, and a paused lane without reading them`() async throws
    {
        let lab = try OutboxLab()
        let outbox = try await lab.open(clock, sends: false)
        for name in ["empty", "one", "two"] { try await outbox.lane(name, to: lab.server.url).update() }
        try await outbox.lane("one", to: lab.server.url).post("a", .text("12345"))
        let held = try await outbox.lane("two", to: lab.server.url).post("a", .text("1"))
        clock.advance(by: .seconds(60))
        try await outbox.lane("two", to: lab.server.url).post("a", .text("12"))
        try await outbox.hold(held)
        try await outbox.storage.setPaused(true, lane: "two")
        let reading = clock.machine.read()
        let (all, paused) = try await outbox.storage.store.read { database in
            (try BoxStorage.summaries(database, at: reading), try BoxStorage.pausedLanes(database, at: reading))
        }
        #expect(all.map(\.lane.name) == ["empty", "one", "two"])
        #expect(all.map(\.items) == [0, 1, 2] && all.map(\.held) == [0, 0, 1] && all.map(\.bytes) == [0, 5, 3])
        #expect(all.map(\.age) == [nil, .seconds(60), .seconds(60)])
        #expect(paused.map(\.lane.name) == ["two"])
        await outbox.shutdown()
    }
}
