import DurableStore
import OutboxCore

/// The limits of an outbox that programs have set; nil where the default holds.
package struct BoxLimits: Sendable, Hashable {
    /// The maximum number of items.
    package var items: Int?
    /// The maximum size of all bodies in bytes.
    package var bytes: Int64?
    /// The free space in bytes that is left on the file system.
    package var freeSpace: Int64?
    /// The number of unacknowledged outcomes that are kept.
    package var outcomes: Int?

    package init(items: Int? = nil, bytes: Int64? = nil, freeSpace: Int64? = nil, outcomes: Int? = nil) {
        (self.items, self.bytes, self.freeSpace, self.outcomes) = (items, bytes, freeSpace, outcomes)
    }

    /// The limits for items, with the defaults.
    var bounds: BoxBounds {
        var bounds = BoxBounds()
        if let items { bounds.items = items }
        if let bytes { bounds.bytes = bytes }
        if let freeSpace { bounds.freeSpace = freeSpace }
        return bounds
    }

    /// The number of outcomes that are kept, with the default.
    var maximumOutcomes: Int { max(outcomes ?? 100_000, 0) }
}

/// The stored limits: they belong to the outbox, and hold for each process that opens it.
enum LimitTable {
    /// The statement that creates the table.
    static let migration = """
        CREATE TABLE bounds (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            items INTEGER, bytes INTEGER, free_space INTEGER, outcomes INTEGER
        );
        """

    /// Returns the limits, read once per transaction.
    static func limits(_ database: Database) throws(StoreError) -> BoxLimits {
        try BoxContext.of(database).limits { () throws(StoreError) in
            try database.first("SELECT items, bytes, free_space, outcomes FROM bounds") { row in
                BoxLimits(
                    items: row.optionalInteger(0).map { Int($0) },
                    bytes: row.optionalInteger(1),
                    freeSpace: row.optionalInteger(2),
                    outcomes: row.optionalInteger(3).map { Int($0) }
                )
            } ?? .init()
        }
    }

    /// Stores limits; those that are nil stay as they are.
    static func store(_ limits: BoxLimits, _ database: Database) throws(StoreError) {
        try database.run(
            """
            INSERT INTO bounds VALUES (1, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
                items = coalesce(excluded.items, items), bytes = coalesce(excluded.bytes, bytes),
                free_space = coalesce(excluded.free_space, free_space), outcomes = coalesce(excluded.outcomes, outcomes)
            """,
            .init(limits.items),
            .init(limits.bytes),
            .init(limits.freeSpace),
            .init(limits.outcomes)
        )
        BoxContext.of(database).forgetLimits()
    }
}

extension BoxStorage {
    /// Stores limits, for this and all other processes; those that are nil stay as they are.
    package func setLimits(_ limits: BoxLimits) async throws {
        let stored = try await store.read { try LimitTable.limits($0) }
        guard stored.replaced(by: limits) != stored else { return }
        try await store.write(essential: true) { try LimitTable.store(limits, $0) }
    }
}

extension BoxLimits {
    fileprivate func replaced(by other: Self) -> Self {
        .init(
            items: other.items ?? items,
            bytes: other.bytes ?? bytes,
            freeSpace: other.freeSpace ?? freeSpace,
            outcomes: other.outcomes ?? outcomes
        )
    }
}
