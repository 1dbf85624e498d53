import FoundationEssentials
import Glibc

/// A private copy of a database, for reading it where nothing may be written: a read-only file system, or the folder of
/// another user.
///
/// A process that has the store open can't use it: closing the file would release the locks of its own connection.
///
/// SQLite itself can't: `immutable=1` ignores the write-ahead log, and `mode=ro` needs to write the shared memory.
package final class StoreCopy {
    /// The copy, as long as this object lives.
    package let database: Database

    /// Copies the files, under the commit lock if it exists: into memory, or where that has no space, to a disk.
    package init(of files: DurableStore.Files) throws(StoreError) {
        let lock = try? FileLock(at: files.commitLock, creates: false)
        try lock?.lock()
        defer { lock?.unlock() }
        database = try Self.copied(files)
    }

    /// The folders in which copies are made: those in memory first.
    private static let parents = ["/dev/shm", "/run", "/tmp", "/var/tmp"]

    private static func copied(_ files: DurableStore.Files) throws(StoreError) -> Database {
        var failure: StoreError?
        for parent in parents {
            do throws(StoreError) {
                return try copied(files, in: makeFolder(in: parent))
            } catch {
                if [files.database, files.database + "-wal"].contains(error.path) { throw error }
                // Where the last one has no space, that is the reason, rather than that another can't be written to.
                if failure?.code != .full { failure = error }
            }
        }
        throw failure ?? .init("make a folder in", parents[0], errno: ENOENT)
    }

    private static func makeFolder(in parent: String) throws(StoreError) -> String {
        var template = Array("\(parent)/store-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .init("make a folder in", parent, errno: errno) }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func copied(_ files: DurableStore.Files, in folder: String) throws(StoreError) -> Database {
        // Once the database is open its files need no names: nothing is left if a signal ends the process.
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try copy(files.database, to: "\(folder)/copy", isOptional: false)
        try copy(files.database + "-wal", to: "\(folder)/copy-wal", isOptional: true)
        let database = try Database(at: "\(folder)/copy", .privateCopy, of: files.database)
        _ = try database.schemaVersion
        return database
    }

    private static func copy(_ source: String, to target: String, isOptional: Bool) throws(StoreError) {
        let input = open(source, O_RDONLY | O_CLOEXEC)
        if input < 0 {
            if isOptional, errno == ENOENT { return }
            throw .init("open the database", source, errno: errno)
        }
        defer { close(input) }
        let output = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw .init("create the copy", target, errno: errno) }
        defer { close(output) }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(input, &buffer, buffer.count)
            if count == 0 { return }
            guard count > 0 else { throw .init("read", source, errno: errno) }
            try write(buffer[..<count], to: output, target)
        }
    }

    private static func write(_ bytes: ArraySlice<UInt8>, to output: Int32, _ path: String) throws(StoreError) {
        var rest = bytes
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(output, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw .init("write the copy of the database,", path, errno: errno) }
            rest = rest.dropFirst(count)
        }
    }
}
