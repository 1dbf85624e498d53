import DurableStore

/// The batches, whose composition and key are stored before they are sent.
enum BatchTable {
    /// Stores a new batch with a key.
    ///
    /// - Parameters:
    ///   - items: The items of the batch, of one lane; they become as if they had not been sent.
    ///   - database: The database, in a transaction that writes.
    /// - Returns: The batch.
    /// - Throws: ``StoreError``.
    @discardableResult
    static func make(of items: some Collection<StoredItem>, _ database: Database) throws(StoreError) -> Parcel {
        let parcel = Parcel(newBatch: Array(items), key: OutboxToken.key())
        try database.run(
            "INSERT INTO batch (lane, key, digest) VALUES (?, ?, ?)",
            .integer(parcel.items[0].lane),
            .init(parcel.key),
            .init(parcel.digest)
        )
        let id = database.lastIdentifier
        for item in items { try move(item, to: id, database) }
        return parcel.stored(as: id)
    }

    private static func move(_ item: StoredItem, to batch: Int64?, _ database: Database) throws(StoreError) {
        try database.run(
            "UPDATE item SET batch = ?, state = 0, first_sent = NULL, sent_check = NULL WHERE id = ?",
            .init(batch),
            .integer(item.id)
        )
    }

    /// Takes the items out of a batch that can't be sent as it was composed, and removes it.
    static func dissolve(_ batch: Int64, _ items: [StoredItem], _ database: Database) throws(StoreError) {
        for item in items { try move(item, to: nil, database) }
        try database.run("DELETE FROM batch WHERE id = ?", .integer(batch))
    }

    /// Returns the items of a batch, in order.
    static func items(of batch: Int64, _ database: Database) throws(StoreError) -> [StoredItem] {
        try database.query("SELECT \(StoredItem.columns) FROM item WHERE batch = ? ORDER BY id", .integer(batch)) {
            StoredItem($0)
        }
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

    /// Takes items out of a batch that was not sent yet, and gives the batch a new key.
    static func remove(_ ids: [Int64], from batch: Int64, _ database: Database) throws(StoreError) {
        for id in ids { try database.run("UPDATE item SET batch = NULL WHERE id = ?", .integer(id)) }
        let rest = Parcel(newBatch: try items(of: batch, database), key: OutboxToken.key())
        try database.run(
            "UPDATE batch SET key = ?, digest = ? WHERE id = ?",
            .init(rest.key),
            .init(rest.digest),
            .integer(batch)
        )
        try removeEmpty(database)
    }

    /// Takes those of some items out of their batches whose batch was not sent yet.
    static func removeUnsent(_ ids: [Int64], _ database: Database) throws(StoreError) {
        var batches: [Int64: [Int64]] = [:]
        for id in ids {
            let batch = try database.first(
                "SELECT batch FROM item WHERE id = ? AND state != 1 AND first_sent IS NULL AND batch IS NOT NULL",
                .integer(id)
            ) { $0.integer(0) }
            if let batch { batches[batch, default: []].append(id) }
        }
        for (batch, ids) in batches { try remove(ids, from: batch, database) }
    }

    /// Replaces a batch that was rejected as a whole by smaller ones, with keys of their own.
    static func divide(_ parcel: Parcel, _ sizes: [Int], _ database: Database) throws(StoreError) {
        var rest = parcel.items[...]
        for size in sizes {
            try make(of: rest.prefix(size), database)
            rest = rest.dropFirst(size)
        }
        try database.run("DELETE FROM batch WHERE id = ?", .init(parcel.batch))
    }
}
