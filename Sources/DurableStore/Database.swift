import CSQLite
import Glibc

/// A value of a column or a parameter.
package enum SQLValue: Sendable, Hashable {
    case integer(Int64)
    case text(String)
    case blob([UInt8])
    case null

    /// Creates an integer; nil becomes `null`.
    package init(_ number: Int64?) { self = number.map { .integer($0) } ?? .null }
    /// Creates an integer; nil becomes `null`.
    package init(_ number: Int?) { self = number.map { .integer(Int64($0)) } ?? .null }
    /// Creates an integer, the nearest of 64 bits with a sign; nil becomes `null`.
    package init(_ number: (some BinaryInteger)?) { self = number.map { .integer(Int64(clamping: $0)) } ?? .null }
    /// Creates a text; nil becomes `null`.
    package init(_ text: String?) { self = text.map { .text($0) } ?? .null }
    /// Creates a blob; nil becomes `null`.
    package init(_ bytes: [UInt8]?) { self = bytes.map { .blob($0) } ?? .null }
}

extension SQLValue: ExpressibleByIntegerLiteral, ExpressibleByNilLiteral, ExpressibleByStringLiteral {
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(nilLiteral: ()) { self = .null }
    package init(stringLiteral value: String) { self = .text(value) }
}

/// A row of a result; valid only within the closure that receives it.
package struct Row: ~Copyable {
    private let statement: OpaquePointer

    fileprivate init(_ statement: OpaquePointer) { self.statement = statement }

    /// Returns whether a column is NULL.
    package func isNull(_ column: Int32) -> Bool { sqlite3_column_type(statement, column) == SQLITE_NULL }

    /// Returns an integer; 0 for NULL.
    package func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(statement, column) }

    /// Returns an integer; nil for NULL.
    package func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }

    /// Returns a text; nil for NULL.
    package func text(_ column: Int32) -> String? {
        guard let bytes = sqlite3_column_text(statement, column) else { return nil }
        let length = Int(sqlite3_column_bytes(statement, column))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: length), as: UTF8.self)
    }

    /// Returns a column as the value that it has.
    package func value(_ column: Int32) -> SQLValue {
        // A damaged file may be of an earlier version, with fewer columns.
        guard column < sqlite3_data_count(statement) else { return .null }
        return switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: .integer(integer(column))
        case SQLITE_TEXT: .init(text(column))
        case SQLITE_BLOB: .init(blob(column))
        default: .null
        }
    }

    /// Returns the bytes of a blob; nil for NULL.
    package func blob(_ column: Int32) -> [UInt8]? {
        if isNull(column) { return nil }
        let length = Int(sqlite3_column_bytes(statement, column))
        guard length > 0, let bytes = sqlite3_column_blob(statement, column) else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: length))
    }
}

/// A connection to a SQLite database, with its prepared statements; confined to one thread.
///
/// Commits are synchronized before they return (`synchronous=FULL` in WAL mode). No checkpoint happens by itself: see
/// ``checkpoint()``. A connection must not be used across fork(2), nor on a network file system.
package final class Database {
    /// The mode of opening a file.
    package enum Access: Sendable {
        /// Read and written; created if it is missing.
        case readWrite
        /// Read and written, without a write-ahead log: for a private copy.
        case privateCopy
    }

    /// The path of the file that errors name.
    package let path: String
    /// The values that the closures of the open transaction share; nil in a database without any.
    package internal(set) var context: (any TransactionContext)?
    private let handle: OpaquePointer
    private var statements: [StatementText: OpaquePointer] = [:]

    /// A statement's text, with a hash that does not read all of it.
    private struct StatementText: Hashable {
        let text: String

        func hash(into hasher: inout Hasher) { hasher.combine(text.utf8.count) }
    }

    /// Opens a database.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - access: The mode.
    ///   - original: The path of the file that it is a copy of, which errors name; nil if it is none.
    /// - Throws: ``StoreError``.
    package init(at path: String, _ access: Access = .readWrite, of original: String? = nil) throws(StoreError) {
        self.path = original ?? path
        // Created here, for the owner only: SQLite gives its other files the same mode.
        // A file that exists is not opened: closing it would release the locks of this process's other connections.
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 || errno == EEXIST else { throw .init("open the database", path, errno: errno) }
        if file >= 0 { close(file) }
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let code = sqlite3_open_v2(Self.resolved(path), &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let number = opened.map { sqlite3_system_errno($0) } ?? 0
            sqlite3_close_v2(opened)
            if number != 0 { throw .init("open the database", path, errno: number) }
            throw .init(sqlite: code, "cannot open the database: \(String(cString: sqlite3_errstr(code)))", path)
        }
        handle = opened
        sqlite3_extended_result_codes(handle, 1)
        try configure(access)
    }

    /// Returns the path with its folder resolved (realpath(3)).
    ///
    /// With `SQLITE_OPEN_NOFOLLOW`, SQLite refuses links anywhere in a path, and the folder may be one: so is the state
    /// directory of a service with `DynamicUser=` (systemd.exec(5)).
    private static func resolved(_ path: String) -> String {
        guard let slash = path.lastIndex(of: "/"), let folder = realpath(String(path[..<slash]), nil) else {
            return path
        }
        defer { free(folder) }
        return String(cString: folder) + path[slash...]
    }

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(handle)
    }

    private func configure(_ access: Access) throws(StoreError) {
        netwatch_keep_log_on_close(handle)
        sqlite3_busy_timeout(handle, 10_000)
        try execute("PRAGMA mmap_size = 0")
        guard access == .readWrite else { return }
        try execute("PRAGMA journal_mode = WAL")
        try execute("PRAGMA synchronous = FULL")
        try execute("PRAGMA wal_autocheckpoint = 0")
        try execute("PRAGMA journal_size_limit = 4194304")
    }

    /// Executes statements without parameters and results.
    package func execute(_ sql: String) throws(StoreError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code, sql) }
    }

    /// Executes a statement.
    ///
    /// - Returns: The number of rows that it changed.
    @discardableResult
    package func run(_ sql: String, _ values: SQLValue...) throws(StoreError) -> Int {
        try run(sql, values)
    }

    /// Executes a statement with any number of parameters.
    @discardableResult
    package func run(_ sql: String, _ values: [SQLValue]) throws(StoreError) -> Int {
        try step(sql, values) { (_: borrowing Row) in true }
        return Int(sqlite3_changes(handle))
    }

    /// Executes a query, and returns what a closure makes of its rows.
    package func query<Value>(
        _ sql: String,
        _ values: SQLValue...,
        row: (borrowing Row) -> Value
    ) throws(StoreError) -> [Value] {
        var found: [Value] = []
        try step(sql, values) {
            found.append(row($0))
            return true
        }
        return found
    }

    /// Executes a query, and calls a closure with its rows until it returns false.
    package func scan(
        _ sql: String,
        _ values: SQLValue...,
        row: (borrowing Row) -> Bool
    ) throws(StoreError) {
        try step(sql, values, row)
    }

    /// Executes a query, and returns what a closure makes of its first row; nil without rows.
    package func first<Value>(
        _ sql: String,
        _ values: SQLValue...,
        row: (borrowing Row) -> Value
    ) throws(StoreError) -> Value? {
        var found: Value?
        try step(sql, values) {
            if found == nil { found = row($0) }
            return true
        }
        return found
    }

    /// The identifier of the row that was inserted last.
    package var lastIdentifier: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Whether a transaction is open.
    var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    private func step(_ sql: String, _ values: [SQLValue], _ row: (borrowing Row) -> Bool) throws(StoreError) {
        let statement = try prepared(sql)
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        for (index, value) in values.enumerated() { try bind(value, Int32(index + 1), statement, sql) }
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw error(code, sql) }
            guard row(Row(statement)) else { return }
        }
    }

    private func prepared(_ sql: String) throws(StoreError) -> OpaquePointer {
        let key = StatementText(text: sql)
        if let statement = statements[key] { return statement }
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw error(code, sql) }
        statements[key] = statement
        return statement
    }

    private func bind(
        _ value: SQLValue,
        _ index: Int32,
        _ statement: OpaquePointer,
        _ sql: String
    ) throws(StoreError) {
        let code =
            switch value {
            case .null: sqlite3_bind_null(statement, index)
            case .integer(let number): sqlite3_bind_int64(statement, index, number)
            case .text(let text): netwatch_bind_text(statement, index, text, Int32(text.utf8.count))
            case .blob(let bytes) where bytes.isEmpty: sqlite3_bind_zeroblob(statement, index, 0)
            case .blob(let bytes): netwatch_bind_blob(statement, index, bytes, Int32(bytes.count))
            }
        guard code == SQLITE_OK else { throw error(code, sql) }
    }

    private func error(_ code: Int32, _ sql: String) -> StoreError {
        let words = sql.split { $0.isWhitespace }.prefix(3).joined(separator: " ")
        return .init(sqlite: code, "'\(words)' failed: \(String(cString: sqlite3_errmsg(handle)))", path)
    }
}

extension Database {
    /// Runs a closure in a transaction, which is rolled back if it throws.
    package func transaction<Value>(_ body: () throws -> Value) throws -> Value {
        try execute("BEGIN IMMEDIATE")
        do {
            let value = try body()
            try execute("COMMIT")
            return value
        } catch {
            rollBack()
            throw error
        }
    }

    /// Rolls the open transaction back, if SQLite has not done so after an error.
    func rollBack() {
        // It fails only if the connection is broken, which is closed then.
        if isInTransaction { try? execute("ROLLBACK") }
    }

    /// Copies the write-ahead log into the database, as far as no reader needs it.
    ///
    /// The caller holds the store's ``CommitLock``: before SQLite 3.51.3, a commit of another connection at the same
    /// time could be lost.
    func checkpoint() throws(StoreError) {
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
        guard code == SQLITE_OK || code & 0xff == SQLITE_BUSY else { throw error(code, "PRAGMA wal_checkpoint") }
    }

    /// The size in bytes of the pages that are not used, and in which rows are stored before the file grows.
    package var freePageBytes: Int64 {
        get throws(StoreError) {
            let pages = try first("PRAGMA freelist_count") { $0.integer(0) } ?? 0
            return try pages * (first("PRAGMA page_size") { $0.integer(0) } ?? 0)
        }
    }

    /// Checks the structure of the database.
    ///
    /// - Returns: The first problems; empty if it is sound.
    package func quickCheck() throws(StoreError) -> [String] {
        try query("PRAGMA quick_check(10)") { $0.text(0) ?? "" }.filter { $0 != "ok" }
    }

    /// The version of the schema, which the program sets; 0 in a new file.
    var schemaVersion: Int {
        get throws(StoreError) { Int(try first("PRAGMA user_version") { $0.integer(0) } ?? 0) }
    }

    /// Brings the schema to the latest version, in one transaction.
    ///
    /// - Parameter migrations: The statements that lead from each version to the next; the first creates the tables.
    /// - Throws: ``StoreError/Code/newerSchema`` if the file is of a later version.
    package func migrate(_ migrations: [String]) throws(StoreError) {
        guard try schemaVersion != migrations.count else { return }
        try execute("BEGIN IMMEDIATE")
        do throws(StoreError) {
            // Another process may have been faster.
            let version = try schemaVersion
            guard version <= migrations.count else {
                let reason = "the schema has version \(version), and this program knows \(migrations.count)"
                throw StoreError(.newerSchema, path, reason)
            }
            for migration in migrations[version...] { try execute(migration) }
            try execute("PRAGMA user_version = \(migrations.count)")
            try execute("COMMIT")
        } catch {
            rollBack()
            throw error
        }
    }
}
