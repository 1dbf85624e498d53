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

    /// Drops items of bulk lanes until an item fits.
    ///
    /// - Returns: The limit that is reached; nil if it fits.
    func makeRoom(
        for item: StoredItem,
        _ importance: LaneClass,
        _ reading: ClockReading,
        _ database: Database,
        removing files: inout [String]
    ) throws -> Admission.Limit? {
        var freed: Int64 = 0
        while true {
            let usage = try usage(database, freed: freed)
            let limit: Admission.Limit
            switch bounds.admission(of: item.size, importance, usage, hasBulkItems: true) {
            case .accepted: return nil
            case .refused(let reached): return reached
            case .dropsOldest(let reached): limit = reached
            }
            guard let oldest = try Self.oldestBulkItem(database) else { return limit }
            let reason = "the outbox is full: newer items took its place"
            files += try ending.end(oldest.id, .dropped, reading, reason: reason, database)
            freed += oldest.size
        }
    }

    /// Returns the limit by which an item is refused before its body is copied; nil if it may fit.
    func refusal(
        of size: Int64,
        _ importance: LaneClass,
        _ database: Database
    ) throws(StoreError) -> Admission.Limit? {
        let usage = try usage(database)
        let hasBulkItems = try Self.oldestBulkItem(database) != nil
        let admission = bounds.admission(of: size, importance, usage, hasBulkItems: hasBulkItems)
        if case .refused(let limit) = admission { return limit }
        return nil
    }

    private func usage(_ database: Database, freed: Int64 = 0) throws(StoreError) -> BoxUsage {
        let context = BoxContext.of(database)
        let (items, bytes) = try context.usage(database)
        return .init(items: Int(items), bytes: bytes, freeSpace: context.freeSpace(of: folder) - reserved + freed)
    }

    private static func oldestBulkItem(_ database: Database) throws(StoreError) -> (id: Int64, size: Int64)? {
        var oldest: (id: Int64, size: Int64)?
        for lane in try database.query("SELECT id FROM lane WHERE class = 0", row: { $0.integer(0) }) {
            let found = try database.first(
                """
                SELECT id, size FROM item WHERE lane = ? AND state = 0 AND batch IS NULL AND first_sent IS NULL
                ORDER BY id LIMIT 1
                """,
                .integer(lane)
            ) { (id: $0.integer(0), size: $0.integer(1)) }
            if let found, found.id < oldest?.id ?? .max { oldest = found }
        }
        return oldest
    }
}
