import DurableStore
import OutboxCore

/// The admission of new items: by their keys, and by the limits of the outbox.
struct ItemAdmission: Sendable {
    /// The folder of the outbox.
    let folder: String
    let ending: ItemEnding

    /// Returns the item that has the key of a new one.
    ///
    /// - Parameters:
    ///   - item: The new item.
    ///   - digest: A further digest by which it is the same request: that of the outbox that an archive is from.
    ///   - database: The database.
    /// - Returns: The item, and whether it is the same request; nil if there is none.
    /// - Throws: ``StoreError`` if it can't be read.
    static func existing(
        _ item: StoredItem,
        orDigest digest: [UInt8]? = nil,
        _ database: Database
    ) throws -> BoxStorage.Addition? {
        guard let key = item.key, !item.hasNewKey else { return nil }
        for table in ["item", "outcome"] {
            let found = try database.first(
                "SELECT id, digest FROM \(table) WHERE lane = ? AND key = ?",
                .integer(item.lane),
                .text(key)
            ) { (id: $0.integer(0), digest: $0.blob(1)) }
            guard let found else { continue }
            let isSame = item.hasDigest(found.digest) || digest != nil && digest == found.digest
            return isSame ? .existing(found.id) : .keyInUse(found.id)
        }
        return nil
    }

    /// Drops items of bulk lanes until an item fits, or none if it would not fit without all of them.
    ///
    /// - Returns: The limit that is reached; nil if it fits.
    func makeRoom(
        for item: StoredItem,
        _ importance: LaneClass,
        _ reading: ClockReading,
        _ database: Database,
        removing files: inout [String]
    ) throws -> Admission.Limit? {
        // A file of the outbox has taken its space before, and one elsewhere takes none.
        let space: Int64 = if case .bytes = item.body { item.size } else { 0 }
        let (dropped, limit) = try itemsToDrop(for: item.size, taking: space, importance, database)
        if let limit { return limit }
        let reason = "the outbox is full: newer items took its place"
        for item in dropped {
            files += try ending.end(item.id, .dropped, reading, reason: reason, database)
            // The files are removed after the transaction, whose further items have their space too.
            BoxContext.of(database).changeFreeSpace(by: item.freed)
        }
        BoxContext.of(database).changeFreeSpace(by: -space)
        return nil
    }

    /// Returns the limit by which an item is refused before its body is copied; nil if it may fit.
    func refusal(
        of size: Int64,
        _ importance: LaneClass,
        _ database: Database
    ) throws(StoreError) -> Admission.Limit? {
        try itemsToDrop(for: size, taking: size, importance, database).limit
    }

    /// An item that may be dropped.
    private struct Candidate {
        let id: Int64
        let size: Int64
        /// The size of its file, whose space the file system gets back; 0 without one.
        let freed: Int64

        init(_ row: borrowing Row) {
            (id, size) = (row.integer(0), StoredItem.size(row, 1))
            freed = row.optionalInteger(2) == 0 ? size : 0
        }
    }

    /// Returns the items of bulk lanes without which an item fits, or the limit that is reached without all of them.
    ///
    /// - Parameters:
    ///   - size: The size of the item's body.
    ///   - space: The bytes of the body that are not on disk yet.
    ///   - importance: The class of the item's lane.
    ///   - database: The database.
    /// - Returns: The items, and the limit.
    /// - Throws: ``StoreError``.
    private func itemsToDrop(
        for size: Int64,
        taking space: Int64,
        _ importance: LaneClass,
        _ database: Database
    ) throws(StoreError) -> (items: [Candidate], limit: Admission.Limit?) {
        let bounds = try LimitTable.limits(database).bounds
        var usage = try usage(for: size, taking: space, bounds, database)
        // A full outbox may have many bulk items: that they are not enough is mostly known without reading them.
        let bulk = try BoxContext.of(database).usage(of: .bulk, database)
        let rest = usage.without(items: Int(bulk.items), bytes: bulk.bytes, freeing: bulk.bytes)
        if case .refused(let limit) = bounds.admission(of: size, importance, rest, hasBulkItems: false) {
            return ([], limit)
        }
        var (items, files): ([Candidate], ArraySlice<Candidate>?) = ([], nil)
        while true {
            switch bounds.admission(of: size, importance, usage, hasBulkItems: true) {
            case .accepted: return (items, nil)
            case .refused(let limit): return ([], limit)
            case .dropsOldest(let limit):
                let last = items.last?.id ?? 0
                if limit == .freeSpace, files == nil { files = try Self.bulkFiles(after: last, database)[...] }
                let oldest = try files == nil ? Self.oldestBulkItem(after: last, database) : files?.popFirst()
                guard let oldest else { return ([], limit) }
                items.append(oldest)
                usage = usage.without(items: 1, bytes: oldest.size, freeing: oldest.freed)
            }
        }
    }

    private func usage(
        for size: Int64,
        taking space: Int64,
        _ bounds: BoxBounds,
        _ database: Database
    ) throws(StoreError) -> BoxUsage {
        let context = BoxContext.of(database)
        let (items, bytes) = try context.usage(database)
        var usage = BoxUsage(
            items: Int(items),
            bytes: bytes,
            // The bounds take all of the size from it.
            freeSpace: context.freeSpace(of: folder).addingClamped(size - space)
        )
        if usage.freeSpace.subtractingClamped(size) < bounds.freeSpace, try fitsIntoFreePages(size, database) {
            usage.freeSpace = bounds.freeSpace.addingClamped(size)
        }
        return usage
    }

    /// The bytes of a row besides its body, and of its part of the indices.
    private static let rowSize: Int64 = 32 << 10

    /// Returns whether the database has free pages for an item: its file does not shrink when rows are removed.
    private func fitsIntoFreePages(_ size: Int64, _ database: Database) throws(StoreError) -> Bool {
        guard size <= Int64(Spool.largestInlineBody) else { return false }
        return try database.freePageBytes >= size + Self.rowSize
    }

    /// The condition under which an item may be dropped.
    private static let mayBeDropped = "state = 0 AND batch IS NULL AND first_sent IS NULL"

    /// Returns the oldest item behind another that may be dropped.
    private static func oldestBulkItem(after id: Int64, _ database: Database) throws(StoreError) -> Candidate? {
        var oldest: Candidate?
        for lane in try database.query("SELECT id FROM lane WHERE class = 0", row: { $0.integer(0) }) {
            let found = try database.first(
                """
                SELECT id, size, file_kind FROM item WHERE lane = ? AND id > ? AND \(mayBeDropped)
                ORDER BY id LIMIT 1
                """,
                .integer(lane),
                .integer(id)
            ) { Candidate($0) }
            if let found, found.id < oldest?.id ?? .max { oldest = found }
        }
        return oldest
    }

    /// Returns the items behind another that may be dropped and whose bodies are files of the outbox, in order.
    private static func bulkFiles(after id: Int64, _ database: Database) throws(StoreError) -> [Candidate] {
        // Items with files are few, as these are large: any other index leads to many more rows.
        try database.query(
            """
            SELECT id, size, file_kind FROM item INDEXED BY item_file
            WHERE file IS NOT NULL AND file_kind = 0 AND lane IN (SELECT id FROM lane WHERE class = 0) AND id > ?
                AND \(mayBeDropped)
            ORDER BY id
            """,
            .integer(id)
        ) { Candidate($0) }
    }
}
