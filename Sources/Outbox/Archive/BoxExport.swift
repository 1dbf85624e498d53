package import DurableStore
import Glibc
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
            if let reason = try write(id, lanes, writer) {
                result.skipped.append((id, reason))
            } else {
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

    /// Writes an item, unless it can't be sent from there as it was added.
    ///
    /// - Returns: The reason why it was not written.
    private func write(_ id: Int64, _ lanes: [StoredLane], _ writer: ArchiveWriter) throws -> String? {
        guard let item = try item(id) else { return "the database is damaged: the item can't be read" }
        guard let lane = lanes.first(where: { $0.id == item.lane }) else { return "its lane can't be read" }
        if let reason = item.reasonToStay { return reason }
        let body = BodyFile(of: item, in: spool)
        if let reason = body?.problem(of: item) { return reason }
        do {
            try write(item, lane, body, writer)
        } catch let error as OutboxError where error.code == .invalidRequest {
            return error.reason
        }
        return nil
    }

    /// Returns an item; nil if its row can't be read.
    private func item(_ id: Int64) throws(StoreError) -> StoredItem? {
        do throws(StoreError) {
            return try database.first("SELECT \(StoredItem.columns) FROM item WHERE id = ?", .integer(id)) {
                StoredItem($0)
            }
        } catch {
            guard error.isOfContents else { throw error }
            return nil
        }
    }

    private func write(_ item: StoredItem, _ lane: StoredLane, _ body: BodyFile?, _ writer: ArchiveWriter) throws {
        let origin = try database.first("SELECT id FROM origin WHERE item = ?", .integer(item.id)) { $0.text(0) }
        let now = try ClockTable.clock(database, reading).0.time
        let archived = ArchivedItem(item, in: lane, origin: origin ?? nil, at: reading, now)
        try writer.write(archived) { write in
            if case .bytes(let bytes) = item.body { bytes.withUnsafeBytes(write) }
            if let body { try FileSystem.read(body.path, write) }
        }
    }
}

/// The file of an item's body, which stays open while it is checked and read: a sender may remove it at any time.
private final class BodyFile {
    private let descriptor: Int32
    /// The path as it is stored.
    private let name: String
    private let check: FileCheck?

    /// Opens the file; nil if the item has none.
    init?(of item: StoredItem, in spool: Spool) {
        switch item.body {
        case .none, .bytes, .download: return nil
        case .spooled(let name, let check): (self.name, self.check) = (spool.path(name), check)
        case .referenced(let path, let check): (name, self.check) = (path, check)
        }
        descriptor = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The path by which it can be read, although its name may be gone.
    var path: String { "/proc/self/fd/\(descriptor)" }

    /// Returns the reason why it is not the body with which the item was added; nil if it is, as far as is known.
    func problem(of item: StoredItem) -> String? {
        guard descriptor >= 0 else { return "its file \(name) is missing, or can't be read" }
        guard let status = try? FileSystem.regularFile(at: path), Int64(status.st_size) == item.size,
            (try? check?.matches(fileAt: path) ?? true) == true
        else { return "its file \(name) has changed since the item was added, or can't be read" }
        return nil
    }
}

extension StoredItem {
    /// The reason why the item can't be sent by another outbox under the same key; nil if it can.
    fileprivate var reasonToStay: String? {
        if state == .sending { return "it is being sent" }
        if !isIntact { return Self.damage }
        if case .download = body { return "it is a download to a file of this machine" }
        return batch != nil && record.firstSent != nil ? "its batch may have been processed" : nil
    }
}
