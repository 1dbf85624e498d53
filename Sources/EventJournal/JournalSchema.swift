import DurableStore
import EventCore
import ReachabilityCore

/// The tables of a journal.
///
/// Times in `at` and `base` are those of the journal: nanoseconds that only advance. Within a boot they follow
/// `CLOCK_BOOTTIME`, so that a wall clock that is set changes no duration and removes no event.
enum JournalSchema {
    static let fileName = "events.db"

    static let migrations = [
        """
        CREATE TABLE run (
            ordinal INTEGER PRIMARY KEY, id INTEGER NOT NULL UNIQUE, boot TEXT NOT NULL,
            wall INTEGER NOT NULL, since_boot INTEGER NOT NULL, base INTEGER NOT NULL,
            alive INTEGER NOT NULL, alive_wall INTEGER NOT NULL, last INTEGER, removed INTEGER NOT NULL DEFAULT 0
        );
        CREATE TABLE event (
            run INTEGER NOT NULL, sequence INTEGER NOT NULL, at INTEGER NOT NULL, kind TEXT NOT NULL,
            status INTEGER NOT NULL, reasons TEXT NOT NULL, suspended INTEGER, line BLOB NOT NULL,
            PRIMARY KEY (run, sequence)
        ) WITHOUT ROWID;
        CREATE INDEX event_at ON event (at);
        CREATE TABLE total (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
        """
    ]

    /// The longest plausible time between two runs: a longer one is that of a clock which was set.
    static let longestPause: Int64 = 366 * 86_400 * 1_000_000_000

    /// The number of runs that are known although none of their events is kept.
    static let knownRuns: Int64 = 1024
}

// MARK: - Runs

/// A run's times.
struct RunTimes: Sendable {
    let ordinal: Int64
    let sinceBoot: Int64
    let base: Int64

    /// The time of the journal at a moment of this run.
    func time(at moment: EventMetrics.Moment) -> Int64 { base &+ max(0, moment.sinceBoot &- sinceBoot) }
}

extension Database {
    /// Records a run, unless it was recorded before.
    func beginRun(_ run: UInt64, boot: String, at moment: EventMetrics.Moment) throws {
        guard try times(of: run) == nil else { return }
        let sql = "SELECT boot, since_boot, base, alive, alive_wall FROM run ORDER BY ordinal DESC LIMIT 1"
        let base = try first(sql) { row in
            let alive = row.integer(3)
            if row.text(0) == boot { return max(alive, row.integer(2) &+ moment.sinceBoot &- row.integer(1)) }
            let pause = moment.since1970 &- row.integer(4)
            return alive &+ (0...JournalSchema.longestPause ~= pause ? pause : 0)
        }
        let start = base ?? moment.since1970
        try self.run(
            "INSERT INTO run (id, boot, wall, since_boot, base, alive, alive_wall) VALUES (?, ?, ?, ?, ?, ?, ?)",
            .integer(Int64(bitPattern: run)),
            .text(boot),
            .integer(moment.since1970),
            .integer(moment.sinceBoot),
            .integer(start),
            .integer(start),
            .integer(moment.since1970)
        )
    }

    /// Records the number of a run's last event; a run without events is removed.
    func endRun(_ run: UInt64, last: UInt64) throws {
        if last == 0 { try self.run("DELETE FROM run WHERE id = ?", .integer(Int64(bitPattern: run))) }
        try self.run("UPDATE run SET last = ? WHERE id = ?", .init(last), .integer(Int64(bitPattern: run)))
    }

    /// Returns the times of a run; nil if it is not recorded.
    func times(of run: UInt64) throws -> RunTimes? {
        let sql = "SELECT ordinal, since_boot, base FROM run WHERE id = ?"
        return try first(sql, .integer(Int64(bitPattern: run))) { row in
            RunTimes(ordinal: row.integer(0), sinceBoot: row.integer(1), base: row.integer(2))
        }
    }

    private func runs() throws -> [JournalRun] {
        try query("SELECT ordinal, id, last, removed FROM run ORDER BY ordinal") { row in
            JournalRun(
                ordinal: row.integer(0),
                run: UInt64(bitPattern: row.integer(1)),
                last: row.optionalInteger(2).map { UInt64(bitPattern: $0) },
                removed: UInt64(bitPattern: row.integer(3))
            )
        }
    }
}

// MARK: - Events

extension Database {
    /// Stores events of a run, and until when it has run.
    func insert(_ events: [StoredEvent], of run: UInt64, at moment: EventMetrics.Moment) throws {
        guard let times = try times(of: run) else { return }
        let sql = """
            INSERT OR IGNORE INTO event (run, sequence, at, kind, status, reasons, suspended, line)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """
        for event in events {
            let change = event.change
            try self.run(
                sql,
                .integer(times.ordinal),
                .init(event.sequence),
                .integer(times.time(at: event.moment)),
                .text(event.kind),
                .init(change.status.rawValue),
                .text(change.reasons.map(\.rawValue).joined(separator: " ")),
                .init(change.suspended.map(Self.nanoseconds)),
                .blob(event.line)
            )
        }
        try self.run(
            "UPDATE run SET alive = max(alive, ?), alive_wall = ? WHERE ordinal = ?",
            .integer(times.time(at: moment)),
            .integer(moment.since1970),
            .integer(times.ordinal)
        )
    }

    private static func nanoseconds(_ duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
    }

    /// Returns the events that follow one.
    func page(after id: EventID, limit: Int) throws -> JournalPage<[UInt8]> {
        let sql = """
            SELECT run, sequence, line FROM event WHERE (run, sequence) > (?, ?) ORDER BY run, sequence LIMIT ?
            """
        return try JournalOrder(runs()).page(after: id) { ordinal, sequence in
            try query(sql, .integer(ordinal), .init(sequence), .init(limit)) { row in
                JournalOrder.Stored(
                    ordinal: row.integer(0),
                    sequence: UInt64(bitPattern: row.integer(1)),
                    event: row.blob(2) ?? []
                )
            }
        }
    }

    /// Returns the event after which a period begins: the one before the newest that is not after its beginning.
    func start(since age: Duration, at now: EventMetrics.Moment, in run: UInt64) throws -> EventID? {
        guard let times = try times(of: run) else { return nil }
        let beginning = times.time(at: now) &- Self.nanoseconds(age)
        let columns = "SELECT run.id, sequence FROM event JOIN run ON run.ordinal = event.run"
        let read = { (row: borrowing Row) in
            EventID(run: UInt64(bitPattern: row.integer(0)), sequence: UInt64(bitPattern: row.integer(1)) - 1)
        }
        let last = "\(columns) WHERE at <= ? ORDER BY event.run DESC, sequence DESC LIMIT 1"
        if let id = try first(last, .integer(beginning), row: read) { return id }
        return try first("\(columns) ORDER BY event.run, sequence LIMIT 1", row: read)
    }
}

// MARK: - Counters

extension Database {
    /// Returns the counters.
    func totals() throws -> EventTotals {
        let rows = try query("SELECT name, value FROM total") { ($0.text(0) ?? "", $0.integer(1)) }
        return .init(named: .init(rows) { first, _ in first })
    }

    /// Replaces the counters.
    func replace(_ totals: EventTotals) throws {
        let sql = "INSERT INTO total VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        for (name, value) in totals.named { try run(sql, .text(name), .integer(value)) }
    }
}

// MARK: - Limits

extension Database {
    /// Removes what is older than the limit, and then the oldest events until the size is within the limit.
    func prune(_ limits: JournalLimits, at now: EventMetrics.Moment, in run: UInt64) throws {
        guard let times = try times(of: run) else { return }
        try remove(until: times.time(at: now) &- Self.nanoseconds(limits.age))
        while try usedSize() > limits.size, let middle = try cutoff() { try remove(until: middle) }
        try self.run(
            """
            DELETE FROM run WHERE ordinal <= (SELECT max(ordinal) FROM run) - ?
            AND NOT EXISTS (SELECT 1 FROM event WHERE event.run = run.ordinal)
            """,
            .integer(JournalSchema.knownRuns)
        )
    }

    /// The size of the pages in use, in bytes.
    private func usedSize() throws -> Int64 {
        let sql = """
            SELECT (page_count - freelist_count) * page_size
            FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()
            """
        return try first(sql) { $0.integer(0) } ?? 0
    }

    /// The time of the event before which a sixteenth of them are; nil if there is none.
    private func cutoff() throws -> Int64? {
        try first("SELECT at FROM event ORDER BY at LIMIT 1 OFFSET (SELECT count(*) FROM event) / 16") { $0.integer(0) }
    }

    private func remove(until time: Int64) throws {
        let removed = "SELECT max(sequence) FROM event WHERE event.run = run.ordinal AND at <= ?1"
        try run(
            "UPDATE run SET removed = (\(removed)) WHERE ordinal IN (SELECT DISTINCT run FROM event WHERE at <= ?1)",
            .integer(time)
        )
        try run("DELETE FROM event WHERE at <= ?", .integer(time))
    }
}
