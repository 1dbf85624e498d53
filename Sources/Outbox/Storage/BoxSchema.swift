package import DurableStore

/// The tables of an outbox, and the statements that lead from each version to the next.
package enum BoxSchema {
    /// The name of the database's file.
    package static let fileName = "outbox.db"

    /// One element per version.
    package static let migrations = [
        """
        CREATE TABLE clock (
            id INTEGER PRIMARY KEY CHECK (id = 1),
            boot TEXT NOT NULL, since_boot INTEGER NOT NULL, time INTEGER NOT NULL,
            anchor_wall INTEGER, anchor_time INTEGER, anchor_boot TEXT
        );
        CREATE TABLE lane (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            destination TEXT NOT NULL,
            options TEXT NOT NULL,
            class INTEGER NOT NULL,
            priority INTEGER NOT NULL,
            is_paused INTEGER NOT NULL DEFAULT 0,
            pause_failures INTEGER, pause_until INTEGER, retry_after_end INTEGER, pause_reason TEXT
        );
        CREATE TABLE item (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            lane INTEGER NOT NULL,
            state INTEGER NOT NULL DEFAULT 0,
            method TEXT NOT NULL, reference TEXT NOT NULL, fields TEXT NOT NULL, content_type TEXT,
            key TEXT, digest BLOB NOT NULL,
            body BLOB, file TEXT, file_kind INTEGER, file_check TEXT,
            size INTEGER NOT NULL,
            credential TEXT, user_info TEXT NOT NULL,
            added INTEGER NOT NULL, added_wall INTEGER NOT NULL,
            due INTEGER, not_before INTEGER, expires INTEGER, first_sent INTEGER,
            attempts INTEGER NOT NULL DEFAULT 0,
            batch INTEGER,
            failure TEXT
        );
        CREATE INDEX item_lane ON item (lane, id) WHERE state = 0;
        CREATE INDEX item_sending ON item (id) WHERE state = 1;
        CREATE INDEX item_expires ON item (expires) WHERE expires IS NOT NULL;
        CREATE INDEX item_file ON item (file) WHERE file IS NOT NULL;
        CREATE INDEX item_batch ON item (batch, id) WHERE batch IS NOT NULL;
        CREATE UNIQUE INDEX item_key ON item (lane, key) WHERE key IS NOT NULL;
        CREATE TABLE outcome (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            id INTEGER NOT NULL UNIQUE,
            lane INTEGER NOT NULL,
            end INTEGER NOT NULL,
            method TEXT NOT NULL, reference TEXT NOT NULL,
            key TEXT, digest BLOB, user_info TEXT NOT NULL,
            added_wall INTEGER NOT NULL, ended_wall INTEGER NOT NULL,
            status INTEGER, fields TEXT, body BLOB, reason TEXT NOT NULL
        );
        CREATE INDEX outcome_key ON outcome (lane, key) WHERE key IS NOT NULL;
        CREATE TABLE batch (id INTEGER PRIMARY KEY AUTOINCREMENT, lane INTEGER NOT NULL, key TEXT NOT NULL);
        CREATE TABLE usage (class INTEGER PRIMARY KEY, items INTEGER NOT NULL, bytes INTEGER NOT NULL);
        INSERT INTO usage VALUES (0, 0, 0), (1, 0, 0), (2, 0, 0);
        CREATE TABLE counter (end INTEGER PRIMARY KEY, count INTEGER NOT NULL);
        CREATE TRIGGER item_added AFTER INSERT ON item BEGIN
            UPDATE usage SET items = items + 1, bytes = bytes + new.size
            WHERE class = (SELECT class FROM lane WHERE id = new.lane);
        END;
        CREATE TRIGGER item_removed AFTER DELETE ON item BEGIN
            UPDATE usage SET items = items - 1, bytes = bytes - old.size
            WHERE class = (SELECT class FROM lane WHERE id = old.lane);
        END;
        CREATE TRIGGER outcome_added AFTER INSERT ON outcome BEGIN
            INSERT INTO counter VALUES (new.end, 1) ON CONFLICT (end) DO UPDATE SET count = count + 1;
        END;
        """,
        """
        ALTER TABLE item ADD COLUMN lifetime INTEGER;
        ALTER TABLE item ADD COLUMN sent_check INTEGER;
        ALTER TABLE item ADD COLUMN part TEXT;
        ALTER TABLE lane ADD COLUMN spent INTEGER;
        ALTER TABLE lane ADD COLUMN spent_since INTEGER;
        UPDATE item SET sent_check = ~first_sent;
        """,
        OriginTable.migration,
        """
        DROP TRIGGER item_added;
        DROP TRIGGER item_removed;
        DROP TRIGGER outcome_added;
        ALTER TABLE batch ADD COLUMN digest BLOB;
        INSERT OR REPLACE INTO counter SELECT \(outcomeCounter), count(*) FROM outcome;
        """,
        LimitTable.migration,
    ]

    /// The row of `counter` with the number of outcomes that are kept; the others are by end.
    static let outcomeCounter: Int64 = -1

    /// Computes the usage and the number of outcomes: after a repair, and when the class of a lane has changed.
    package static func recount(_ database: Database) throws(StoreError) {
        try database.run(
            """
            UPDATE usage SET
                items = (SELECT count(*) FROM item JOIN lane ON lane.id = item.lane WHERE lane.class = usage.class),
                bytes = (SELECT CAST(total(max(size, 0)) AS INTEGER) FROM item JOIN lane ON lane.id = item.lane
                    WHERE lane.class = usage.class)
            """
        )
        try database.run("INSERT OR REPLACE INTO counter SELECT \(outcomeCounter), count(*) FROM outcome")
        BoxContext.of(database).recounted()
    }
}
