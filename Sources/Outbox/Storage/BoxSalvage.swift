import DurableStore
import OutboxCore

/// The repair of a damaged database: each row that can be read is copied into a new one, which takes its place.
///
/// An item that can't be read as a whole ends as damaged, if at least its identifier is known. Until the new database is
/// complete and on disk, the damaged one stays where it is: the next process begins again.
struct BoxSalvage {
    let files: DurableStore.Files
    let reading: ClockReading

    init(files: DurableStore.Files, at reading: ClockReading) {
        self.files = files
        self.reading = reading
    }

    /// Fills a new database, and puts it in the place of the damaged one.
    func run() throws {
        let replacement = StoreReplacement(of: files)
        try replacement.discardDraft()
        do {
            try fill(Database(at: replacement.draft, .privateCopy))
        } catch {
            // A full disk should not keep what is of no use; the error is that of the repair.
            try? replacement.discardDraft()
            throw error
        }
        try replacement.commit()
    }

    private func fill(_ database: Database) throws {
        try database.migrate(BoxSchema.migrations)
        guard let damaged = try readable({ () throws(StoreError) in try Database(at: files.database, .privateCopy) })
        else { return }
        try database.transaction {
            for table in ["clock", "bounds", "lane", "outcome", "batch", "counter", "origin"] {
                try copy(table, from: damaged, into: database)
            }
            let lost = try copy("item", from: damaged, into: database)
            try continueClock(in: database)
            try addMissingLanes(to: database)
            try addMissingBatches(to: database)
            try continueNumbers(of: damaged, in: database)
            // Behind the outcomes that the program has not seen.
            for id in lost { try note(id, in: database) }
            try BoxSchema.recount(database)
        }
    }

    /// Returns the result of reading from the damaged database; nil if its contents can't be read.
    ///
    /// - Throws: Any other error, for example of a lock: the contents may be there.
    private func readable<Value>(_ body: () throws(StoreError) -> Value?) throws(StoreError) -> Value? {
        do throws(StoreError) { return try body() } catch {
            guard error.isOfContents else { throw error }
            return nil
        }
    }

    /// Copies the rows of a table one by one; a row that can't be read is left out.
    ///
    /// - Returns: The identifiers of the rows that were left out.
    @discardableResult
    private func copy(_ table: String, from damaged: Database, into database: Database) throws -> [Int64] {
        let columns = try database.query("SELECT name FROM pragma_table_info('\(table)')") { $0.text(0) ?? "" }
        if table == "counter" { try database.run("DELETE FROM counter") }
        return try identifiers(of: table, in: damaged).filter { id in
            let row = try readable { () throws(StoreError) in
                try damaged.first("SELECT * FROM \(table) WHERE rowid = ?", .integer(id)) { row in
                    columns.indices.map { row.value(Int32($0)) }
                }
            }
            return try row.map { try !insert($0, into: table, database) } ?? true
        }
    }

    /// Inserts a row.
    ///
    /// - Returns: Whether the table allows its values.
    private func insert(_ row: [SQLValue], into table: String, _ database: Database) throws(StoreError) -> Bool {
        let places = row.map { _ in "?" }.joined(separator: ", ")
        do throws(StoreError) {
            return try database.run("INSERT OR IGNORE INTO \(table) VALUES (\(places))", row) == 1
        } catch {
            guard error.isOfRow else { throw error }
            return false
        }
    }

    /// The end of the numbers that rows may have: a damaged one near the end of the range would leave none for new rows.
    private static let numbersEnd: Int64 = 1 << 53

    /// Returns the identifiers of the rows that can be found, from both ends: a damaged page hides those behind it.
    private func identifiers(of table: String, in damaged: Database) throws -> [Int64] {
        var found: Set<Int64> = []
        for order in ["ASC", "DESC"] {
            _ = try readable { () throws(StoreError) in
                try damaged.scan("SELECT rowid FROM \(table) ORDER BY rowid \(order)") { row in
                    found.insert(row.integer(0))
                    return true
                }
            }
        }
        return found.filter { $0 < Self.numbersEnd }.sorted()
    }

    /// Continues the clock at the latest moment that is known to have passed, if its row can't be read: it would begin at zero.
    ///
    /// What waits for a later moment no longer does, as it could be months away. Only rows with sound times count, since nothing
    /// may end early.
    private func continueClock(in database: Database) throws {
        guard try database.first("SELECT 1 FROM clock", row: { _ in true }) == nil else { return }
        let latest = try database.first(
            """
            SELECT max(time) FROM (SELECT max(added) AS time FROM item WHERE expires = added + lifetime
                UNION ALL SELECT max(first_sent) FROM item WHERE sent_check = ~first_sent)
            """
        ) { max($0.integer(0), 0) }
        let time = SQLValue.integer(latest ?? 0)
        try database.run(
            "INSERT INTO clock (id, boot, since_boot, time) VALUES (1, ?, ?, ?)",
            .text(reading.bootIdentifier),
            .integer(reading.sinceBoot),
            time
        )
        try database.run("UPDATE item SET due = min(due, ?) WHERE due IS NOT NULL", time)
        try database.run(
            """
            UPDATE lane SET pause_until = min(pause_until, ?1), retry_after_end = min(retry_after_end, ?1),
                spent_since = min(spent_since, ?1)
            """,
            time
        )
    }

    /// The tables whose numbers are never used again, and the numbers of each that other rows still name.
    private static let numbered = [
        "item": "SELECT id AS number FROM item UNION ALL SELECT id FROM outcome UNION ALL SELECT item FROM origin",
        "outcome": "SELECT sequence AS number FROM outcome",
        "batch": "SELECT id AS number FROM batch UNION ALL SELECT batch FROM item",
    ]

    /// Continues the numbers of rows where they ended: an item with the number of an outcome could not end.
    private func continueNumbers(of damaged: Database, in database: Database) throws {
        for (table, numbers) in Self.numbered {
            let counted = try readable { () throws(StoreError) in
                try damaged.first(
                    "SELECT max(seq) FROM sqlite_sequence WHERE name = ? AND seq < ?",
                    .text(table),
                    .integer(Self.numbersEnd)
                ) { $0.integer(0) }
            }
            let copied = try database.first(
                "SELECT max(number) FROM (\(numbers)) WHERE number < ?",
                .integer(Self.numbersEnd)
            ) { $0.integer(0) }
            // The table has no unique key.
            try database.run("DELETE FROM sqlite_sequence WHERE name = ?", .text(table))
            try database.run(
                "INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)",
                .text(table),
                .integer(max(counted ?? 0, copied ?? 0, 0))
            )
        }
    }

    /// Adds a paused lane for each that items belong to and that can't be read: the next new lane would get its number, and
    /// their requests would go to that one's destination.
    private func addMissingLanes(to database: Database) throws {
        let options = LaneOptions()
        try database.run(
            """
            INSERT OR IGNORE INTO lane (id, name, destination, options, class, priority, is_paused)
            SELECT DISTINCT lane, 'recovered-' || lane, ?, ?, ?, ?, 1 FROM item
            WHERE typeof(lane) = 'integer' AND lane NOT IN (SELECT id FROM lane)
            """,
            .text(Self.unknownDestination),
            .text(LaneText.text(options)),
            .integer(options.importance.rawValue),
            .init(options.priority)
        )
    }

    /// Adds each batch that items belong to and that can't be read, with a digest that no batch has: its items are then
    /// treated as those of any other that is not as it was composed.
    private func addMissingBatches(to database: Database) throws {
        try database.run(
            """
            INSERT INTO batch (id, lane, key, digest)
            SELECT batch, min(lane), '', x'00' FROM item
            WHERE typeof(batch) = 'integer' AND batch NOT IN (SELECT id FROM batch) GROUP BY batch
            """
        )
    }

    /// The destination of a lane whose own can't be read: a name that never exists (RFC 6761, section 6.4).
    private static let unknownDestination = "http://unknown.invalid"

    /// Adds the outcome of an item that can't be read.
    private func note(_ id: Int64, in database: Database) throws {
        try database.run(
            """
            INSERT OR IGNORE INTO outcome (id, lane, end, method, reference, user_info, added_wall, ended_wall, reason)
            VALUES (?, 0, ?, '', '', '{}', 0, ?, 'the database was damaged: the item can''t be read')
            """,
            .integer(id),
            .integer(ItemEnd.damaged.rawValue),
            .integer(reading.wall)
        )
    }
}
