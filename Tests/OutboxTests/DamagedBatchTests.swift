import DurableStore
import Foundation
import HTTPLab
import NetworkLab
import Outbox
import Testing

/// A batch is sent with the bytes and the key with which it was composed, or not at all.
@Suite(.timeLimit(.minutes(15))) struct DamagedBatchTests {
    private let isReached = Observed(false)
    private let lab: OutboxLab
    private let clock = LabClock()

    init() throws {
        let isReached = isReached
        // An attempt whose response is lost may have been processed.
        lab = try OutboxLab { _ in isReached.value ? [.response("done")] : [.reset] }
    }

    /// Adds four items, which are sent once, as one batch.
    private func composed(isRepeatable: Bool = false) async throws {
        let adding = try await lab.open(clock, sends: false)
        let options = LaneOptions(batch: .ndjson(items: 4, linger: .zero), isRepeatable: isRepeatable)
        for number in 1...4 { try await lab.lane(adding, options).post("a", .text("\(number)")) }
        await adding.shutdown()
        let sending = try await lab.open(clock)
        while try await sending.storage.lanes().first?.pause == nil { try await Task.sleep(for: .milliseconds(2)) }
        await sending.shutdown()
    }

    /// Changes the database, and sends what is left.
    ///
    /// - Returns: The ends of items by identifier, and the bodies that were requested then.
    private func ends(_ count: Int, after change: String) async throws -> (ends: [String], bodies: [String]) {
        let changing = try await lab.open(clock, sends: false)
        try await changing.storage.store.write { try $0.run(change) }
        await changing.shutdown()
        let before = lab.server.requests.value.count
        isReached.update { $0 = true }
        clock.advance(by: .seconds(3_700))
        let outbox = try await lab.open(clock)
        let ends = try await outbox.next(count).map { "\($0.id) \($0.end)" }
        await outbox.shutdown()
        let requests = lab.server.requests.value.dropFirst(before)
        return (ends.sorted(), requests.map { String(decoding: $0.body, as: UTF8.self) })
    }

    @Test func `the others of a batch that may have been processed are uncertain if one of its items is damaged`()
        async throws
    {
        try await composed()
        let (ends, bodies) = try await ends(4, after: "UPDATE item SET body = 'y' WHERE id = 2")
        #expect(ends == ["1 uncertain", "2 damaged", "3 uncertain", "4 uncertain"])
        #expect(bodies.isEmpty)
    }

    @Test(arguments: [
        "DELETE FROM item WHERE id = 2", "UPDATE batch SET key = 'k'", "UPDATE item SET batch = NULL WHERE id = 4",
    ])
    func `a batch that is not as it was composed is not resent under its key`(change: String) async throws {
        try await composed()
        let count = change.contains("DELETE") ? 3 : 4
        let (ends, bodies) = try await ends(count, after: change)
        #expect(ends.filter { $0.hasSuffix("uncertain") }.count >= 3, "\(ends)")
        #expect(!bodies.contains { $0.contains("1") }, "\(bodies)")
    }

    @Test func `the others of a damaged batch are sent again in a repeatable lane, under other keys`() async throws {
        try await composed(isRepeatable: true)
        let first = lab.server.requests.value.compactMap { $0["Idempotency-Key"] }
        let (ends, bodies) = try await ends(4, after: "UPDATE item SET body = 'y' WHERE id = 2")
        #expect(ends == ["1 delivered", "2 damaged", "3 delivered", "4 delivered"])
        #expect(bodies == ["1\n3\n4\n"])
        let last = try #require(lab.server.requests.value.last?["Idempotency-Key"])
        #expect(!first.contains(last))
    }

    @Test func `a batch that was composed and not sent is composed again without its damaged item`() async throws {
        try await composed()
        let unsent = "UPDATE item SET first_sent = NULL, sent_check = NULL"
        let change = "\(unsent), body = CASE id WHEN 2 THEN 'y' ELSE body END"
        let (ends, bodies) = try await ends(4, after: change)
        #expect(ends == ["1 delivered", "2 damaged", "3 delivered", "4 delivered"])
        #expect(bodies == ["1\n3\n4\n"])
    }
}
