import DurableStore
import FoundationEssentials
import Glibc
import OutboxCore

/// The repair of a damaged database: it is set aside, and each row that can be read is copied into a new one.
///
/// An item that can't be read as a whole ends as damaged, if at least its identifier is known.
struct BoxSalvage {
    let files: DurableStore.Files
    let reading: ClockReading

    init(files: DurableStore.Files, at reading: ClockReading) {
        self.files = files
        self.reading = reading
    }

    /// Sets the damaged files aside, and fills a new database.
    func run() throws {
        let aside = try setAside()
        let database = try Database(at: files.database)
        try database.migrate(BoxSchema.migrations)
        guard let damaged = try? Database(at: "\(aside)/\(files.name)", .privateCopy) else { return }
        try database.transaction {
            for table in ["clock", "lane", "item", "outcome", "batch", "counter", "origin"] {
                try copy(table, from: damaged, into: database)
            }
            try addMissingLanes(to: database)
            try addMissingBatches(to: database)
            try continueNumbers(of: damaged, in: database)
            try BoxSchema.recount(database)
        }
    }

    /// Moves the files to a folder `damaged-N`.
    private func setAside() throws -> String {
        for number in 1... {
            let folder = "\(files.folder)/damaged-\(number)"
            guard mkdir(folder, 0o700) == 0 else {
                if errno == EEXIST { continue }
                throw StoreError("create the folder", folder, errno: errno)
            }
            for suffix in ["", "-wal"] { rename(files.database + suffix, "\(folder)/\(files.name)\(suffix)") }
            unlink(files.database + "-shm")
            return folder
        }
        return files.folder
    }

    /// Copies the rows of a table one by one; a row that can't be read is left out.
    private func copy(_ table: String, from damaged: Database, into database: Database) throws {
        let columns = try database.query("SELECT name FROM pragma_table_info('\(table)')") { $0.text(0) ?? "" }
        if table == "counter" { try database.run("DELETE FROM counter") }
        for id in identifiers(of: table, in: damaged) {
            let row = try? damaged.first("SELECT * FROM \(table) WHERE rowid = ?", .integer(id)) { row in
                columns.indices.map { row.value(Int32($0)) }
            }
            guard let row = row ?? nil else {
                if table == "item" { try note(id, in: database) }
                continue
            }
            let places = columns.map { _ in "?" }.joined(separator: ", ")
            _ = try? database.run("INSERT OR IGNORE INTO \(table) VALUES (\(places))", row)
        }
    }

    /// Returns the identifiers of the rows that can be found, from both ends: a damaged page hides those behind it.
    private func identifiers(of table: String, in damaged: Database) -> [Int64] {
        var found: Set<Int64> = []
        for order in ["ASC", "DESC"] {
            _ = try? damaged.query("SELECT rowid FROM \(table) ORDER BY rowid \(order)") { found.insert($0.integer(0)) }
        }
        return found.sorted()
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
            // A damaged value near the end of the range would leave no numbers.
            let counted = try? damaged.first(
                "SELECT max(seq) FROM sqlite_sequence WHERE name = ? AND seq < 1 << 53",
                .text(table)
            ) { $0.integer(0) }
            let copied = try database.first("SELECT max(number) FROM (\(numbers))") { $0.integer(0) }
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
            SELECT DISTINCT lane, 'recovered-' || lane, ?, ?, ?, ?, 1 FROM item WHERE lane NOT IN (SELECT id FROM lane)
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
            WHERE batch IS NOT NULL AND batch NOT IN (SELECT id FROM batch) GROUP BY batch
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
