import DurableStore
import OutboxCore

/// The stored clock of an outbox, from which it continues after a reboot.
enum ClockTable {
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
        BoxContext.of(database).setClock(clock)
        return clock.time
    }

    /// Returns the current clock, and whether the stored one is good enough to continue from after a reboot.
    static func clock(_ database: Database, _ reading: ClockReading) throws(StoreError) -> (BoxClock, isStored: Bool) {
        let stored = try BoxContext.of(database).clock { () throws(StoreError) in
            try database.first("SELECT boot, since_boot, time, anchor_wall, anchor_time, anchor_boot FROM clock") {
                BoxClock($0)
            }
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
