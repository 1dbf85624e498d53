import DurableStore
import OutboxCore

/// The import of an archive's items into an outbox.
///
/// An item is added once, however often it is imported, also after it has ended. The outbox from which it was exported
/// does not add it either, while it is there or its outcome is kept. A lane that is not there gets the rules of the
/// archive. A lane of the same name with another destination is kept, and the item's is named after both. Another user's
/// item changes those rules of its lane that it names.
package struct BoxImport: Sendable {
    /// The number of items that were added from an archive, and of those that were there already.
    package struct Result: Sendable, Hashable {
        package var added = 0
        package var existing = 0
    }

    private let storage: BoxStorage
    private let user: UInt32?

    /// Creates an import.
    ///
    /// - Parameters:
    ///   - storage: The outbox.
    ///   - user: The number of the user whose items these are; nil for the owner's own. Their lanes are separate.
    package init(into storage: BoxStorage, of user: UInt32? = nil) { (self.storage, self.user) = (storage, user) }

    /// Adds the items of an archive; each is on disk before the next is read.
    ///
    /// - Parameter reader: The archive.
    /// - Returns: What was added.
    /// - Throws: ``OutboxError``: `damaged` for an archive that is not whole, or that of the first item that can't be
    ///   added. The items before it stay.
    package func read(_ reader: ArchiveReader) async throws -> Result {
        var result = Result()
        while let item = try reader.next() {
            switch try await add(item, reader) {
            case .added: result.added += 1
            case .existing: result.existing += 1
            case .keyInUse(let id):
                let reason = "the key '\(item.key ?? "")' was already used for item \(id), whose request is different"
                throw OutboxError(.keyInUse, reason: reason)
            case .refused(let limit): throw try await error(of: item, refusedBy: limit)
            }
        }
        return result
    }

    private func error(of item: ArchivedItem, refusedBy limit: Admission.Limit) async throws -> OutboxError {
        let (importance, bounds) = try await storage.store.read { [self] database in
            let lane = try self.lane(of: item, stores: false, database)
            return (lane.options.importance, try LimitTable.limits(database).bounds)
        }
        // Another user's item must not wait for what never comes.
        guard user == nil || bounds.mayEverFit(item.size, importance) else {
            let reason = "a body of \(item.size) bytes does not fit into the outbox: raise maximumBytes"
            return OutboxError(.invalidRequest, reason: "\(storage.folder): \(reason)")
        }
        return OutboxError(.full, reason: "\(storage.folder): the outbox is full: \(limit.text)")
    }

    /// Returns the limit by which an item is refused before its body is copied; nil if it may fit, or is there already.
    private func refusal(of item: ArchivedItem) async throws -> Admission.Limit? {
        let admission = ItemAdmission(folder: storage.folder, ending: storage.ending)
        return try await storage.store.read { [self] database in
            let lane = try self.lane(of: item, stores: false, database)
            let isKnown = try database.first(
                """
                SELECT 1 FROM origin WHERE id = ?1
                UNION ALL SELECT 1 FROM item WHERE lane = ?2 AND key = ?3
                UNION ALL SELECT 1 FROM outcome WHERE lane = ?2 AND key = ?3
                """,
                .text(item.origin),
                .integer(lane.id),
                .init(item.key)
            ) { _ in true }
            if isKnown == true { return nil }
            if try exportedItem(item, database) != nil { return nil }
            return try admission.refusal(of: item.size, lane.options.importance, database)
        }
    }

    /// Returns the number of the item of this outbox that was exported as an archived one; nil if there is neither the
    /// item nor its outcome.
    private func exportedItem(_ item: ArchivedItem, _ database: Database) throws(StoreError) -> Int64? {
        guard user == nil, let number = item.number, let digest = item.digest else { return nil }
        // Another outbox uses the same numbers.
        return try database.first(
            """
            SELECT id FROM item WHERE id = ?1 AND added_wall = ?2 AND key IS ?3 AND digest = ?4
            UNION ALL SELECT id FROM outcome WHERE id = ?1 AND added_wall = ?2 AND key IS ?3 AND digest = ?4
            """,
            .integer(number),
            .integer(item.added),
            .init(item.key),
            .blob(digest)
        ) { $0.integer(0) }
    }

    private func add(_ item: ArchivedItem, _ reader: ArchiveReader) async throws -> BoxStorage.Addition {
        if let limit = try await refusal(of: item) { return .refused(limit) }
        let (body, draft) = try await readBody(of: item, reader)
        do {
            let addition = try await add(item, body)
            if case .added = addition {} else { draft?.discard() }
            return addition
        } catch {
            draft?.discard()
            throw error
        }
    }

    private func readBody(
        of item: ArchivedItem,
        _ reader: ArchiveReader
    ) async throws -> (StoredItem.Body, Spool.Draft?) {
        guard item.size > Int64(Spool.largestInlineBody) else {
            var bytes: [UInt8] = []
            try reader.readBody(of: item) { bytes += $0 }
            if bytes.isEmpty, item.contentType == nil { return (.none, nil) }
            return (.bytes(bytes), nil)
        }
        let draft = try await storage.spool.write { write in try reader.readBody(of: item) { try write(Array($0)) } }
        return (.spooled(draft.name, try FileCheck(ofFileAt: draft.path)), draft)
    }

    /// Returns the lane of an item, within a transaction; if it is not there, a new one, which may be stored.
    private func lane(of item: ArchivedItem, stores: Bool, _ database: Database) throws -> StoredLane {
        let name = (user.map { "\($0)/" } ?? "") + item.lane
        for name in [name, "\(name) \(item.destination)"] {
            guard let lane = try BoxStorage.lane(named: name, database) else {
                var options = LaneText.options(item.rules)
                if user != nil, options.importance == .critical { options.importance = .normal }
                try item.check(options, isForeign: user != nil)
                let id = try stores ? BoxStorage.declare(name, to: item.destination, options, database) : 0
                return .init(id: id, name: name, destination: item.destination, options: options)
            }
            guard lane.destination == item.destination else { continue }
            return try changed(lane, by: item, stores: stores, database)
        }
        throw OutboxError(.invalidRequest, reason: "lane '\(name)' has another destination")
    }

    /// Returns a lane with the rules that an item's user has changed, which may be stored.
    private func changed(
        _ lane: StoredLane,
        by item: ArchivedItem,
        stores: Bool,
        _ database: Database
    ) throws(StoreError) -> StoredLane {
        let names = user == nil ? [] : item.changedRules ?? []
        let options = lane.options.changed(
            Set(names.compactMap { LaneRule(rawValue: $0) }),
            to: LaneText.options(item.rules)
        )
        guard options != lane.options else { return lane }
        var lane = lane
        lane.options = options
        if stores { _ = try BoxStorage.declare(lane.name, to: lane.destination, options, database) }
        return lane
    }

    /// Stores an item, and its lane if necessary, in one transaction.
    private func add(_ archived: ArchivedItem, _ body: StoredItem.Body) async throws -> BoxStorage.Addition {
        let reading = storage.clock.read()
        let admission = ItemAdmission(folder: storage.folder, ending: storage.ending)
        let (addition, files) = try await storage.store.write { [self] database -> (BoxStorage.Addition, [String]) in
            var files: [String] = []
            let origin = SQLValue.text(archived.origin)
            let known = try database.first("SELECT item FROM origin WHERE id = ?", origin) { $0.integer(0) }
            if let known { return (.existing(known), files) }
            if let exported = try exportedItem(archived, database) { return (.existing(exported), files) }
            let lane = try self.lane(of: archived, stores: true, database)
            try archived.check(lane.options, isForeign: user != nil)
            let now = try ClockTable.now(database, reading)
            let item = archived.stored(lane: lane.id, body, at: reading, now)
            if let existing = try ItemAdmission.existing(item, orDigest: archived.digest, database) {
                return (existing, files)
            }
            let importance = lane.options.importance
            if let limit = try admission.makeRoom(for: item, importance, reading, database, removing: &files) {
                return (.refused(limit), files)
            }
            let id = try item.insert(into: database)
            try database.run(
                "UPDATE item SET first_sent = ?1, sent_check = ~?1, attempts = ?2 WHERE id = ?3",
                .init(item.record.firstSent?.nanoseconds),
                .init(item.record.attempts),
                .integer(id)
            )
            try OriginTable.record(archived.origin, of: id, at: now, database)
            return (.added(id), files)
        }
        FileSystem.remove(files)
        return addition
    }
}
