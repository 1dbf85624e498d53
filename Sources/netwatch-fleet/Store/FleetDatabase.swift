import DurableStore
import EventCore
import FleetCore
import NetwatchCore
import ReachabilityCore

/// The tables of a viewer's store: events keyed by (node, run, seq), and links; confined to one thread at a time.
///
/// Events are stored in columns rather than as their messages, which are eight times as large and take longer to read.
/// `arrival` counts both tables' rows together, in the order in which they were received.
final class FleetDatabase {
    /// How much is kept; the oldest is removed first.
    struct Limits: Hashable, Sendable {
        var age = Duration.seconds(30 * 86_400)
        /// The size in bytes of what is stored.
        var size: Int64 = 1 << 30
    }

    private let database: Database
    private var nodes: [NodeKey: Int64] = [:]
    /// The newest link of each node, which a broker sends again at each connection.
    private var newestLinks: [Int64: LinkReport] = [:]
    private var arrival: Int64

    private static let migrations = [
        """
        CREATE TABLE node (id INTEGER PRIMARY KEY, grp TEXT NOT NULL, name TEXT NOT NULL, UNIQUE (grp, name));
        CREATE TABLE event (
            arrival INTEGER PRIMARY KEY, node INTEGER NOT NULL, run INTEGER NOT NULL, seq INTEGER NOT NULL,
            received INTEGER NOT NULL, time INTEGER NOT NULL, status INTEGER NOT NULL, reasons TEXT NOT NULL,
            interface TEXT, kind TEXT, gateway TEXT, suspension INTEGER,
            UNIQUE (node, run, seq)
        );
        CREATE INDEX event_received ON event (received);
        CREATE TABLE link (
            arrival INTEGER PRIMARY KEY, node INTEGER NOT NULL, received INTEGER NOT NULL, retained INTEGER NOT NULL,
            expiry INTEGER, offline TEXT, session TEXT NOT NULL, boot TEXT, time INTEGER, keepalive INTEGER NOT NULL,
            version TEXT NOT NULL, labels TEXT NOT NULL
        );
        CREATE INDEX link_received ON link (received);
        CREATE TABLE session (source TEXT PRIMARY KEY, client TEXT NOT NULL) WITHOUT ROWID;
        """
    ]

    /// Opens or creates a store.
    ///
    /// Only one process has it open, so that SQLite may copy the write-ahead log at any commit.
    init(at path: String) throws(StoreError) {
        database = try Database(at: path)
        try database.migrate(Self.migrations)
        try database.execute("PRAGMA wal_autocheckpoint = 1000")
        let last = """
            SELECT max(coalesce((SELECT max(arrival) FROM event), 0), coalesce((SELECT max(arrival) FROM link), 0))
            """
        arrival = try database.first(last) { $0.integer(0) } ?? 0
    }

    /// Returns the name of the session with a broker that a subscription has; it is drawn when it is first asked for.
    func clientID(of source: String) throws(StoreError) -> String {
        let sql = "SELECT client FROM session WHERE source = ?"
        let known = try database.first(sql, .text(source)) { $0.text(0) }
        if let name = known.flatMap(\.self) { return name }
        let name = "nwf-" + String(UInt64.random(in: .min ... .max), radix: 36)
        try database.run("INSERT INTO session VALUES (?, ?)", .text(source), .text(name))
        return name
    }
}

// MARK: - Writing

extension FleetDatabase {
    /// Stores messages, all or none; an event that is stored already is left out.
    func insert(_ entries: [FleetStore.Entry]) throws {
        let (before, known, links) = (arrival, nodes, newestLinks)
        do {
            try database.transaction { for entry in entries { try insert(entry) } }
        } catch {
            (arrival, nodes, newestLinks) = (before, known, links)
            throw error
        }
    }

    private func insert(_ entry: FleetStore.Entry) throws(StoreError) {
        switch entry.report.content {
        case .event(let event): try insert(event, of: try node(entry.report.key), entry.delivery)
        case .link(let link): try insert(link, of: try node(entry.report.key), entry.delivery)
        case .state, .gap, .removed: break
        }
    }

    private func node(_ key: NodeKey) throws(StoreError) -> Int64 {
        if let id = nodes[key] { return id }
        try database.run("INSERT OR IGNORE INTO node (grp, name) VALUES (?, ?)", .text(key.group), .text(key.name))
        let sql = "SELECT id FROM node WHERE grp = ? AND name = ?"
        let id = try database.first(sql, .text(key.group), .text(key.name)) { $0.integer(0) } ?? 0
        nodes[key] = id
        return id
    }

    private func insert(_ event: EventReport, of node: Int64, _ delivery: Delivery) throws(StoreError) {
        arrival += 1
        try database.run(
            "INSERT OR IGNORE INTO event VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            .integer(arrival),
            .integer(node),
            .integer(Int64(bitPattern: event.id.run)),
            .init(event.id.sequence),
            .integer(delivery.time.nanosecondsSinceEpoch),
            .integer(event.time.nanosecondsSinceEpoch),
            .init(event.status.rawValue),
            .text(event.reasons.joined(separator: " ")),
            .init(event.path?.interface),
            .init(event.path?.kind),
            .init(event.path?.gateway),
            .init(event.suspension?.inNanoseconds)
        )
    }

    private func insert(_ link: LinkReport, of node: Int64, _ delivery: Delivery) throws(StoreError) {
        guard newestLinks.updateValue(link, forKey: node) != link else { return }
        arrival += 1
        let labels = link.labels.sorted { $0.key < $1.key }.map { name, value in
            "\"\(name.escapedForJSON)\":\"\(value.escapedForJSON)\""
        }
        try database.run(
            "INSERT INTO link VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            .integer(arrival),
            .integer(node),
            .integer(delivery.time.nanosecondsSinceEpoch),
            .integer(delivery.isRetained ? 1 : 0),
            .init(delivery.expiry),
            .init(link.offline?.rawValue),
            .text(link.session),
            .init(link.boot),
            .init(link.time?.nanosecondsSinceEpoch),
            .init(link.keepAlive),
            .text(link.version),
            .text("{\(labels.joined(separator: ","))}")
        )
    }

    /// Removes what is older than the limit, then the oldest messages until the size is within the limit.
    func prune(_ limits: Limits, at now: Timestamp) throws(StoreError) {
        try remove(receivedBefore: now.nanosecondsSinceEpoch - limits.age.inNanoseconds)
        while try usedSize() > limits.size, let time = try cutoff() { try remove(receivedBefore: time) }
    }

    /// The size of the pages in use, in bytes.
    private func usedSize() throws(StoreError) -> Int64 {
        let sql = """
            SELECT (page_count - freelist_count) * page_size
            FROM pragma_page_count(), pragma_freelist_count(), pragma_page_size()
            """
        return try database.first(sql) { $0.integer(0) } ?? 0
    }

    /// The time before which a sixteenth of the events were received; nil if there is none.
    private func cutoff() throws(StoreError) -> Int64? {
        let sql = "SELECT received FROM event ORDER BY received LIMIT 1 OFFSET (SELECT count(*) FROM event) / 16"
        return try database.first(sql) { $0.integer(0) + 1 }
    }

    private func remove(receivedBefore time: Int64) throws(StoreError) {
        try database.run("DELETE FROM event WHERE received < ?", .integer(time))
        try database.run("DELETE FROM link WHERE received < ?", .integer(time))
    }
}

// MARK: - Reading

extension FleetDatabase {
    /// Reads what was received from a moment on, and the newest event of each machine before that, in the order in which
    /// it was received.
    ///
    /// - Parameters:
    ///   - start: The moment.
    ///   - limit: The number of the newest events that are read at most.
    ///   - body: Takes a message.
    /// - Throws: ``StoreError``.
    func read(from start: Timestamp, limit: Int, _ body: (FleetStore.Entry) -> Void) throws(StoreError) {
        let keys = try database.query("SELECT id, grp, name FROM node") { row in
            (row.integer(0), NodeKey(group: row.text(1) ?? "", name: row.text(2) ?? ""))
        }
        let names = Dictionary(keys) { first, _ in first }
        nodes = Dictionary(keys.map { ($1, $0) }) { first, _ in first }
        var links = try links(from: start, names)[...]
        for case (_, let entry) in links {
            if case .link(let link) = entry.report.content { newestLinks[nodes[entry.report.key] ?? 0] = link }
        }
        let sql = """
            SELECT * FROM event WHERE arrival > ?2 AND received >= ?1
            OR arrival IN (SELECT max(arrival) FROM event WHERE received < ?1 GROUP BY node) ORDER BY arrival
            """
        let oldest = arrival - Int64(limit)
        try database.scan(sql, .integer(start.nanosecondsSinceEpoch), .integer(oldest)) { row in
            while let first = links.first, first.arrival < row.integer(0) {
                body(first.entry)
                links.removeFirst()
            }
            if let entry = Self.event(row, names) { body(entry) }
            return true
        }
        for link in links { body(link.entry) }
    }

    private func links(
        from start: Timestamp,
        _ names: [Int64: NodeKey]
    ) throws(StoreError) -> [(arrival: Int64, entry: FleetStore.Entry)] {
        let sql = """
            SELECT * FROM link WHERE received >= ?1
            OR arrival IN (SELECT max(arrival) FROM link WHERE received < ?1 GROUP BY node) ORDER BY arrival
            """
        return try database.query(sql, .integer(start.nanosecondsSinceEpoch)) { row in
            Self.link(row, names).map { (row.integer(0), $0) }
        }.compactMap(\.self)
    }

    private static func event(_ row: borrowing Row, _ names: [Int64: NodeKey]) -> FleetStore.Entry? {
        guard let key = names[row.integer(1)] else { return nil }
        let interface = row.text(8)
        let report = EventReport(
            id: .init(run: UInt64(bitPattern: row.integer(2)), sequence: UInt64(clamping: row.integer(3))),
            time: .init(nanosecondsSinceEpoch: row.integer(5)),
            status: .init(rawValue: Int8(clamping: row.integer(6))) ?? .unknown,
            reasons: (row.text(7) ?? "").split(separator: " ").map(String.init),
            path: interface.map { .init(interface: $0, kind: row.text(9) ?? "other", gateway: row.text(10)) },
            suspension: row.optionalInteger(11).map { .nanoseconds($0) }
        )
        let delivery = Delivery(time: .init(nanosecondsSinceEpoch: row.integer(4)))
        return .init(report: .init(key: key, content: .event(report)), delivery: delivery)
    }

    private static func link(_ row: borrowing Row, _ names: [Int64: NodeKey]) -> FleetStore.Entry? {
        guard let key = names[row.integer(1)] else { return nil }
        let labels = (try? JSONText(Array((row.text(11) ?? "{}").utf8)[...]))?.members ?? [:]
        let report = LinkReport(
            offline: row.text(5).flatMap(FleetLink.Reason.init),
            session: row.text(6) ?? "",
            boot: row.text(7),
            time: row.optionalInteger(8).map { .init(nanosecondsSinceEpoch: $0) },
            keepAlive: UInt16(clamping: row.integer(9)),
            version: row.text(10) ?? "",
            labels: labels.compactMapValues(\.string)
        )
        let delivery = Delivery(
            time: .init(nanosecondsSinceEpoch: row.integer(2)),
            isRetained: row.integer(3) != 0,
            expiry: row.optionalInteger(4).map { UInt32(clamping: $0) }
        )
        return .init(report: .init(key: key, content: .link(report)), delivery: delivery)
    }
}

extension Duration {
    /// The duration in whole nanoseconds.
    var inNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000
    }
}
