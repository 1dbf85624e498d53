import Glibc

/// The replacement of a damaged database by a repaired one; a crash between any two steps leaves either of them.
///
/// The new database is written to a draft. Once that is on disk as a whole, it is renamed, and from then on the replacement is
/// completed by this process or the next one that opens the store: the damaged files are moved to a folder `damaged-N`,
/// and the new one takes their place. The caller holds the commit lock.
package struct StoreReplacement {
    private let files: DurableStore.Files

    /// Creates the replacement of a store's files.
    package init(of files: DurableStore.Files) { self.files = files }

    /// The path of the file that becomes the database; it has no write-ahead log.
    package var draft: String { files.database + ".repair" }

    /// The path of a draft that is complete.
    private var complete: String { files.database + ".repaired" }

    /// Removes the draft, for example that of a process which was killed.
    package func discardDraft() throws(StoreError) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            guard unlink(draft + suffix) == 0 || errno == ENOENT else {
                throw .init("remove an unfinished repair,", draft + suffix, errno: errno)
            }
        }
    }

    /// Has the draft, which no connection may have open, take the place of the database.
    package func commit() throws(StoreError) {
        try Self.synchronize(draft, O_RDWR)
        try Self.rename(draft, to: complete)
        try Self.synchronize(files.folder, O_RDONLY | O_DIRECTORY)
        try finish()
    }

    /// Finishes a replacement that was committed, if there is one.
    func finish() throws(StoreError) {
        guard access(complete, F_OK) == 0 else { return }
        try setAside()
        try Self.rename(complete, to: files.database)
        try Self.synchronize(files.folder, O_RDONLY | O_DIRECTORY)
    }

    /// Moves the damaged files to a folder: the log first, since a database is not opened next to another one's log.
    private func setAside() throws(StoreError) {
        let suffixes = ["-wal", ""].filter { access(files.database + $0, F_OK) == 0 }
        if !suffixes.isEmpty {
            let folder = try folderForDamaged()
            for suffix in suffixes { try Self.rename(files.database + suffix, to: "\(folder)/\(files.name)\(suffix)") }
            try Self.synchronize(folder, O_RDONLY | O_DIRECTORY)
        }
        guard unlink(files.database + "-shm") == 0 || errno == ENOENT else {
            throw .init("remove", files.database + "-shm", errno: errno)
        }
        try Self.synchronize(files.folder, O_RDONLY | O_DIRECTORY)
    }

    /// Returns the first folder `damaged-N` without a database, which is created if it is missing.
    private func folderForDamaged() throws(StoreError) -> String {
        var number = 1
        while access(folder(number) + "/" + files.name, F_OK) == 0 { number += 1 }
        guard mkdir(folder(number), 0o700) == 0 || errno == EEXIST else {
            throw .init("create the folder", folder(number), errno: errno)
        }
        return folder(number)
    }

    private func folder(_ number: Int) -> String { "\(files.folder)/damaged-\(number)" }

    private static func rename(_ source: String, to target: String) throws(StoreError) {
        guard Glibc.rename(source, target) == 0 else { throw .init("rename", source, errno: errno) }
    }

    private static func synchronize(_ path: String, _ flags: Int32) throws(StoreError) {
        let file = open(path, flags | O_CLOEXEC)
        guard file >= 0 else { throw .init("open", path, errno: errno) }
        defer { close(file) }
        guard fsync(file) == 0 else { throw .init("synchronize", path, errno: errno) }
    }
}
