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
    ///
    /// All items are read.
    package static func summaries(
        _ database: Database,
        at reading: ClockReading = MachineClock.system.read()
    ) throws(StoreError) -> [LaneSummary] {
        let (delivered, contents) = (
            try deliveries(database, since: reading.wall - 60_000_000_000), try contents(database)
        )
        return try summariesWithoutItems(database, at: reading).map { summary in
            var summary = summary
            summary.deliveredLastMinute = delivered[summary.lane.id] ?? 0
            guard let sums = contents[summary.lane.id] else { return summary }
            (summary.items, summary.held, summary.bytes) = (sums.items, sums.held, sums.bytes)
            summary.age = max(.nanoseconds(reading.wall) - .nanoseconds(sums.oldest), .zero)
            return summary
        }
    }

    /// Returns the lanes that are paused, without what they hold: no item is read.
    package static func pausedLanes(
        _ database: Database,
        at reading: ClockReading = MachineClock.system.read()
    ) throws(StoreError) -> [LaneSummary] {
        try summariesWithoutItems(database, at: reading).filter { $0.lane.isPaused || $0.pauseLeft != nil }
    }

    private static func summariesWithoutItems(
        _ database: Database,
        at reading: ClockReading
    ) throws(StoreError) -> [LaneSummary] {
        let now = try ClockTable.clock(database, reading).0.time
        return try lanes(database).map { lane in
            LaneSummary(lane: lane, pauseLeft: lane.pause.map { max(now.duration(to: $0.until), .zero) })
        }
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

    /// What a lane holds.
    private struct Contents {
        var items: Int
        var bytes: Int64
        /// When the oldest item was added, in nanoseconds since 1970.
        var oldest: Int64
        var held: Int
    }

    private static func contents(_ database: Database) throws(StoreError) -> [Int64: Contents] {
        let rows = try database.query(
            "SELECT lane, count(*), total(max(size, 0)), min(added_wall), sum(state = 2) FROM item GROUP BY lane"
        ) { row in
            let (items, held) = (Int(row.integer(1)), Int(row.integer(4)))
            return (row.integer(0), Contents(items: items, bytes: row.integer(2), oldest: row.integer(3), held: held))
        }
        return Dictionary(rows, uniquingKeysWith: { $1 })
    }

    private static func deliveries(_ database: Database, since wall: Int64) throws(StoreError) -> [Int64: Int] {
        let counts = try database.query(
            "SELECT lane, count(*) FROM outcome WHERE end = 0 AND ended_wall >= ? GROUP BY lane",
            .integer(wall)
        ) { ($0.integer(0), Int($0.integer(1))) }
        return Dictionary(counts, uniquingKeysWith: +)
    }
}
