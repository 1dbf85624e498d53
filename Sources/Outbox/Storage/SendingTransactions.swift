import DurableStore
import OutboxCore

/// The transactions of the sender: what it sends next, and what becomes of it.
struct SendingTransactions: Sendable {
    let storage: BoxStorage

    /// The state of the outbox at the beginning of a turn.
    struct Overview: Sendable {
        var now: BoxTime
        /// The nanoseconds since boot at that time.
        var sinceBoot: Int64
        var lanes: [StoredLane]
        /// Items whose lifetime has ended, up to 500.
        var expired: [Int64]
        /// The end of the next lifetime.
        var nextExpiry: BoxTime?
        /// Whether the time should be stored.
        var needsTime: Bool
    }

    /// Returns the lanes, and the items that have expired.
    func overview() async throws -> Overview {
        let reading = storage.clock.read()
        return try await storage.store.read { database in
            let (clock, isStored) = try ClockTable.clock(database, reading)
            let now = clock.time
            // A batch that may have been processed keeps its bytes.
            let expired = try database.query(
                """
                SELECT id FROM item WHERE expires <= ? AND state != 1 AND (batch IS NULL OR first_sent IS NULL)
                ORDER BY expires LIMIT 500
                """,
                .integer(now.nanoseconds)
            ) { $0.integer(0) }
            let next = try database.first("SELECT min(expires) FROM item WHERE expires > ?", .integer(now.nanoseconds))
            {
                $0.optionalInteger(0).map { BoxTime(nanoseconds: $0) }
            }
            let hasItems = try database.first("SELECT 1 FROM item LIMIT 1") { _ in true } ?? false
            return .init(
                now: now,
                sinceBoot: reading.sinceBoot,
                lanes: try BoxStorage.lanes(database),
                expired: expired,
                nextExpiry: next ?? nil,
                needsTime: hasItems && !isStored
            )
        }
    }

    /// Ends items whose lifetime is over; they leave their batch, if that was not sent.
    func expire(_ ids: [Int64]) async throws {
        let reading = storage.clock.read()
        let files = try await storage.store.write(essential: true) { database in
            try BatchTable.removeUnsent(ids, database)
            return try ids.flatMap { (id: Int64) throws -> [String] in
                let item = try database.first(
                    "SELECT \(StoredItem.columns) FROM item WHERE id = ? AND state != 1 AND batch IS NULL",
                    .integer(id)
                ) { StoredItem($0) }
                guard let item else { return [] }
                guard item.isIntact else {
                    return try storage.ending.end(id, .damaged, reading, reason: StoredItem.damage, database)
                }
                let reason = "its lifetime ended before it was delivered"
                let end: ItemEnd = item.record.firstSent == nil || item.record.isIdempotent ? .expired : .uncertain
                return try storage.ending.end(id, end, reading, reason: reason, database)
            }
        }
        FileSystem.remove(files)
    }

    /// Settles what an earlier sender left: an item without a key whose bytes may have been on the network is uncertain,
    /// all others wait again.
    ///
    /// An item that contributes no line leaves its batch.
    func recover() async throws {
        let reading = storage.clock.read()
        let files = try await storage.store.write(essential: true) { database in
            let lanes = try BoxStorage.lanes(database)
            let sending = try database.query("SELECT \(StoredItem.columns) FROM item WHERE state = 1 ORDER BY id") {
                StoredItem($0)
            }
            var files: [String] = []
            for item in sending {
                let isRepeatable = lanes.first { $0.id == item.lane }?.options.isRepeatable == true
                if isRepeatable || item.batch != nil || item.record.hasKey || item.record.isIdempotent {
                    try database.run("UPDATE item SET state = 0 WHERE id = ?", .integer(item.id))
                } else {
                    let reason = "the sender ended while the item was being sent, and it has no key"
                    files += try storage.ending.end(item.id, .uncertain, reading, reason: reason, database)
                }
            }
            try BatchTable.removeWithoutLines(database)
            return files
        }
        FileSystem.remove(files)
        try await storage.spool.sweep { name in
            try await storage.store.read { database in
                try database.first("SELECT 1 FROM item WHERE file = ? AND file_kind = 0 LIMIT 1", .text(name)) { _ in
                    true
                } ?? false
            }
        }
    }

    /// Returns what a lane may send.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - count: The maximum number of parcels.
    ///   - ahead: The number of single items that are read beyond these.
    ///   - underway: The items that are being sent, or wait for their path.
    ///   - room: The number of bytes that may be sent; nil for any.
    /// - Returns: The parcels, and when there may be more.
    /// - Throws: ``StoreError``.
    func supply(
        of lane: StoredLane,
        _ count: Int,
        ahead: Int = 0,
        besides underway: Set<Int64>,
        room: Int64?
    ) async throws -> LaneSupply {
        let reading = storage.clock.read()
        let query = SupplyQuery(
            lane: lane,
            count: count,
            ahead: ahead,
            underway: underway,
            reading: reading,
            room: room
        )
        guard lane.options.batch != nil else { return try await storage.store.read { try query.items($0) } }
        if let supply = try await storage.store.read({ try query.batches($0, composes: false) }) { return supply }
        return try await storage.store.write(essential: true) { try query.batches($0, composes: true) ?? .init() }
    }

    /// Returns, for each waiting parcel, whether it may still be sent: no command has ended or held back one of its items.
    func mayBeSent(_ parcels: [Parcel]) async throws -> [Bool] {
        try await storage.store.read { database in
            try parcels.map { parcel in
                guard let batch = parcel.batch else {
                    let id = SQLValue.integer(parcel.items[0].id)
                    return try database.first("SELECT state != 2 FROM item WHERE id = ?", id) { $0.integer(0) } == 1
                }
                // An item that leaves a batch changes its key.
                let key = try database.first("SELECT key FROM batch WHERE id = ?", .integer(batch)) { $0.text(0) ?? "" }
                return key == parcel.key
            }
        }
    }

    /// The parcel may not be sent: an item was cancelled or held, has expired, its key is no longer recognized, or its lane
    /// was paused, changed or limited while it waited for a path.
    struct NothingToSend: Error {}

    /// Notes that a byte of a parcel may be on the network from now on.
    ///
    /// - Parameters:
    ///   - parcel: The parcel.
    ///   - lane: The lane when the parcel was chosen.
    ///   - mayBeProcessed: Whether an attempt since then may have been processed.
    ///   - isExpensive: Whether the path is expensive.
    ///   - completion: Called once, on the store's thread unless the store is closed, with the stored time before the first
    ///     attempt that may have been processed, with ``NothingToSend``, or with an error of the store.
    func mark(
        _ parcel: Parcel,
        _ lane: StoredLane,
        mayBeProcessed: Bool,
        isExpensive: Bool,
        _ completion: @escaping @Sendable (Result<BoxTime, any Error>) -> Void
    ) {
        storage.store.write(
            essential: true,
            { database in try mark(parcel, lane, mayBeProcessed: mayBeProcessed, isExpensive: isExpensive, database) },
            completion: completion
        )
    }

    private func mark(
        _ parcel: Parcel,
        _ lane: StoredLane,
        mayBeProcessed: Bool,
        isExpensive: Bool,
        _ database: Database
    ) throws -> BoxTime {
        let reading = BoxContext.of(database).reading(of: storage.clock)
        let now = try ClockTable.now(database, reading)
        let stored = try BoxContext.of(database).lane(lane.id, database)
        let isSame = stored.map {
            !$0.isPaused && $0.options == lane.optionsText && $0.destination == lane.destination
        }
        var record = parcel.record
        // The parcel is as it was before its first attempt; one that can't have been processed does not count.
        let isFirst = record.firstSent == nil && !mayBeProcessed
        if !isFirst { record.firstSent = try Self.firstSent(of: parcel, database) ?? record.firstSent }
        guard isSame == true, record.stepBeforeAttempt(lane.options.rules, at: now) == .send,
            delay(of: lane, reading) == .zero, !(isFirst && parcel.losesItems(at: now))
        else { throw NothingToSend() }
        if isExpensive, let limit = lane.options.bytesPerDay {
            let left = try Self.spend(parcel.size, lane, of: limit, isSpent: false, at: now, database)
            if left == nil { throw NothingToSend() }
        }
        for item in parcel.items {
            try Self.mark(item, of: parcel.batch, isFirst: isFirst, at: now, database)
        }
        return isFirst ? now : record.firstSent ?? now
    }

    private static func mark(
        _ item: StoredItem,
        of batch: Int64?,
        isFirst: Bool,
        at now: BoxTime,
        _ database: Database
    ) throws {
        let count = try database.run(
            """
            UPDATE item SET state = 1, first_sent = CASE WHEN ?3 THEN ?1 ELSE coalesce(first_sent, ?1) END,
                sent_check = ~CASE WHEN ?3 THEN ?1 ELSE coalesce(first_sent, ?1) END
            WHERE id = ?2 AND state != 2 AND batch IS ?4
            """,
            .integer(now.nanoseconds),
            .integer(item.id),
            .integer(isFirst ? 1 : 0),
            .init(batch)
        )
        if count == 0 { throw NothingToSend() }
    }

    /// Notes that a parcel waits after a failed attempt, which is repeated: its items may be cancelled and held.
    ///
    /// - Parameters:
    ///   - parcel: The parcel, as it was before its first attempt.
    ///   - wasSent: Whether an attempt since then may have been processed.
    func unmark(_ parcel: Parcel, wasSent: Bool) {
        let forgetsAttempt = !wasSent && parcel.record.firstSent == nil
        // If it can't be stored, the items count as being sent until the end of their last attempt.
        storage.store.writeLater { try Self.unmark(parcel, forgetsAttempt: forgetsAttempt, $0) }
    }

    /// Returns the stored time before the first attempt of a parcel that may have been processed; nil without one.
    private static func firstSent(of parcel: Parcel, _ database: Database) throws(StoreError) -> BoxTime? {
        var first: BoxTime?
        for item in parcel.items {
            let stored = try database.first("SELECT first_sent FROM item WHERE id = ?", .integer(item.id)) {
                $0.optionalInteger(0).map { BoxTime(nanoseconds: $0) }
            }
            guard let time = stored ?? nil else { continue }
            first = min(first ?? time, time)
        }
        return first
    }

    /// Counts bytes of a lane over an expensive path.
    ///
    /// - Parameters:
    ///   - bytes: The number.
    ///   - lane: The lane.
    ///   - limit: The number that is allowed per day.
    ///   - isSpent: Whether they were transferred already: they count in any case.
    ///   - now: The current time.
    ///   - database: The database, in a transaction that writes.
    /// - Returns: The number that is left; nil if they are too many, and are not counted.
    /// - Throws: ``StoreError``.
    private static func spend(
        _ bytes: Int64,
        _ lane: StoredLane,
        of limit: Int64,
        isSpent: Bool,
        at now: BoxTime,
        _ database: Database
    ) throws(StoreError) -> Int64? {
        let stored = try database.first("SELECT spent, spent_since FROM lane WHERE id = ?", .integer(lane.id)) { row in
            DailyBudget(spent: row.integer(0), start: row.optionalInteger(1).map { .init(nanoseconds: $0) })
        }
        guard var budget = stored else { return nil }
        let room = budget.room(of: limit, at: now)
        guard isSpent || room > 0 && bytes <= room else { return nil }
        budget.spend(bytes, at: now)
        try database.run(
            "UPDATE lane SET spent = ?, spent_since = ? WHERE id = ?",
            .integer(budget.spent),
            .init(budget.start?.nanoseconds),
            .integer(lane.id)
        )
        return budget.room(of: limit, at: now)
    }

    /// Returns how long a lane must wait for its hours; zero if it may send.
    func delay(of lane: StoredLane, _ reading: ClockReading) -> Duration {
        guard let hours = lane.options.hours else { return .zero }
        // The clock may be set at any time: it is looked at again soon.
        guard reading.isSynchronized else { return .seconds(60) }
        return hours.delay(atSecondOfDay: storage.clock.secondOfDay(reading.wall))
    }

    /// The consequence of an attempt, as it is stored.
    struct Conclusion: Sendable {
        var parcel: Parcel
        var step: ItemStep
        var record: ItemRecord
        /// The sizes of the batches into which a rejected batch is divided.
        var split: [Int]?
        /// The new pause of the lane, or that it has none any longer; nil if it is unchanged.
        var pause: LanePause??
        /// The destination of the attempt, to which the pause belongs.
        var destination: String
        var response: StoredResponse?
        var reason: String
    }

    /// The consequence for a parcel.
    enum Settlement: Sendable {
        /// Its attempt had a result.
        case conclusion(Conclusion)
        /// It was not sent after all: its items wait again.
        case unmark(Parcel)
        /// It is not as it was stored.
        case setAside(Parcel, isRepeatable: Bool)
    }

    /// Stores what becomes of parcels, with the states of their lanes.
    func store(_ settlements: [Settlement]) async throws {
        let files = try await storage.store.write(essential: true) { database in
            let reading = BoxContext.of(database).reading(of: storage.clock)
            return try settlements.flatMap { settlement in
                switch settlement {
                case .conclusion(let conclusion): return try conclude(conclusion, reading, database)
                case .unmark(let parcel):
                    try Self.unmark(parcel, database)
                    return []
                case .setAside(let parcel, let isRepeatable):
                    return try setAside(parcel, isRepeatable: isRepeatable, reading, database)
                }
            }
        }
        FileSystem.remove(files)
    }

    private static func unmark(
        _ parcel: Parcel,
        forgetsAttempt: Bool = false,
        _ database: Database
    ) throws(StoreError) {
        let first = forgetsAttempt ? ", first_sent = NULL, sent_check = NULL" : ""
        for item in parcel.items {
            try database.run("UPDATE item SET state = 0\(first) WHERE id = ? AND state = 1", .integer(item.id))
        }
    }

    private func conclude(
        _ conclusion: Conclusion,
        _ reading: ClockReading,
        _ database: Database
    ) throws(StoreError) -> [String] {
        let parcel = conclusion.parcel
        var files: [String] = []
        if let sizes = conclusion.split {
            try BatchTable.divide(parcel, sizes, database)
        } else {
            for item in parcel.items { files += try settle(item, conclusion, reading, database) }
        }
        if parcel.batch != nil { try BatchTable.removeEmpty(database) }
        if let pause = conclusion.pause {
            try Self.store(pause, of: parcel.items[0].lane, conclusion.destination, reason: conclusion.reason, database)
        }
        return files
    }

    private static func store(
        _ pause: LanePause?,
        of lane: Int64,
        _ destination: String,
        reason: String,
        _ database: Database
    ) throws(StoreError) {
        try database.run(
            """
            UPDATE lane SET pause_failures = ?, pause_until = ?, retry_after_end = ?, pause_reason = ?
            WHERE id = ? AND destination = ?
            """,
            .init(pause?.failures),
            .init(pause?.until.nanoseconds),
            .init(pause?.retryAfterEnd?.nanoseconds),
            .init(pause == nil ? nil : reason),
            .integer(lane),
            .text(destination)
        )
    }

    private func settle(
        _ item: StoredItem,
        _ conclusion: Conclusion,
        _ reading: ClockReading,
        _ database: Database
    ) throws(StoreError) -> [String] {
        switch conclusion.step {
        case .end(let end):
            return try storage.ending.end(
                item,
                end,
                reading,
                conclusion.response,
                reason: conclusion.reason,
                database
            )
        case .send, .wait:
            let due: BoxTime? = if case .wait(let until) = conclusion.step { until } else { nil }
            try database.run(
                """
                UPDATE item SET state = CASE state WHEN 2 THEN 2 ELSE 0 END, due = ?1,
                    first_sent = CASE WHEN ?2 IS NULL THEN NULL ELSE coalesce(first_sent, ?2) END,
                    sent_check = CASE WHEN ?2 IS NULL THEN NULL ELSE ~coalesce(first_sent, ?2) END, attempts = ?3,
                    failure = ?4
                WHERE id = ?5
                """,
                .init(due?.nanoseconds),
                .init(conclusion.record.firstSent?.nanoseconds),
                .init(conclusion.record.attempts),
                .text(conclusion.reason),
                .integer(item.id)
            )
            return []
        }
    }

    /// Sets a parcel aside that is not as it was stored, with an outcome for each damaged item.
    ///
    /// A batch is sent with the bytes and the key with which it was composed, or not at all: the other items of one that may
    /// have been processed are uncertain. They wait again if it was not sent, or if the lane is repeatable.
    private func setAside(
        _ parcel: Parcel,
        isRepeatable: Bool,
        _ reading: ClockReading,
        _ database: Database
    ) throws(StoreError) -> [String] {
        var files: [String] = []
        for item in parcel.items where !item.isIntact {
            files += try storage.ending.end(item.id, .damaged, reading, reason: StoredItem.damage, database)
        }
        guard let batch = parcel.batch else { return files }
        let rest = parcel.items.filter(\.isIntact)
        if !isRepeatable, parcel.items.contains(where: { $0.record.firstSent != nil }) {
            let reason = "its batch may have been processed, and can't be repeated: another item of it is damaged"
            for item in rest {
                files += try storage.ending.end(item.id, .uncertain, reading, reason: reason, database)
            }
        }
        try BatchTable.dissolve(batch, rest, database)
        return files
    }

    /// Returns the current time.
    func time() async throws -> BoxTime {
        let reading = storage.clock.read()
        return try await storage.store.read { try ClockTable.clock($0, reading).0.time }
    }

    /// Stores the current time.
    func storeTime() async throws {
        let reading = storage.clock.read()
        try await storage.store.write(essential: true) { try ClockTable.now($0, reading) }
    }

    // MARK: Downloads

    /// Returns how much of the part of a download is on disk for certain.
    func partMark(of id: Int64) async throws -> PartMark? {
        try await storage.store.read { database in
            try database.first("SELECT part FROM item WHERE id = ?", .integer(id)) { PartMark(text: $0.text(0)) } ?? nil
        }
    }

    /// Stores how much of the part of a download is on disk for certain.
    func store(_ mark: PartMark, of id: Int64) async throws {
        try await storage.store.write(essential: true) {
            try $0.run("UPDATE item SET part = ? WHERE id = ?", .text(mark.text), .integer(id))
        }
    }

    /// Counts bytes that a download has received over an expensive path.
    ///
    /// - Returns: The number that is left.
    func spend(_ bytes: Int64, _ lane: StoredLane) async throws -> Int64 {
        guard let limit = lane.options.bytesPerDay else { return .max }
        let reading = storage.clock.read()
        return try await storage.store.write(essential: true) { database in
            let now = try ClockTable.now(database, reading)
            return try Self.spend(bytes, lane, of: limit, isSpent: true, at: now, database) ?? 0
        }
    }
}
