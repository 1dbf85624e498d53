import Glibc

/// The contents of a store at one moment, for a program that only reads: neither the schema nor any damage is changed.
package final class StoreSnapshot {
    /// A connection to the store, or to a copy of it, as long as this object lives.
    package let database: Database

    /// Opens the store if this process may write to it as its owner, as reading needs files next to the database; or else
    /// copies it.
    package init(of files: DurableStore.Files) throws(StoreError) {
        if let own = try? Self.opened(files) {
            database = own
        } else {
            // It says why, if it is not the disk that is full.
            database = try StoreCopy(of: files).database
        }
    }

    /// Opens the database under the commit lock: no other process replaces it then.
    private static func opened(_ files: DurableStore.Files) throws(StoreError) -> Database? {
        let lock = try FileLock(at: files.commitLock, creates: false)
        try lock.lock()
        defer { lock.unlock() }
        guard isOwn(files) else { return nil }
        let database = try Database(at: files.database)
        try database.execute("BEGIN")
        // The snapshot is that of the first statement that reads.
        _ = try database.schemaVersion
        return database
    }

    private static func isOwn(_ files: DurableStore.Files) -> Bool {
        var status = stat()
        return stat(files.database, &status) == 0 && status.st_uid == geteuid()
            && access(files.database, W_OK) == 0 && access(files.folder, W_OK) == 0
    }
}
