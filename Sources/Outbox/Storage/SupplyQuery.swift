import DurableStore
import OutboxCore

/// The choice of the items that a lane sends next.
struct SupplyQuery: Sendable {
    let lane: StoredLane
    let count: Int
    /// The number of single items that are read beyond these, as long as they are small.
    let ahead: Int
    let underway: Set<Int64>
    let reading: ClockReading
    /// The number of bytes that may be sent now; nil for any.
    let room: Int64?

    /// The size of the bodies in bytes from which no further items are read ahead.
    private static let largestReadAhead: Int64 = 1 << 20

    /// Chooses single items, after the batches that were composed while the lane had a rule for them.
    func items(_ database: Database) throws(StoreError) -> LaneSupply {
        let now = try time(database)
        var supply = try stored(now, database)
        guard supply.parcels.count < count else { return supply }
        supply.isComplete = true
        if isHeldBack(supply) { return supply }
        var size: Int64 = 0
        try scan(now, database) { row in
            if supply.parcels.count >= count, supply.parcels.count >= count + ahead || size > Self.largestReadAhead {
                supply.isComplete = false
                return false
            }
            if underway.contains(row.integer(0)) { return true }
            let item = StoredItem(row)
            if let time = delay(item, now) {
                supply.next = min(supply.next ?? time, time)
                return !lane.options.order.isStrict
            }
            supply.parcels.append(.init(item))
            size += item.size
            return true
        }
        if supply.parcels.isEmpty { supply.next = try earliest(supply.next, database) }
        return supply
    }

    /// Chooses batches: those that are composed already, then new ones; and items that can't be part of one, singly.
    ///
    /// - Parameters:
    ///   - database: The database, in a transaction.
    ///   - composes: Whether new ones are composed, which writes.
    /// - Returns: The batches; nil if one has to be composed.
    /// - Throws: ``StoreError``.
    func batches(_ database: Database, composes: Bool) throws(StoreError) -> LaneSupply? {
        guard var rules = lane.options.batch?.rules else { return .init() }
        if let room { rules.bytes = min(rules.bytes, max(room, 1)) }
        let now = try time(database)
        guard try dissolveTooLarge(database, composes: composes) else { return nil }
        var supply = try stored(now, database)
        if isHeldBack(supply) { return supply }
        while supply.parcels.count < count {
            let chosen = Set(supply.parcels.flatMap { $0.items.map(\.id) })
            let (items, itemsDue) = try unbatched(rules, besides: chosen, now, database)
            let next = [supply.next, itemsDue].compactMap(\.self).min()
            if let first = items.first, !first.mayBeBatched {
                supply.parcels.append(.init(first))
                continue
            }
            let candidates = items.map { BatchRules.Candidate(size: $0.size, added: $0.added) }
            switch rules.composition(candidates, at: now) {
            case .none:
                supply.next = try supply.parcels.isEmpty ? earliest(next, database) : next
                return supply
            case .wait(let until):
                supply.next = min(next ?? until, until)
                return supply
            case .send(let number):
                guard composes else { return nil }
                supply.parcels.append(try BatchTable.make(of: items.prefix(number), database))
            }
        }
        return supply
    }

    /// Takes the items out of batches that no day has room for.
    ///
    /// They were composed while the path cost nothing, or by other rules. One that may have been processed keeps its bytes.
    ///
    /// - Returns: Whether there is none left.
    private func dissolveTooLarge(_ database: Database, composes: Bool) throws(StoreError) -> Bool {
        guard room != nil, let limit = lane.options.bytesPerDay else { return true }
        let large = try database.query(
            """
            SELECT batch FROM item WHERE lane = ? AND batch IS NOT NULL GROUP BY batch
            HAVING sum(size) > ? AND count(*) > 1 AND max(state) = 0 AND count(first_sent) = 0
            """,
            .integer(lane.id),
            .integer(limit)
        ) { $0.integer(0) }
        guard composes else { return large.isEmpty }
        for batch in large { try BatchTable.dissolve(batch, BatchTable.items(of: batch, database), database) }
        return true
    }

    /// Returns the batches that are composed already, and when the first of those may be sent that must wait.
    private func stored(_ now: BoxTime, _ database: Database) throws(StoreError) -> LaneSupply {
        let known = try database.query(
            "SELECT id, key, digest FROM batch WHERE lane = ? ORDER BY id",
            .integer(lane.id)
        ) { (id: $0.integer(0), key: $0.text(1) ?? "", digest: $0.blob(2)) }
        var supply = LaneSupply()
        for batch in known where supply.parcels.count < count {
            let items = try BatchTable.items(of: batch.id, database)
            if items.isEmpty || items.contains(where: { underway.contains($0.id) || $0.state == .held }) { continue }
            let parcel = Parcel(batch: batch.id, key: batch.key, digest: batch.digest, items)
            // It is passed over, as single items are that are too large.
            if let room, parcel.size > room, !lane.options.order.isStrict { continue }
            // It is sent with the next reading, without the items that have expired.
            if let due = parcel.losesItems(at: now) ? now : Self.due(items, now) {
                supply.next = min(supply.next ?? due, due)
                if isHeldBack(supply) { return supply }
                continue
            }
            supply.parcels.append(parcel)
        }
        return supply
    }

    /// Returns the time at which a batch may be sent after it failed; nil if it may be sent immediately.
    ///
    /// Its items fail together. A command that ends the delay of one of them ends that of the batch.
    private static func due(_ items: [StoredItem], _ now: BoxTime) -> BoxTime? {
        let times = items.compactMap(\.due).filter { $0 > now }
        return times.count == items.count ? times.min() : nil
    }

    /// Whether a batch that must wait holds back everything behind it.
    private func isHeldBack(_ supply: LaneSupply) -> Bool { lane.options.order.isStrict && supply.next != nil }

    /// Returns the first items that are in no batch, as far as they may be sent together; one that may not, alone.
    ///
    /// - Parameters:
    ///   - rules: The rules of their batch: no more items are read than are needed to decide about it.
    ///   - chosen: The items that are chosen already.
    ///   - now: The current time.
    ///   - database: The database, in a transaction.
    /// - Returns: The items, and when the first of those may be sent that must wait.
    /// - Throws: ``StoreError``.
    private func unbatched(
        _ rules: BatchRules,
        besides chosen: Set<Int64>,
        _ now: BoxTime,
        _ database: Database
    ) throws(StoreError) -> (items: [StoredItem], next: BoxTime?) {
        var (items, size, next): ([StoredItem], Int64, BoxTime?) = ([], 0, nil)
        try scan(now, database) { row in
            if underway.contains(row.integer(0)) || chosen.contains(row.integer(0)) { return true }
            let item = StoredItem(row)
            if let time = delay(item, now) {
                next = min(next ?? time, time)
                return !lane.options.order.isStrict
            }
            if let first = items.first, !item.mayBeBatched || !item.hasSameTarget(as: first) { return false }
            items.append(item)
            size += item.size
            return item.mayBeBatched && items.count <= rules.items && (items.count == 1 || size <= rules.bytes)
        }
        return (items, next)
    }

    /// Reads the waiting items that are in no batch, in order, until a closure returns false.
    private func scan(_ now: BoxTime, _ database: Database, row: (borrowing Row) -> Bool) throws(StoreError) {
        // A strict lane's first item decides; elsewhere those that must wait are passed over.
        try database.scan(
            """
            SELECT \(StoredItem.columns) FROM item
            WHERE lane = ?1 AND state = 0 AND batch IS NULL
                AND (?4 OR (due IS NULL OR due <= ?2) AND (not_before IS NULL OR not_before <= ?3) AND size <= ?5)
            ORDER BY id
            """,
            .integer(lane.id),
            .integer(now.nanoseconds),
            .integer(reading.isSynchronized ? reading.wall : 0),
            .integer(lane.options.order.isStrict ? 1 : 0),
            .integer(room ?? .max),
            row: row
        )
    }

    /// Returns the time at which an item may be sent; nil if it may be sent immediately.
    private func delay(_ item: StoredItem, _ now: BoxTime) -> BoxTime? {
        if let due = item.due, due > now { return due }
        guard let notBefore = item.notBefore else { return nil }
        // The clock may be set at any time: it is looked at again soon.
        guard reading.isSynchronized else { return now.advanced(by: .seconds(60)) }
        return notBefore <= reading.wall ? nil : now.advanced(by: .nanoseconds(notBefore - reading.wall))
    }

    /// The maximum time for which the machine's clock is not looked at while items wait for a moment.
    private static let clockInterval = Duration.seconds(10)

    /// Returns the time at which the first of the items that were passed over may be sent.
    private func earliest(_ known: BoxTime?, _ database: Database) throws(StoreError) -> BoxTime? {
        let now = try time(database)
        let wall = reading.isSynchronized ? reading.wall : 0
        let found = try database.first(
            """
            SELECT min(due) FILTER (WHERE due > ?2), min(not_before) FILTER (WHERE not_before > ?3) FROM item
            WHERE lane = ?1 AND state = 0
            """,
            .integer(lane.id),
            .integer(now.nanoseconds),
            .integer(wall)
        ) { (due: $0.optionalInteger(0).map { BoxTime(nanoseconds: $0) }, notBefore: $0.optionalInteger(1)) }
        let start = found?.notBefore.map { now.advanced(by: min(.nanoseconds($0 - wall), Self.clockInterval)) }
        return [known, found?.due, start].compactMap(\.self).min()
    }

    private func time(_ database: Database) throws(StoreError) -> BoxTime {
        try ClockTable.clock(database, reading).0.time
    }
}

extension StoredItem {
    /// Whether it may become a line of a batch: its bytes are in the database, and it was not sent under its own key.
    fileprivate var mayBeBatched: Bool { if case .bytes = body { record.firstSent == nil } else { false } }

    fileprivate func hasSameTarget(as other: Self) -> Bool {
        method == other.method && reference == other.reference && credential == other.credential
            && fields == other.fields
    }
}
