package import DurableStore
import Glibc
package import OutboxCore

/// The tables of an outbox: every change of state, each in one transaction.
///
/// It is used by senders, enqueuers and the tool alike; who sends is decided elsewhere.
package final class BoxStorage: Sendable {
    /// The folder.
    package let folder: String
    package let store: DurableStore
    package let clock: MachineClock
    private let bounds: BoxBounds
    private let maximumOutcomes: Int

    /// Opens or creates an outbox's storage.
    ///
    /// The folder gets the mode 0700 if it is created; its parent must exist.
    package init(
        at folder: String,
        bounds: BoxBounds = .init(),
        maximumOutcomes: Int = 100_000,
        clock: MachineClock = .system
    ) throws(StoreError) {
        (self.folder, self.bounds, self.clock) = (folder, bounds, clock)
        self.maximumOutcomes = maximumOutcomes
        for path in [folder, Self.spool(of: folder)] where mkdir(path, 0o700) != 0 && errno != EEXIST {
            throw .init("create the folder", path, errno: errno)
        }
        var options = DurableStore.Options(migrations: BoxSchema.migrations)
        options.repair = { try BoxSalvage(files: $0, at: clock.read()).run() }
        store = try DurableStore(Self.files(of: folder), options, bootIdentifier: clock.read().bootIdentifier)
    }

    /// The files of an outbox's database.
    package static func files(of folder: String) -> DurableStore.Files {
        .init(folder: folder, name: BoxSchema.fileName)
    }

    static func spool(of folder: String) -> String { "\(folder)/spool" }

    /// Returns the time in a transaction that writes, and stores it if it advances over a reboot or by ten minutes.
    @discardableResult
    static func now(_ database: Database, _ reading: ClockReading) throws(StoreError) -> BoxTime {
        let (clock, isStored) = try clock(database, reading)
        if isStored { return clock.time }
        try database.run(
            "INSERT OR REPLACE INTO clock VALUES (1, ?, ?, ?, ?, ?, ?)",
            .text(clock.bootIdentifier),
            .integer(clock.sinceBoot),
            .integer(clock.time.nanoseconds),
            .init(clock.anchor?.wall),
            .init(clock.anchor?.time.nanoseconds),
            .init(clock.anchor?.bootIdentifier)
        )
        return clock.time
    }

    /// Returns the current clock, and whether the stored one is good enough to continue from after a reboot.
    static func clock(_ database: Database, _ reading: ClockReading) throws(StoreError) -> (BoxClock, isStored: Bool) {
        let stored = try database.first(
            "SELECT boot, since_boot, time, anchor_wall, anchor_time, anchor_boot FROM clock"
        ) {
            BoxClock($0)
        }
        guard let stored else { return (BoxClock(at: reading), false) }
        var clock = stored
        let now = clock.update(reading)
        let isStored =
            stored.bootIdentifier == clock.bootIdentifier
            && stored.anchor?.bootIdentifier == clock.anchor?.bootIdentifier
            && stored.time.duration(to: now) < .seconds(600)
        return (clock, isStored)
    }

    /// Returns the current time.
    func time() async throws -> BoxTime {
        let reading = clock.read()
        return try await store.read { try Self.clock($0, reading).0.time }
    }

    /// Stores the current time.
    func storeTime() async throws {
        let reading = clock.read()
        try await store.write(essential: true) { try Self.now($0, reading) }
    }
}

extension BoxClock {
    fileprivate init(_ row: borrowing Row) {
        let boot = row.text(5)
        let anchor: Anchor? =
            if let wall = row.optionalInteger(3), let boot {
                .init(wall: wall, time: .init(nanoseconds: row.integer(4)), bootIdentifier: boot)
            } else {
                nil
            }
        self.init(
            bootIdentifier: row.text(0) ?? "",
            sinceBoot: row.integer(1),
            time: .init(nanoseconds: row.integer(2)),
            anchor
        )
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

    /// Stores the properties of a lane, and returns its identifier.
    package func declare(_ name: String, to destination: String, _ options: LaneOptions) async throws -> Int64 {
        let text = LaneText.text(options)
        return try await store.write { database in
            let known = try database.first(
                "SELECT id, destination, options, class FROM lane WHERE name = ?",
                .text(name)
            ) {
                (id: $0.integer(0), isSame: $0.text(1) == destination && $0.text(2) == text, importance: $0.integer(3))
            }
            if let known, known.isSame { return known.id }
            try database.run(
                """
                INSERT INTO lane (name, destination, options, class, priority) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET destination = excluded.destination, options = excluded.options,
                    class = excluded.class, priority = excluded.priority
                """,
                .text(name),
                .text(destination),
                .text(text),
                .integer(options.importance.rawValue),
                .init(options.priority)
            )
            if let known, known.importance != options.importance.rawValue { try BoxSchema.recount(database) }
            return try known?.id ?? database.first("SELECT id FROM lane WHERE name = ?", .text(name)) { $0.integer(0) }
                ?? 0
        }
    }

    /// Adds an item; returns when it is on disk.
    package func add(_ item: StoredItem, lifetime: Duration?, _ importance: LaneClass) async throws -> Addition {
        let reading = clock.read()
        let freeSpace = Self.freeSpace(of: folder)
        let (addition, files) = try await store.write { [self] database in
            var files: [String] = []
            if let existing = try Self.existing(item, database) { return (existing, files) }
            let now = try Self.now(database, reading)
            if let limit = try makeRoom(for: item, importance, freeSpace, reading, database, removing: &files) {
                return (Addition.refused(limit), files)
            }
            var item = item
            item.added = now
            item.addedWall = reading.wall
            item.record.expires = lifetime.map { now.advanced(by: $0) }
            return (.added(try item.insert(into: database)), files)
        }
        for file in files { spool.remove(file) }
        return addition
    }

    private static func existing(_ item: StoredItem, _ database: Database) throws -> Addition? {
        guard let key = item.key else { return nil }
        for table in ["item", "outcome"] {
            let found = try database.first(
                "SELECT id, digest FROM \(table) WHERE lane = ? AND key = ?",
                .integer(item.lane),
                .text(key)
            ) { (id: $0.integer(0), digest: $0.blob(1)) }
            if let found { return found.digest == item.digest ? .existing(found.id) : .keyInUse(found.id) }
        }
        return nil
    }

    /// Drops items of bulk lanes until an item fits.
    ///
    /// - Returns: The limit that is reached; nil if it fits.
    private func makeRoom(
        for item: StoredItem,
        _ importance: LaneClass,
        _ freeSpace: Int64,
        _ reading: ClockReading,
        _ database: Database,
        removing files: inout [String]
    ) throws -> Admission.Limit? {
        var freed: Int64 = 0
        while true {
            let sums = try database.first("SELECT sum(items), sum(bytes) FROM usage") { ($0.integer(0), $0.integer(1)) }
            let usage = BoxUsage(items: Int(sums?.0 ?? 0), bytes: sums?.1 ?? 0, freeSpace: freeSpace + freed)
            let limit: Admission.Limit
            switch bounds.admission(of: item.size, importance, usage, hasBulkItems: true) {
            case .accepted: return nil
            case .refused(let reached): return reached
            case .dropsOldest(let reached): limit = reached
            }
            guard let oldest = try Self.oldestBulkItem(database) else { return limit }
            let reason = "the outbox is full: newer items took its place"
            if let file = try end(oldest.id, .dropped, reading, reason: reason, database) { files.append(file) }
            freed += oldest.size
        }
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

    private static func freeSpace(of folder: String) -> Int64 {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return .max / 2 }
        return Int64(status.f_bavail) * Int64(status.f_frsize)
    }
}

// MARK: Ending

extension BoxStorage {
    /// Moves an item to the outcomes, within a transaction.
    ///
    /// - Returns: The file of the spool to remove after the transaction; nil without one.
    @discardableResult
    func end(
        _ id: Int64,
        _ end: ItemEnd,
        _ reading: ClockReading,
        _ response: OutboxOutcome.Response? = nil,
        reason: String,
        _ database: Database
    ) throws(StoreError) -> String? {
        let file = try database.first("SELECT file FROM item WHERE id = ? AND file_kind = 0", .integer(id)) {
            $0.text(0)
        }
        try database.run(
            """
            INSERT INTO outcome (id, lane, end, method, reference, key, digest, user_info, added_wall, ended_wall,
                status, fields, body, reason)
            SELECT id, lane, ?, method, reference, key, digest, user_info, added_wall, ?, ?, ?, ?, ?
            FROM item WHERE id = ?
            """,
            .integer(end.rawValue),
            .integer(reading.wall),
            .init(response?.status),
            .init(response.map { TextTable.encoded($0.fields) }),
            .init(response?.body),
            .text(reason),
            .integer(id)
        )
        try database.run("DELETE FROM item WHERE id = ?", .integer(id))
        try database.run(
            "DELETE FROM outcome WHERE sequence <= (SELECT max(sequence) FROM outcome) - ?",
            .init(maximumOutcomes)
        )
        return file ?? nil
    }

    /// Returns the outcomes after one, in the order in which the items ended.
    package func outcomes(after sequence: Int64, limit: Int) async throws -> [OutboxOutcome] {
        try await store.read { [self] database in
            try database.query(
                "\(Self.outcomeQuery) WHERE sequence > ? ORDER BY sequence LIMIT ?",
                .integer(sequence),
                .init(limit)
            ) { row in
                let sequence = row.integer(0)
                return Self.outcome(row) { [weak self] in
                    guard let self else { throw OutboxError(.closed, reason: "the outbox was closed") }
                    try await forget(sequence)
                }
            }
        }
    }

    /// Returns the outcome of an item, which can't be acknowledged; nil if there is none.
    package static func outcome(of id: Int64, _ database: Database) throws(StoreError) -> OutboxOutcome? {
        try database.first("\(outcomeQuery) WHERE outcome.id = ?", .integer(id)) { outcome($0) {} }
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

    private static let outcomeQuery = """
        SELECT sequence, outcome.id, coalesce(lane.name, ''), end, method, reference, key, user_info, ended_wall, status,
            fields, body, reason
        FROM outcome LEFT JOIN lane ON lane.id = outcome.lane
        """

    private static func outcome(
        _ row: borrowing Row,
        forget: @escaping @Sendable () async throws -> Void
    ) -> OutboxOutcome {
        let response = row.optionalInteger(9).map { status in
            OutboxOutcome.Response(
                status: Int(status),
                fields: TextTable.decoded(row.text(10)),
                body: row.blob(11) ?? []
            )
        }
        return .init(
            id: .init(rawValue: row.integer(1)),
            lane: row.text(2) ?? "",
            end: .init(rawValue: row.integer(3)) ?? .damaged,
            method: row.text(4) ?? "",
            reference: row.text(5) ?? "",
            key: row.text(6),
            userInfo: TextTable.decoded(row.text(7)),
            response: response,
            reason: row.text(12) ?? "",
            ended: Double(row.integer(8)) / 1e9,
            sequence: row.integer(0),
            forget: forget
        )
    }

    /// Removes an outcome that was acknowledged.
    package func forget(_ sequence: Int64) async throws {
        try await store.write(essential: true) {
            try $0.run("DELETE FROM outcome WHERE sequence = ?", .integer(sequence))
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
    package static func statistics(_ database: Database) throws(StoreError) -> OutboxStatistics {
        let usage = try database.first("SELECT sum(items), sum(bytes) FROM usage") { ($0.integer(0), $0.integer(1)) }
        let outcomes = try database.first("SELECT count(*) FROM outcome") { $0.integer(0) }
        let ended = try database.query("SELECT end, count FROM counter") {
            (ItemEnd(rawValue: $0.integer(0)) ?? .damaged, Int($0.integer(1)))
        }
        return .init(
            items: Int(usage?.0 ?? 0),
            bytes: usage?.1 ?? 0,
            outcomes: Int(outcomes ?? 0),
            ended: .init(ended, uniquingKeysWith: +)
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
    /// - Throws: ``OutboxError``: `notFound`, or `isSending` for an item whose bytes may be on the network.
    package func perform(_ command: Command, on id: Int64) async throws {
        let reading = clock.read()
        let file = try await store.write(essential: true) { [self] database -> String? in
            let state = try database.first("SELECT state FROM item WHERE id = ?", .integer(id)) { $0.integer(0) }
            guard let state else {
                throw OutboxError(.notFound, reason: "there is no item \(id): it has ended, or was never added")
            }
            guard state != ItemState.sending.rawValue else {
                throw OutboxError(.isSending, reason: "item \(id) is being sent: try again when its attempt has ended")
            }
            switch command {
            case .cancel: return try end(id, .cancelled, reading, reason: "cancelled", database)
            case .drop: return try end(id, .dropped, reading, reason: "dropped by command", database)
            case .hold: try database.run("UPDATE item SET state = 2 WHERE id = ?", .integer(id))
            case .release: try database.run("UPDATE item SET state = 0 WHERE id = ? AND state = 2", .integer(id))
            case .retry: try database.run("UPDATE item SET due = NULL, state = 0 WHERE id = ?", .integer(id))
            }
            return nil
        }
        if let file { spool.remove(file) }
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
        }
    }
}
