import DurableStore

/// The batches, whose composition and key are stored before they are sent.
enum BatchTable {
    /// Stores a new batch with a key.
    static func make(lane: Int64, _ database: Database) throws(StoreError) -> (id: Int64, key: String) {
        let key = OutboxToken.random()
        try database.run("INSERT INTO batch (lane, key) VALUES (?, ?)", .integer(lane), .text(key))
        return (database.lastIdentifier, key)
    }

    /// Removes the batches whose items have all ended.
    static func removeEmpty(_ database: Database) throws(StoreError) {
        try database.run("DELETE FROM batch WHERE id NOT IN (SELECT batch FROM item WHERE batch IS NOT NULL)")
    }

    /// Takes the items out of their batches that contribute no line: earlier versions composed such batches.
    static func removeWithoutLines(_ database: Database) throws(StoreError) {
        try database.run("UPDATE item SET batch = NULL WHERE batch IS NOT NULL AND (body IS NULL OR file IS NOT NULL)")
        try removeEmpty(database)
    }

    /// Takes an item out of a batch that was not sent yet, and gives the batch a new key.
    static func remove(_ id: Int64, from batch: Int64, _ database: Database) throws(StoreError) {
        try database.run("UPDATE item SET batch = NULL WHERE id = ?", .integer(id))
        try database.run("UPDATE batch SET key = ? WHERE id = ?", .text(OutboxToken.random()), .integer(batch))
        try removeEmpty(database)
    }

    /// Replaces a batch that was rejected as a whole by smaller ones, with keys of their own.
    static func divide(_ parcel: Parcel, _ sizes: [Int], _ database: Database) throws(StoreError) {
        var rest = parcel.items[...]
        for size in sizes {
            let batch = try make(lane: parcel.items[0].lane, database)
            for item in rest.prefix(size) {
                try database.run(
                    "UPDATE item SET batch = ?, state = 0, first_sent = NULL, sent_check = NULL WHERE id = ?",
                    .integer(batch.id),
                    .integer(item.id)
                )
            }
            rest = rest.dropFirst(size)
        }
        try database.run("DELETE FROM batch WHERE id = ?", .init(parcel.batch))
    }
}
