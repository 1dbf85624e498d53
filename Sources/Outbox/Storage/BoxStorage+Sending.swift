import DurableStore
import OutboxCore

/// Items that are sent in one request: a single one, or a batch.
struct Parcel: Sendable {
    var items: [StoredItem]
    var batch: Int64?
    /// The key of the request.
    var key: String?

    init(_ item: StoredItem) {
        items = [item]
        key = item.key
    }

    init(batch: Int64, key: String, _ items: [StoredItem]) {
        self.items = items
        self.batch = batch
        self.key = key
    }

    /// The record that decides about all of them.
    var record: ItemRecord {
        var record = items[0].record
        guard batch != nil else { return record }
        record.hasKey = true
        record.expires = nil
        record.firstSent = items.compactMap(\.record.firstSent).min()
        return record
    }
}

/// The parcels that a lane may send.
struct LaneSupply: Sendable {
    var parcels: [Parcel] = []
    /// The time at which there may be more without another event.
    var next: BoxTime?
}

/// The transactions of the sender.
extension BoxStorage {
    /// The state of the outbox at the beginning of a turn.
    struct Overview: Sendable {
        var now: BoxTime
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
        let reading = clock.read()
        return try await store.read { database in
            let (clock, isStored) = try Self.clock(database, reading)
            let now = clock.time
            let expired = try database.query(
                "SELECT id FROM item WHERE expires <= ? AND state != 1 AND batch IS NULL ORDER BY expires LIMIT 500",
                .integer(now.nanoseconds)
            ) { $0.integer(0) }
            let next = try database.first("SELECT min(expires) FROM item WHERE expires > ?", .integer(now.nanoseconds))
            {
                $0.optionalInteger(0).map { BoxTime(nanoseconds: $0) }
            }
            let hasItems = try database.first("SELECT 1 FROM item LIMIT 1") { _ in true } ?? false
            return .init(
                now: now,
                lanes: try Self.lanes(database),
                expired: expired,
                nextExpiry: next ?? nil,
                needsTime: hasItems && !isStored
            )
        }
    }

    /// Ends items whose lifetime is over.
    func expire(_ ids: [Int64]) async throws {
        let reading = clock.read()
        let files = try await store.write(essential: true) { [self] database in
            try ids.compactMap { (id: Int64) throws -> String? in
                let item = try database.first(
                    "SELECT file, file_kind, first_sent FROM item WHERE id = ? AND state != 1",
                    .integer(id)
                ) { (file: $0.integer(1) == 0 ? $0.text(0) : nil, wasSent: !$0.isNull(2)) }
                guard let item else { return nil }
                let reason = "its lifetime ended before it was delivered"
                try end(id, item.wasSent ? .uncertain : .expired, reading, reason: reason, database)
                return item.file
            }
        }
        for file in files { spool.remove(file) }
    }

    /// Settles what an earlier sender left: an item without a key whose bytes may have been on the network is uncertain,
    /// all others wait again.
    func recover() async throws {
        let reading = clock.read()
        let files = try await store.write(essential: true) { [self] database in
            let lanes = try Self.lanes(database)
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
                    try end(item.id, .uncertain, reading, reason: reason, database)
                    if case .spooled(let name) = item.body { files.append(name) }
                }
            }
            return files
        }
        for file in files { spool.remove(file) }
        try await spool.sweep { [self] name in
            try await store.read { database in
                try database.first("SELECT 1 FROM item WHERE file = ? LIMIT 1", .text(name)) { _ in true } ?? false
            }
        }
    }

    /// Returns what a lane may send.
    ///
    /// - Parameters:
    ///   - lane: The lane.
    ///   - count: The maximum number of parcels.
    ///   - underway: The items that are being sent, or wait for their path.
    /// - Returns: The parcels, and when there may be more.
    /// - Throws: ``StoreError``.
    func supply(of lane: StoredLane, _ count: Int, besides underway: Set<Int64>) async throws -> LaneSupply {
        let reading = clock.read()
        let query = SupplyQuery(lane: lane, count: count, underway: underway, reading: reading)
        guard lane.options.batch != nil else { return try await store.read { try query.items($0) } }
        if let supply = try await store.read({ try query.batches($0, composes: false) }) { return supply }
        return try await store.write(essential: true) { try query.batches($0, composes: true) ?? .init() }
    }

    /// The parcel may no longer be sent: an item was cancelled or held, has expired, its key is no longer recognized, or
    /// its lane was paused while it waited for a path.
    struct NothingToSend: Error {}

    /// Notes that a byte of a parcel may be on the network from now on.
    ///
    /// - Throws: ``NothingToSend``, or an error of the store.
    func mark(_ parcel: Parcel, _ rules: LaneRules) async throws {
        let reading = clock.read()
        try await store.write(essential: true) { database in
            let now = try Self.now(database, reading)
            guard parcel.record.stepBeforeAttempt(rules, at: now) == .send else { throw NothingToSend() }
            for item in parcel.items {
                let count = try database.run(
                    """
                    UPDATE item SET state = 1, first_sent = coalesce(first_sent, ?)
                    WHERE id = ? AND state != 2 AND lane NOT IN (SELECT id FROM lane WHERE is_paused)
                    """,
                    .integer(now.nanoseconds),
                    .integer(item.id)
                )
                if count == 0 { throw NothingToSend() }
            }
        }
    }

    /// Lets the items of a parcel wait again that was not sent after all.
    func unmark(_ parcel: Parcel) async throws {
        try await store.write(essential: true) { database in
            for item in parcel.items {
                try database.run("UPDATE item SET state = 0 WHERE id = ? AND state = 1", .integer(item.id))
            }
        }
    }

    /// The consequence of an attempt, as it is stored.
    struct Conclusion: Sendable {
        var parcel: Parcel
        var step: ItemStep
        var record: ItemRecord
        /// The sizes of the batches into which a rejected batch is divided.
        var split: [Int]?
        var pause: LanePause?
        var response: OutboxOutcome.Response?
        var reason: String
    }

    /// Stores the consequence of an attempt, with the state of its lane.
    func conclude(_ conclusion: Conclusion) async throws {
        let reading = clock.read()
        let parcel = conclusion.parcel
        try await store.write(essential: true) { [self] database in
            if let sizes = conclusion.split {
                try divide(parcel, sizes, database)
            } else {
                for item in parcel.items { try settle(item, conclusion, reading, database) }
            }
            if parcel.batch != nil { try SupplyQuery.removeEmptyBatches(database) }
            let pause = conclusion.pause
            try database.run(
                """
                UPDATE lane SET pause_failures = ?, pause_until = ?, retry_after_end = ?, pause_reason = ? WHERE id = ?
                """,
                .init(pause?.failures),
                .init(pause?.until.nanoseconds),
                .init(pause?.retryAfterEnd?.nanoseconds),
                .init(pause == nil ? nil : conclusion.reason),
                .integer(parcel.items[0].lane)
            )
        }
        guard case .end = conclusion.step, conclusion.split == nil else { return }
        for case .spooled(let name) in parcel.items.map(\.body) { spool.remove(name) }
    }

    private func settle(
        _ item: StoredItem,
        _ conclusion: Conclusion,
        _ reading: ClockReading,
        _ database: Database
    ) throws(StoreError) {
        switch conclusion.step {
        case .end(let end):
            // A user may have cancelled it before its first byte.
            let isThere = try database.first("SELECT 1 FROM item WHERE id = ?", .integer(item.id)) { _ in true }
            guard isThere == true else { return }
            try self.end(item.id, end, reading, conclusion.response, reason: conclusion.reason, database)
        case .send, .wait:
            let due: BoxTime? = if case .wait(let until) = conclusion.step { until } else { nil }
            try database.run(
                """
                UPDATE item SET state = CASE state WHEN 2 THEN 2 ELSE 0 END, due = ?1,
                    first_sent = CASE WHEN ?2 IS NULL THEN NULL ELSE coalesce(first_sent, ?2) END, attempts = ?3,
                    failure = ?4
                WHERE id = ?5
                """,
                .init(due?.nanoseconds),
                .init(conclusion.record.firstSent?.nanoseconds),
                .init(conclusion.record.attempts),
                .text(conclusion.reason),
                .integer(item.id)
            )
        }
    }

    /// Replaces a batch that was rejected as a whole by smaller ones, with keys of their own.
    private func divide(_ parcel: Parcel, _ sizes: [Int], _ database: Database) throws(StoreError) {
        var rest = parcel.items[...]
        for size in sizes {
            let batch = try SupplyQuery.makeBatch(lane: parcel.items[0].lane, database)
            for item in rest.prefix(size) {
                try database.run(
                    "UPDATE item SET batch = ?, state = 0, first_sent = NULL WHERE id = ?",
                    .integer(batch.id),
                    .integer(item.id)
                )
            }
            rest = rest.dropFirst(size)
        }
        try database.run("DELETE FROM batch WHERE id = ?", .init(parcel.batch))
    }

    var spool: Spool { .init(folder: Self.spool(of: folder)) }
}

/// The choice of the items that a lane sends next.
private struct SupplyQuery: Sendable {
    let lane: StoredLane
    let count: Int
    let underway: Set<Int64>
    let reading: ClockReading

    /// Chooses single items.
    func items(_ database: Database) throws(StoreError) -> LaneSupply {
        let now = try time(database)
        var supply = LaneSupply()
        for item in try waiting(count + underway.count, database) where !underway.contains(item.id) {
            if supply.parcels.count == count { break }
            if let time = delay(item, now) {
                supply.next = min(supply.next ?? time, time)
                if lane.options.order.isStrict { break }
            } else {
                supply.parcels.append(.init(item))
            }
        }
        if supply.parcels.isEmpty { supply.next = try earliest(supply.next, database) }
        return supply
    }

    /// Chooses batches: those that are composed already, then new ones.
    ///
    /// - Parameters:
    ///   - database: The database, in a transaction.
    ///   - composes: Whether new ones are composed, which writes.
    /// - Returns: The batches; nil if one has to be composed.
    /// - Throws: ``StoreError``.
    func batches(_ database: Database, composes: Bool) throws(StoreError) -> LaneSupply? {
        guard let rules = lane.options.batch.map({ BatchRules(items: $0.items, bytes: $0.bytes, linger: $0.linger) })
        else { return .init() }
        let now = try time(database)
        var supply = LaneSupply(parcels: try stored(database))
        while supply.parcels.count < count {
            let items = try unbatched(rules.items + 1, database)
            let candidates = items.map { BatchRules.Candidate(size: $0.size, added: $0.added) }
            switch rules.composition(candidates, at: now) {
            case .none: return supply
            case .wait(let until):
                supply.next = until
                return supply
            case .send(let number):
                guard composes else { return nil }
                let batch = try Self.makeBatch(lane: lane.id, database)
                let chosen = Array(items.prefix(number))
                for item in chosen {
                    try database.run("UPDATE item SET batch = ? WHERE id = ?", .integer(batch.id), .integer(item.id))
                }
                supply.parcels.append(.init(batch: batch.id, key: batch.key, chosen))
            }
        }
        return supply
    }

    /// Stores a new batch with a key.
    static func makeBatch(lane: Int64, _ database: Database) throws(StoreError) -> (id: Int64, key: String) {
        let key = OutboxToken.random()
        try database.run("INSERT INTO batch (lane, key) VALUES (?, ?)", .integer(lane), .text(key))
        return (database.lastIdentifier, key)
    }

    /// Removes the batches whose items have all ended.
    static func removeEmptyBatches(_ database: Database) throws(StoreError) {
        try database.run("DELETE FROM batch WHERE id NOT IN (SELECT batch FROM item WHERE batch IS NOT NULL)")
    }

    private func stored(_ database: Database) throws(StoreError) -> [Parcel] {
        let known = try database.query("SELECT id, key FROM batch WHERE lane = ? ORDER BY id", .integer(lane.id)) {
            (id: $0.integer(0), key: $0.text(1) ?? "")
        }
        var parcels: [Parcel] = []
        for batch in known where parcels.count < count {
            let items = try database.query(
                "SELECT \(StoredItem.columns) FROM item WHERE batch = ? ORDER BY id",
                .integer(batch.id)
            ) { StoredItem($0) }
            if !items.isEmpty, !items.contains(where: { underway.contains($0.id) || $0.state == .held }) {
                parcels.append(.init(batch: batch.id, key: batch.key, items))
            }
        }
        return parcels
    }

    /// Returns the first items that are in no batch, as far as they have the same target.
    private func unbatched(_ limit: Int, _ database: Database) throws(StoreError) -> [StoredItem] {
        let items = try database.query(
            """
            SELECT \(StoredItem.columns) FROM item
            WHERE lane = ? AND state = 0 AND batch IS NULL AND (not_before IS NULL OR not_before <= ?)
            ORDER BY id LIMIT ?
            """,
            .integer(lane.id),
            .integer(reading.isSynchronized ? reading.wall : 0),
            .init(limit)
        ) { StoredItem($0) }
        guard let first = items.first else { return [] }
        return Array(items.prefix { $0.hasSameTarget(as: first) })
    }

    private func waiting(_ limit: Int, _ database: Database) throws(StoreError) -> [StoredItem] {
        // A strict lane's first item decides; elsewhere those that must wait are passed over.
        try database.query(
            """
            SELECT \(StoredItem.columns) FROM item
            WHERE lane = ?1 AND state = 0
                AND (?5 OR (due IS NULL OR due <= ?3) AND (not_before IS NULL OR not_before <= ?4))
            ORDER BY id LIMIT ?2
            """,
            .integer(lane.id),
            .init(limit),
            .integer(try time(database).nanoseconds),
            .integer(reading.isSynchronized ? reading.wall : 0),
            .integer(lane.options.order.isStrict ? 1 : 0)
        ) { StoredItem($0) }
    }

    /// Returns the time at which an item may be sent; nil for now.
    private func delay(_ item: StoredItem, _ now: BoxTime) -> BoxTime? {
        if let due = item.due, due > now { return due }
        guard let notBefore = item.notBefore else { return nil }
        // The clock may be set at any time: it is looked at again soon.
        guard reading.isSynchronized else { return now.advanced(by: .seconds(60)) }
        return notBefore <= reading.wall ? nil : now.advanced(by: .nanoseconds(notBefore - reading.wall))
    }

    /// Returns the time at which the first of the items that were passed over may be sent.
    private func earliest(_ known: BoxTime?, _ database: Database) throws(StoreError) -> BoxTime? {
        let due = try database.first(
            "SELECT min(due), count(not_before) FROM item WHERE lane = ? AND state = 0",
            .integer(lane.id)
        ) { (time: $0.optionalInteger(0), hasDates: $0.integer(1) > 0) }
        let times = [known, due?.time.map { BoxTime(nanoseconds: $0) }].compactMap(\.self)
        let soon = due?.hasDates == true ? [try time(database).advanced(by: .seconds(1))] : []
        return (times + soon).min()
    }

    private func time(_ database: Database) throws(StoreError) -> BoxTime {
        try BoxStorage.clock(database, reading).0.time
    }
}

extension StoredItem {
    fileprivate func hasSameTarget(as other: Self) -> Bool {
        method == other.method && reference == other.reference && credential == other.credential
            && fields == other.fields
    }
}
