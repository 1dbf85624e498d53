import DurableStore
import OutboxCore

/// The identities of imported items, by which they are added once.
enum OriginTable {
    /// The statements that create the table.
    static let migration = """
        CREATE TABLE origin (id TEXT NOT NULL UNIQUE, item INTEGER NOT NULL, added INTEGER NOT NULL);
        CREATE INDEX origin_item ON origin (item);
        """

    /// The time for which the identity of an item that has ended is kept.
    private static let lifetime = Duration.seconds(90 * 86_400)

    /// Records an identity, and forgets old ones.
    static func record(_ origin: String, of item: Int64, at now: BoxTime, _ database: Database) throws(StoreError) {
        try database.run(
            "INSERT INTO origin VALUES (?, ?, ?)",
            .text(origin),
            .integer(item),
            .integer(now.nanoseconds)
        )
        // Rarely: it looks at all of them.
        guard item % 1_024 == 0 else { return }
        try database.run(
            "DELETE FROM origin WHERE added < ? AND item NOT IN (SELECT id FROM item)",
            .integer(now.advanced(by: .zero - lifetime).nanoseconds)
        )
    }
}
