import DurableStore
import OutboxCore

/// The end of items: the item and its outcome are exchanged in one transaction.
struct ItemEnding: Sendable {
    let spool: Spool

    /// Moves an item to the outcomes, within a transaction.
    ///
    /// - Returns: The paths of the files to remove after the transaction; none if the item has ended already.
    @discardableResult
    func end(
        _ id: Int64,
        _ end: ItemEnd,
        _ reading: ClockReading,
        reason: String,
        _ database: Database
    ) throws(StoreError) -> [String] {
        let item = try database.first(
            "SELECT file, file_kind, file_check, lane, size FROM item WHERE id = ?",
            .integer(id)
        ) { (files: files(of: $0), lane: $0.integer(3), size: StoredItem.size($0, 4)) }
        guard let item else { return [] }
        return try move(id, end, reading, nil, reason, item, database)
    }

    /// Moves an item that was read before to the outcomes, within a transaction, without reading its row again.
    func end(
        _ item: StoredItem,
        _ end: ItemEnd,
        _ reading: ClockReading,
        _ response: StoredResponse?,
        reason: String,
        _ database: Database
    ) throws(StoreError) -> [String] {
        try move(item.id, end, reading, response, reason, (files(of: item.body), item.lane, item.size), database)
    }

    private func move(
        _ id: Int64,
        _ end: ItemEnd,
        _ reading: ClockReading,
        _ response: StoredResponse?,
        _ reason: String,
        _ item: (files: [String], lane: Int64, size: Int64),
        _ database: Database
    ) throws(StoreError) -> [String] {
        // A conflict would end the transaction in any case: SQLite needs no copies of pages to undo the statement alone.
        // In a damaged row, any column may be NULL.
        let count = try database.run(
            """
            INSERT OR FAIL INTO outcome (id, lane, end, method, reference, key, digest, user_info, added_wall, ended_wall,
                status, fields, body, reason)
            SELECT id, coalesce(lane, 0), ?, coalesce(method, ''), coalesce(reference, ''), key, digest,
                coalesce(user_info, '{}'), coalesce(added_wall, 0), ?, ?, ?, ?, ?
            FROM item WHERE id = ?
            """,
            .integer(end.rawValue),
            .integer(reading.wall),
            .init(response?.status),
            .init(response?.fields),
            .init(response?.body),
            .text(reason),
            .integer(id)
        )
        if count == 0 { return [] }
        try database.run("DELETE FROM item WHERE id = ?", .integer(id))
        try BoxContext.of(database).ended(item.size, of: item.lane, end, database)
        return item.files
    }

    /// Returns the paths of the files that are removed with an item.
    private func files(of body: StoredItem.Body) -> [String] {
        switch body {
        case .none, .bytes, .referenced: []
        case .spooled(let name, _): [spool.path(name)]
        case .download(let target): target.leftovers
        }
    }

    /// Returns the paths of the files that are removed with an item.
    private func files(of row: borrowing Row) -> [String] {
        switch row.optionalInteger(1) {
        case 0: [spool.path(row.text(0) ?? "")]
        case 2: DownloadTarget(path: row.text(0) ?? "", text: row.text(2) ?? "").leftovers
        default: []
        }
    }
}
