import FoundationEssentials
import Glibc

/// A private copy of a database in memory, for reading it where nothing may be written: a read-only file system, or the
/// folder of another user.
///
/// A process that has the store open can't use it: closing the file would release the locks of its own connection.
///
/// SQLite itself can't: `immutable=1` ignores the write-ahead log, and `mode=ro` needs to write the shared memory.
package final class StoreCopy {
    /// The copy, as long as this object lives.
    package let database: Database
    private let folder: String

    /// Copies the files, under the commit lock if it exists.
    package init(of files: DurableStore.Files) throws(StoreError) {
        let lock = try? FileLock(at: files.commitLock, creates: false)
        try lock?.lock()
        defer { lock?.unlock() }
        let folder = try Self.makeFolder()
        self.folder = folder
        do throws(StoreError) {
            try Self.copy(files.database, to: "\(folder)/copy", isOptional: false)
            try Self.copy(files.database + "-wal", to: "\(folder)/copy-wal", isOptional: true)
            database = try Database(at: "\(folder)/copy", .privateCopy)
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    private static func makeFolder() throws(StoreError) -> String {
        for parent in ["/dev/shm", "/run", "/tmp"] {
            var template = Array("\(parent)/store-XXXXXX".utf8CString)
            if mkdtemp(&template) != nil {
                return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
            }
        }
        throw .init("make a folder in", "/dev/shm", errno: errno)
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
        try copy(input, output, source)
    }

    private static func copy(_ input: Int32, _ output: Int32, _ path: String) throws(StoreError) {
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = read(input, &buffer, buffer.count)
            if count == 0 { return }
            guard count > 0, write(output, buffer, count) == count else { throw .init("copy", path, errno: errno) }
        }
    }
}
