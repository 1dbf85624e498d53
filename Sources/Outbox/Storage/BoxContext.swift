import DurableStore
import OutboxCore

/// The values that the closures of one transaction share.
///
/// The numbers of items and outcomes are stored once per transaction, rather than with each row: a trigger that does so
/// costs more than the row itself.
final class BoxContext: TransactionContext {
    /// The properties of a lane that are needed for each of its items.
    struct Lane: Sendable {
        var name: String
        var importance: LaneClass
        var isPaused: Bool
        var destination: String
        /// The stored form of the options.
        var options: String
    }

    /// A number of items, and the size of their bodies in bytes.
    private struct Amount {
        var items: Int64 = 0
        var bytes: Int64 = 0

        static func += (amount: inout Self, other: Self) {
            amount.items += other.items
            amount.bytes += other.bytes
        }
    }

    private struct Values {
        var reading: ClockReading?
        var clock: BoxClock?
        var lanes: [Int64: Lane] = [:]
        var freeSpace: Int64?
        /// The stored number and size of the items, by class.
        var stored: [LaneClass: Amount]?
        /// The number and size of the items that the transaction has added, by class.
        var added: [LaneClass: Amount] = [:]
        var ended: [ItemEnd: Int64] = [:]
        var newOutcomes: Int64 = 0
        var limits: BoxLimits?
    }

    private var values = Values()

    init() {}

    /// Returns the context of a database; a new one outside a store.
    static func of(_ database: Database) -> BoxContext { database.context as? BoxContext ?? .init() }

    func copy() -> BoxContext {
        let copy = BoxContext()
        copy.values = values
        return copy
    }

    // MARK: Values that are read once

    /// Returns the values of the machine's clocks.
    func reading(of clock: MachineClock) -> ClockReading {
        let reading = values.reading ?? clock.read()
        values.reading = reading
        return reading
    }

    /// Returns the stored clock; nil in a new outbox.
    func clock(_ read: () throws(StoreError) -> BoxClock?) throws(StoreError) -> BoxClock? {
        if let known = values.clock { return known }
        values.clock = try read()
        return values.clock
    }

    /// Notes that a clock was stored.
    func setClock(_ clock: BoxClock) { values.clock = clock }

    /// Returns a lane; nil if there is none.
    func lane(_ id: Int64, _ database: Database) throws(StoreError) -> Lane? {
        if let known = values.lanes[id] { return known }
        let lane = try database.first(
            "SELECT name, class, is_paused, destination, options FROM lane WHERE id = ?",
            .integer(id)
        ) { row in
            Lane(
                name: row.text(0) ?? "",
                importance: .init(rawValue: row.integer(1)) ?? .normal,
                isPaused: row.integer(2) != 0,
                destination: row.text(3) ?? "",
                options: row.text(4) ?? ""
            )
        }
        values.lanes[id] = lane
        return lane
    }

    /// Forgets the lanes, since one has changed.
    func forgetLanes() { values.lanes = [:] }

    /// Returns the stored limits.
    func limits(_ read: () throws(StoreError) -> BoxLimits) throws(StoreError) -> BoxLimits {
        let limits = if let known = values.limits { known } else { try read() }
        values.limits = limits
        return limits
    }

    /// Forgets the limits, since they have changed.
    func forgetLimits() { values.limits = nil }

    /// Returns the free space of a folder's file system in bytes, with that of the files whose rows the transaction has
    /// removed: they are removed after it.
    func freeSpace(of folder: String) -> Int64 {
        let space = values.freeSpace ?? FileSystem.freeSpace(of: folder)
        values.freeSpace = space
        return space
    }

    /// Counts space that a file leaves, or that an item takes.
    func changeFreeSpace(by bytes: Int64) { values.freeSpace = values.freeSpace?.addingClamped(bytes) }

    // MARK: Numbers

    /// Returns the number and the size of all items, with what the transaction has changed.
    func usage(_ database: Database) throws(StoreError) -> (items: Int64, bytes: Int64) {
        var sum = Amount()
        for amount in try stored(database).values { sum += amount }
        for amount in values.added.values { sum += amount }
        return (sum.items, sum.bytes)
    }

    /// Returns the number and the size of the items of a class, with what the transaction has changed.
    func usage(of importance: LaneClass, _ database: Database) throws(StoreError) -> (items: Int64, bytes: Int64) {
        var sum = try stored(database)[importance] ?? .init()
        sum += values.added[importance] ?? .init()
        return (sum.items, sum.bytes)
    }

    private func stored(_ database: Database) throws(StoreError) -> [LaneClass: Amount] {
        if let known = values.stored { return known }
        var amounts: [LaneClass: Amount] = [:]
        try database.scan("SELECT class, items, bytes FROM usage") { row in
            if let importance = LaneClass(rawValue: row.integer(0)) {
                amounts[importance] = Amount(items: Self.sound(row.integer(1)), bytes: Self.sound(row.integer(2)))
            }
            return true
        }
        values.stored = amounts
        return amounts
    }

    /// Returns a stored number, clamped to those with which can be calculated.
    private static func sound(_ number: Int64) -> Int64 { min(max(number, 0), 1 << 60) }

    /// Counts an item that was added to a lane.
    func added(_ size: Int64, to lane: Int64, _ database: Database) throws(StoreError) {
        try count(.init(items: 1, bytes: size), lane, database)
    }

    /// Counts an item that was moved from a lane to the outcomes.
    func ended(_ size: Int64, of lane: Int64, _ end: ItemEnd, _ database: Database) throws(StoreError) {
        try count(.init(items: -1, bytes: -size), lane, database)
        values.ended[end, default: 0] += 1
        values.newOutcomes += 1
    }

    /// Counts outcomes that were removed.
    func removedOutcomes(_ count: Int) { values.newOutcomes -= Int64(count) }

    /// Forgets what was counted in the transaction: it was counted in the tables.
    func recounted() { (values.stored, values.added, values.newOutcomes) = (nil, [:], 0) }

    private func count(_ amount: Amount, _ lane: Int64, _ database: Database) throws(StoreError) {
        // The items of a lane whose row was lost are counted nowhere.
        guard let importance = try self.lane(lane, database)?.importance else { return }
        values.added[importance, default: .init()] += amount
    }

    // MARK: Storing

    func store(in database: Database) throws {
        for (importance, amount) in values.added {
            try database.run(
                "UPDATE usage SET items = items + ?, bytes = bytes + ? WHERE class = ?",
                .integer(amount.items),
                .integer(amount.bytes),
                .integer(importance.rawValue)
            )
        }
        for (end, count) in values.ended { try Self.count(end.rawValue, count, database) }
        if !values.ended.isEmpty { try removeOldOutcomes(database) }
        if values.newOutcomes != 0 { try Self.count(BoxSchema.outcomeCounter, values.newOutcomes, database) }
        (values.stored, values.added, values.ended, values.newOutcomes) = (nil, [:], [:], 0)
    }

    /// Removes the oldest outcomes beyond the number that is kept; acknowledged ones do not count.
    private func removeOldOutcomes(_ database: Database) throws(StoreError) {
        let counter = SQLValue.integer(BoxSchema.outcomeCounter)
        let stored = try database.first("SELECT count FROM counter WHERE end = ?", counter) { $0.integer(0) }
        let limit = Int64(try LimitTable.limits(database).maximumOutcomes)
        let excess = Self.sound(stored ?? 0) + values.newOutcomes - limit
        guard excess > 0 else { return }
        removedOutcomes(
            try database.run(
                "DELETE FROM outcome WHERE sequence IN (SELECT sequence FROM outcome ORDER BY sequence LIMIT ?)",
                .integer(excess)
            )
        )
    }

    private static func count(_ number: Int64, _ count: Int64, _ database: Database) throws(StoreError) {
        try database.run(
            "INSERT INTO counter VALUES (?, ?) ON CONFLICT (end) DO UPDATE SET count = count + excluded.count",
            .integer(number),
            .integer(count)
        )
    }
}
