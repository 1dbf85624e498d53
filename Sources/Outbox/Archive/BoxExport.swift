package import DurableStore
package import OutboxCore

/// The export of items to an archive, from a snapshot of the database.
package struct BoxExport {
    /// The number of items that were written, and those that were not, with the reasons.
    package struct Result: Sendable {
        package var written = 0
        package var skipped: [(id: Int64, reason: String)] = []
    }

    private let database: Database
    private let spool: Spool
    private let reading: ClockReading

    /// Creates an export.
    ///
    /// - Parameters:
    ///   - database: The snapshot.
    ///   - folder: The folder of the outbox, for the files of large bodies.
    ///   - reading: The clocks.
    package init(_ database: Database, folder: String, at reading: ClockReading = MachineClock.system.read()) {
        (self.database, self.reading) = (database, reading)
        spool = .init(folder: BoxStorage.spoolFolder(of: folder))
    }

    /// Writes items, in the order in which they were added, and the end of the archive.
    ///
    /// - Parameters:
    ///   - lane: The name of a lane; nil for all.
    ///   - ids: The items; empty for all.
    ///   - writer: The archive.
    /// - Returns: What was written, and what was not.
    /// - Throws: ``OutboxError``: `notFound` for an item that is not there, or an error of the archive.
    package func write(lane: String?, ids: [Int64], to writer: ArchiveWriter) throws -> Result {
        let lanes = try BoxStorage.lanes(database)
        var result = Result()
        for id in try identifiers(lanes.first { $0.name == lane }?.id, ids) {
            let item = try database.first("SELECT \(StoredItem.columns) FROM item WHERE id = ?", .integer(id)) {
                StoredItem($0)
            }
            guard let item, let lane = lanes.first(where: { $0.id == item.lane }) else { continue }
            if let reason = item.reasonToStay {
                result.skipped.append((id, reason))
            } else {
                try write(item, lane, writer)
                result.written += 1
            }
        }
        try writer.end()
        return result
    }

    private func identifiers(_ lane: Int64?, _ ids: [Int64]) throws -> [Int64] {
        let all = try database.query("SELECT id FROM item WHERE ?1 IS NULL OR lane = ?1 ORDER BY id", .init(lane)) {
            $0.integer(0)
        }
        if ids.isEmpty { return all }
        let known = Set(all)
        if let missing = ids.first(where: { !known.contains($0) }) {
            throw OutboxError(.notFound, reason: "there is no item \(missing): it has ended, or was never added")
        }
        return all.filter(Set(ids).contains)
    }

    private func write(_ item: StoredItem, _ lane: StoredLane, _ writer: ArchiveWriter) throws {
        let origin = try database.first("SELECT id FROM origin WHERE item = ?", .integer(item.id)) { $0.text(0) }
        let now = try ClockTable.clock(database, reading).0.time
        let archived = ArchivedItem(item, in: lane, origin: origin ?? nil, at: reading, now)
        try writer.write(archived) { write in
            switch item.body {
            case .none, .download: break
            case .bytes(let bytes): bytes.withUnsafeBytes(write)
            case .spooled(let name, _): try FileSystem.read(spool.path(name), write)
            case .referenced(let path, let check):
                guard check.holds(forFileAt: path) else {
                    throw OutboxError(.bodyUnavailable, reason: "item \(item.id): \(path) has changed")
                }
                try FileSystem.read(path, write)
            }
        }
    }
}

extension StoredItem {
    /// The reason why the item can't be sent by another outbox under the same key; nil if it can.
    fileprivate var reasonToStay: String? {
        if state == .sending { return "it is being sent" }
        if case .download = body { return "it is a download to a file of this machine" }
        return batch != nil && record.firstSent != nil ? "its batch may have been processed" : nil
    }
}
