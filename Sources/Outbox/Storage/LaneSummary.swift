package import DurableStore
package import OutboxCore

/// A lane with what it holds, as people look at it.
package struct LaneSummary: Sendable {
    package var lane: StoredLane
    /// The number of items that have not ended.
    package var items = 0
    /// The number of those that are held back.
    package var held = 0
    /// The size of their bodies in bytes.
    package var bytes: Int64 = 0
    /// The time since the oldest was added, by the wall clock; nil without items.
    package var age: Duration?
    /// The number of items that were delivered in the last minute, as far as their outcomes are still there.
    package var deliveredLastMinute = 0
    /// The time until the pause after failures ends; nil without one.
    package var pauseLeft: Duration?
}

extension BoxStorage {
    /// Returns the lanes with what they hold, in the order in which they are asked for items.
    package static func summaries(
        _ database: Database,
        at reading: ClockReading = MachineClock.system.read()
    ) throws(StoreError) -> [LaneSummary] {
        let now = try ClockTable.clock(database, reading).0.time
        let delivered = try deliveries(database, since: reading.wall - 60_000_000_000)
        var summaries: [LaneSummary] = []
        for lane in try lanes(database) {
            var summary = LaneSummary(lane: lane, deliveredLastMinute: delivered[lane.id] ?? 0)
            summary.pauseLeft = lane.pause.map { max(now.duration(to: $0.until), .zero) }
            try count(&summary, database, reading)
            summaries.append(summary)
        }
        return summaries
    }

    /// Returns whether an item may be sent, now or after a pause that ends by itself.
    package static func hasWork(_ database: Database) throws(StoreError) -> Bool {
        let found = try database.first(
            """
            SELECT EXISTS (SELECT 1 FROM lane WHERE NOT is_paused AND (
                EXISTS (SELECT 1 FROM item WHERE item.lane = lane.id AND state = 0)
                OR EXISTS (SELECT 1 FROM item WHERE item.lane = lane.id AND state = 1)))
            """
        ) { $0.integer(0) }
        return found == 1
    }

    private static func count(
        _ summary: inout LaneSummary,
        _ database: Database,
        _ reading: ClockReading
    ) throws(StoreError) {
        let sums = try database.first(
            "SELECT count(*), coalesce(sum(size), 0), min(added_wall), coalesce(sum(state = 2), 0) FROM item WHERE lane = ?",
            .integer(summary.lane.id)
        ) { (items: $0.integer(0), bytes: $0.integer(1), oldest: $0.optionalInteger(2), held: $0.integer(3)) }
        guard let sums else { return }
        (summary.items, summary.held, summary.bytes) = (Int(sums.items), Int(sums.held), sums.bytes)
        summary.age = sums.oldest.map { max(.nanoseconds(reading.wall) - .nanoseconds($0), .zero) }
    }

    private static func deliveries(_ database: Database, since wall: Int64) throws(StoreError) -> [Int64: Int] {
        let counts = try database.query(
            "SELECT lane, count(*) FROM outcome WHERE end = 0 AND ended_wall >= ? GROUP BY lane",
            .integer(wall)
        ) { ($0.integer(0), Int($0.integer(1))) }
        return Dictionary(counts, uniquingKeysWith: +)
    }
}
