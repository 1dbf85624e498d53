import DurableStore
import OutboxCore

/// The admission of new items: by their keys, and by the limits of the outbox.
struct ItemAdmission: Sendable {
    let bounds: BoxBounds
    /// The folder of the outbox.
    let folder: String
    let ending: ItemEnding
    /// The bytes that are taken from the free space before the item is stored: those of a copy of its body.
    var reserved: Int64 = 0

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
        let (dropped, limit) = try itemsToDrop(for: item.size, importance, database)
        if let limit { return limit }
        let reason = "the outbox is full: newer items took its place"
        for id in dropped { files += try ending.end(id, .dropped, reading, reason: reason, database) }
        return nil
    }

    /// Returns the limit by which an item is refused before its body is copied; nil if it may fit.
    func refusal(
        of size: Int64,
        _ importance: LaneClass,
        _ database: Database
    ) throws(StoreError) -> Admission.Limit? {
        try itemsToDrop(for: size, importance, database).limit
    }

    /// Returns the items of bulk lanes without which an item fits, or the limit that is reached without all of them.
    private func itemsToDrop(
        for size: Int64,
        _ importance: LaneClass,
        _ database: Database
    ) throws(StoreError) -> (items: [Int64], limit: Admission.Limit?) {
        var usage = try usage(database)
        // A full outbox may have many bulk items: that they are not enough is mostly known without reading them.
        let bulk = try BoxContext.of(database).usage(of: .bulk, database)
        let rest = usage.without(items: Int(bulk.items), bytes: bulk.bytes)
        if case .refused(let limit) = bounds.admission(of: size, importance, rest, hasBulkItems: false) {
            return ([], limit)
        }
        var items: [Int64] = []
        while true {
            switch bounds.admission(of: size, importance, usage, hasBulkItems: true) {
            case .accepted: return (items, nil)
            case .refused(let limit): return ([], limit)
            case .dropsOldest(let limit):
                guard let oldest = try Self.oldestBulkItem(after: items.last ?? 0, database) else { return ([], limit) }
                items.append(oldest.id)
                usage = usage.without(items: 1, bytes: oldest.size)
            }
        }
    }

    private func usage(_ database: Database) throws(StoreError) -> BoxUsage {
        let context = BoxContext.of(database)
        let (items, bytes) = try context.usage(database)
        return .init(items: Int(items), bytes: bytes, freeSpace: context.freeSpace(of: folder) - reserved)
    }

    /// Returns the oldest item behind another that may be dropped.
    private static func oldestBulkItem(
        after id: Int64,
        _ database: Database
    ) throws(StoreError) -> (id: Int64, size: Int64)? {
        var oldest: (id: Int64, size: Int64)?
        for lane in try database.query("SELECT id FROM lane WHERE class = 0", row: { $0.integer(0) }) {
            let found = try database.first(
                """
                SELECT id, size FROM item
                WHERE lane = ? AND id > ? AND state = 0 AND batch IS NULL AND first_sent IS NULL
                ORDER BY id LIMIT 1
                """,
                .integer(lane),
                .integer(id)
            ) { (id: $0.integer(0), size: $0.integer(1)) }
            if let found, found.id < oldest?.id ?? .max { oldest = found }
        }
        return oldest
    }
}
