package import DurableStore
import Glibc
package import OutboxCore

/// The storage of an outbox as programs use it: adding, reading, waiting, commands; each change is one transaction.
///
/// ``SendingTransactions`` are those of the sender.
package final class BoxStorage: Sendable {
    /// The folder.
    package let folder: String
    package let store: DurableStore
    package let clock: MachineClock
    let spool: Spool
    let ending: ItemEnding

    /// Opens or creates an outbox's storage.
    ///
    /// The folder gets the mode 0700 if it is created; its parent must exist.
    package init(
        at folder: String,
        clock: MachineClock = .system
    ) throws(StoreError) {
        (self.folder, self.clock) = (folder, clock)
        spool = Spool(folder: Self.spoolFolder(of: folder))
        ending = ItemEnding(spool: spool)
        for path in [folder, spool.folder] { try LocalFolder.create(path) }
        var options = DurableStore.Options(migrations: BoxSchema.migrations)
        options.repair = { try BoxSalvage(files: $0, at: clock.read()).run() }
        options.repairsWhileOpen = true
        options.makeContext = { BoxContext() }
        store = try DurableStore(Self.files(of: folder), options, bootIdentifier: clock.read().bootIdentifier)
    }

    /// The folder for the files of large bodies.
    static func spoolFolder(of folder: String) -> String { "\(folder)/spool" }

    /// The files of an outbox's database.
    package static func files(of folder: String) -> DurableStore.Files {
        .init(folder: folder, name: BoxSchema.fileName)
    }
}

// MARK: Adding

extension BoxStorage {
    /// The result of adding an item.
    package enum Addition: Sendable, Hashable {
        /// It was added.
        case added(Int64)
        /// It was there already, or has ended: the same request with the same key.
        case existing(Int64)
        /// Another request has this key.
        case keyInUse(Int64)
        /// A limit is reached.
        case refused(Admission.Limit)
    }

    /// Stores the properties of a lane, and returns its identifier; another destination ends a pause after failures.
    package func declare(_ name: String, to destination: String, _ options: LaneOptions) async throws -> Int64 {
        try await store.write { try Self.declare(name, to: destination, options, $0) }
    }

    /// Stores the properties of a lane, within a transaction.
    static func declare(
        _ name: String,
        to destination: String,
        _ options: LaneOptions,
        _ database: Database
    ) throws(StoreError) -> Int64 {
        let text = LaneText.text(options)
        let known = try database.first(
            "SELECT id, destination, options, class FROM lane WHERE name = ?",
            .text(name)
        ) {
            (id: $0.integer(0), isSame: $0.text(1) == destination && $0.text(2) == text, importance: $0.integer(3))
        }
        if let known, known.isSame { return known.id }
        BoxContext.of(database).forgetLanes()
        try database.run(
            """
            INSERT INTO lane (name, destination, options, class, priority) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET destination = excluded.destination, options = excluded.options,
                class = excluded.class, priority = excluded.priority,
                pause_failures = iif(destination = excluded.destination, pause_failures, NULL),
                pause_until = iif(destination = excluded.destination, pause_until, NULL),
                retry_after_end = iif(destination = excluded.destination, retry_after_end, NULL),
                pause_reason = iif(destination = excluded.destination, pause_reason, NULL)
            """,
            .text(name),
            .text(destination),
            .text(text),
            .integer(options.importance.rawValue),
            .init(options.priority)
        )
        if let known, known.importance != options.importance.rawValue { try BoxSchema.recount(database) }
        if let known { return known.id }
        return try database.first("SELECT id FROM lane WHERE name = ?", .text(name)) { $0.integer(0) } ?? 0
    }

    /// Adds an item; returns when it is on disk.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - declare: Returns the identifier of the item's lane, after storing the lane if necessary; called in the
    ///     transaction that stores the item.
    /// - Returns: The result, and the identifier of the lane.
    /// - Throws: The closure's error, or ``StoreError``.
    package func add(
        _ item: StoredItem,
        toLane declare: @escaping @Sendable (Database) throws -> Int64
    ) async throws -> (addition: Addition, lane: Int64) {
        let admission = ItemAdmission(folder: folder, ending: ending)
        let (addition, lane, files) = try await store.write { [clock] database -> (Addition, Int64, [String]) in
            let reading = BoxContext.of(database).reading(of: clock)
            var item = item
            var files: [String] = []
            item.lane = try declare(database)
            if let existing = try ItemAdmission.existing(item, database) { return (existing, item.lane, files) }
            let now = try ClockTable.now(database, reading)
            let importance = try BoxContext.of(database).lane(item.lane, database)?.importance ?? .normal
            if let limit = try admission.makeRoom(for: item, importance, reading, database, removing: &files) {
                return (.refused(limit), item.lane, files)
            }
            item.added = now
            item.addedWall = reading.wall
            item.record.expires = item.lifetime.map { now.advanced(by: $0) }
            return (.added(try item.insert(into: database)), item.lane, files)
        }
        FileSystem.remove(files)
        return (addition, lane)
    }
}

// MARK: Outcomes

extension BoxStorage {
    /// Returns the outcomes after one, in the order in which the items ended.
    ///
    /// - Parameters:
    ///   - sequence: The sequence of the outcome before the first; 0 for all.
    ///   - limit: The maximum number.
    ///   - hasBodies: Whether the bodies of the responses are read.
    /// - Returns: The outcomes.
    /// - Throws: ``OutboxError``.
    package func outcomes(after sequence: Int64, limit: Int, hasBodies: Bool = true) async throws -> [OutboxOutcome] {
        let query = hasBodies ? OutboxOutcome.query : OutboxOutcome.queryWithoutBodies
        return try await store.read { [self] database in
            try database.query(
                "\(query) WHERE sequence > ? ORDER BY sequence LIMIT ?",
                .integer(sequence),
                .init(limit)
            ) { row in
                let sequence = row.integer(0)
                return OutboxOutcome(row) { [weak self] in
                    guard let self else { throw OutboxError(.closed, reason: "the outbox was closed") }
                    try await forget([sequence])
                }
            }
        }
    }

    /// Returns the outcome of an item, which can't be acknowledged; nil if there is none.
    package static func outcome(of id: Int64, _ database: Database) throws(StoreError) -> OutboxOutcome? {
        try database.first("\(OutboxOutcome.query) WHERE outcome.id = ?", .integer(id)) { OutboxOutcome($0) {} }
    }

    /// Waits until an item has ended.
    ///
    /// - Throws: ``OutboxError``: `notFound` if there is neither the item nor its outcome; `CancellationError`.
    package func waitForEnd(of id: Int64) async throws -> OutboxOutcome {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        let watch = try ChangeWatch(store.files) { continuation.yield() }
        defer { watch.cancel() }
        continuation.yield()
        for await _ in changes {
            let (outcome, isThere) = try await store.read { database in
                let item = try database.first("SELECT 1 FROM item WHERE id = ?", .integer(id)) { _ in true }
                return (try Self.outcome(of: id, database), item == true)
            }
            if let outcome { return outcome }
            if !isThere { throw OutboxError(.notFound, reason: "there is no item \(id), and no outcome of it") }
        }
        throw CancellationError()
    }

    /// Removes outcomes that were acknowledged, in one transaction.
    package func forget(_ sequences: [Int64]) async throws {
        try await store.write(essential: true) { database in
            for sequence in sequences {
                let count = try database.run("DELETE FROM outcome WHERE sequence = ?", .integer(sequence))
                BoxContext.of(database).removedOutcomes(count)
            }
        }
    }
}

// MARK: Reading

extension BoxStorage {
    /// Returns the lanes, in the order in which they are asked for items.
    package func lanes() async throws -> [StoredLane] { try await store.read { try Self.lanes($0) } }

    package static func lanes(_ database: Database) throws(StoreError) -> [StoredLane] {
        try database.query("SELECT \(StoredLane.columns) FROM lane ORDER BY class DESC, priority DESC, id") {
            StoredLane($0)
        }
    }

    /// Returns a lane; nil if there is none with this name.
    static func lane(named name: String, _ database: Database) throws(StoreError) -> StoredLane? {
        try database.first("SELECT \(StoredLane.columns) FROM lane WHERE name = ?", .text(name)) { StoredLane($0) }
    }

    /// Returns the items that have not ended, in the order in which they were added.
    package static func items(
        _ database: Database,
        lane: String? = nil,
        after id: Int64 = 0,
        limit: Int = .max
    ) throws(StoreError) -> [OutboxItem] {
        let lanes = try lanes(database)
        let names = Dictionary(lanes.map { ($0.id, $0.name) }, uniquingKeysWith: { $1 })
        let filter = lane.map { name in lanes.first { $0.name == name }?.id ?? -1 }
        // Without the bodies, which may be large together.
        let columns = StoredItem.columns.replacing("body, file,", with: "NULL, file,")
        return try database.query(
            "SELECT \(columns) FROM item WHERE id > ? AND (?2 IS NULL OR lane = ?2) ORDER BY id LIMIT ?3",
            .integer(id),
            .init(filter),
            .init(limit)
        ) { StoredItem($0) }
        .map { $0.publicItem(lane: names[$0.lane] ?? "") }
    }

    /// Returns the contents in numbers.
    package static func statistics(_ database: Database) throws -> OutboxStatistics {
        // What other closures of the transaction have changed is counted too.
        try BoxContext.of(database).store(in: database)
        let usage = try database.first("SELECT total(items), total(bytes) FROM usage") { row in
            (row.integer(0), row.integer(1))
        }
        let counts = Dictionary(
            try database.query("SELECT end, count FROM counter") { ($0.integer(0), Int($0.integer(1))) },
            uniquingKeysWith: +
        )
        let ended = counts.filter { $0.key != BoxSchema.outcomeCounter }
        // A copy of a database of an earlier version has no such counter.
        let outcomes =
            try counts[BoxSchema.outcomeCounter]
            ?? database.first("SELECT count(*) FROM outcome") { Int($0.integer(0)) }
        return .init(
            items: Int(usage?.0 ?? 0),
            bytes: usage?.1 ?? 0,
            outcomes: outcomes ?? 0,
            ended: .init(ended.map { (ItemEnd(rawValue: $0) ?? .damaged, $1) }, uniquingKeysWith: +)
        )
    }
}

// MARK: The user's commands

extension BoxStorage {
    /// A command about an item.
    package enum Command: Sendable, Hashable {
        case cancel
        case drop
        case hold
        case release
        /// Forgets what delays it.
        case retry
    }

    /// Carries out a command.
    ///
    /// An item that is cancelled, dropped or held leaves its batch, whose key is then replaced.
    ///
    /// - Throws: ``OutboxError``: `notFound`, or `isSending` for an item whose bytes may be on the network, or whose batch
    ///   may have been processed.
    package func perform(_ command: Command, on id: Int64) async throws {
        let reading = clock.read()
        let files = try await store.write(essential: true) { [ending] database -> [String] in
            let item = try database.first("SELECT state, batch, first_sent FROM item WHERE id = ?", .integer(id)) {
                (state: $0.integer(0), batch: $0.optionalInteger(1), wasSent: !$0.isNull(2))
            }
            guard let item else {
                throw OutboxError(.notFound, reason: "there is no item \(id): it has ended, or was never added")
            }
            guard item.state != ItemState.sending.rawValue else {
                throw OutboxError(.isSending, reason: "item \(id) is being sent: try again when its attempt has ended")
            }
            if let batch = item.batch, [.cancel, .drop, .hold].contains(command) {
                // The same key must not be used for other bytes.
                guard !item.wasSent else {
                    let reason = "item \(id) is in a batch that may have been processed: it ends with the batch"
                    throw OutboxError(.isSending, reason: reason)
                }
                try BatchTable.remove([id], from: batch, database)
            }
            switch command {
            case .cancel: return try ending.end(id, .cancelled, reading, reason: "cancelled", database)
            case .drop: return try ending.end(id, .dropped, reading, reason: "dropped by command", database)
            case .hold: try database.run("UPDATE item SET state = 2 WHERE id = ?", .integer(id))
            case .release: try database.run("UPDATE item SET state = 0 WHERE id = ? AND state = 2", .integer(id))
            case .retry: try database.run("UPDATE item SET due = NULL, state = 0 WHERE id = ?", .integer(id))
            }
            return []
        }
        FileSystem.remove(files)
    }

    /// Pauses a lane until it is resumed, or resumes it, and ends a pause after failures.
    package func setPaused(_ isPaused: Bool, lane: String) async throws {
        try await store.write(essential: true) { database in
            let count = try database.run(
                """
                UPDATE lane SET is_paused = ?, pause_failures = NULL, pause_until = NULL, retry_after_end = NULL,
                    pause_reason = NULL
                WHERE name = ?
                """,
                .integer(isPaused ? 1 : 0),
                .text(lane)
            )
            if count == 0 { throw OutboxError(.notFound, reason: "there is no lane '\(lane)'") }
            BoxContext.of(database).forgetLanes()
        }
    }
}
