import DurableStore
import HTTPLab
import NetworkLab
import Outbox
import Testing

/// Rows that can't be stored, or not as they are: they hold back nothing else.
@Suite(.timeLimit(.minutes(5))) struct FailedTransactionTests {
    private let lab: OutboxLab

    init() throws { lab = try OutboxLab() }

    /// Makes the method of an item NULL, which its column does not allow.
    private func loseMethod(of id: Int64) throws {
        let path = "\(lab.path)/outbox.db"
        try Database(at: path).execute(
            """
            PRAGMA writable_schema = ON;
            UPDATE sqlite_schema SET sql = replace(sql, 'method TEXT NOT NULL', 'method TEXT') WHERE name = 'item';
            """
        )
        try Database(at: path).run("UPDATE item SET method = NULL WHERE id = ?", .integer(id))
    }

    @Test func `an item of which a column is lost ends as damaged`() async throws {
        let adding = try await lab.open(OutboxLab.addsOnly)
        for reference in ["lost", "there"] { try await lab.lane(adding).post(reference) }
        await adding.shutdown()
        try loseMethod(of: 1)
        let outbox = try await lab.open()
        let ends = try await outbox.next(2).map { "\($0.id) \($0.end)" }
        #expect(ends.sorted() == ["1 damaged", "2 delivered"])
        await outbox.shutdown()
    }

    /// Has the insertion of rows into a table fail.
    private func refuseRows(of table: String, when condition: String = "1", in outbox: Outbox) async throws {
        try await outbox.storage.store.write {
            try $0.execute(
                """
                CREATE TRIGGER refusal BEFORE INSERT ON \(table) WHEN \(condition)
                BEGIN SELECT RAISE(ABORT, 'refused'); END
                """
            )
        }
    }

    private func allowRows(in outbox: Outbox) async throws {
        try await outbox.storage.store.write { try $0.execute("DROP TRIGGER refusal") }
    }

    @Test func `an end that can't be stored holds back no other`() async throws {
        let outbox = try await lab.open()
        try await refuseRows(of: "outcome", when: "new.id = 1", in: outbox)
        try await lab.lane(outbox).post("a")
        while outbox.lastError == nil { try await Task.sleep(for: .milliseconds(2)) }
        try await lab.lane(outbox).post("b")
        #expect(try await outbox.next(1).map(\.reference) == ["b"])
        try await allowRows(in: outbox)
        #expect(try await outbox.next(1).map(\.reference) == ["a"])
        #expect(lab.server.requests.value.count == 2)
        await outbox.shutdown()
    }

    @Test func `a batch that can't be stored holds back no other lane`() async throws {
        let adding = try await lab.open(OutboxLab.addsOnly)
        try await refuseRows(of: "batch", in: adding)
        let options = LaneOptions(batch: .ndjson(items: 1, linger: .zero), priority: 1)
        try await adding.lane("first", to: lab.server.url, options).post("a", .text("1"))
        try await lab.lane(adding).post("b")
        await adding.shutdown()
        let outbox = try await lab.open()
        #expect(try await outbox.next(1).map(\.reference) == ["b"])
        try await allowRows(in: outbox)
        #expect(try await outbox.next(1).map(\.reference) == ["a"])
        await outbox.shutdown()
    }
}
