import COutbox
import Glibc
import NetworkClient
import OutboxCore

/// The folder of an outbox in which users put items who may not open the outbox itself.
///
/// Each file is an archive of one item. The folder has the mode 3730: the group may create files, but neither list nor remove
/// those of others; the names can't be guessed. The files belong to the folder's group, by which the outbox's owner reads
/// them. The database stays closed to the group, as do the bodies of others in it.
package struct IncomingFolder: Sendable {
    /// The folder of the outbox.
    package let box: String
    /// The path of this folder.
    package let path: String

    /// Creates the folder of an outbox.
    package init(of box: String) { (self.box, path) = (box, "\(box)/incoming") }

    /// Whether this process has to put its items here, as the outbox belongs to a different user.
    package var isMeant: Bool {
        var status = stat()
        guard stat(box, &status) == 0, status.st_uid != geteuid() else { return false }
        // Who may not look may not add either; ``put(_:_:)`` says so.
        guard stat(path, &status) == 0 else { return errno == EACCES }
        return status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether the outbox has such a folder.
    package var isThere: Bool {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// The free space in bytes below which nothing is put here.
    private static let minimumFreeSpace: UInt64 = 64 << 20

    /// Puts an item here; it is on disk when the method returns.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - body: The pieces of its body, of the announced size.
    /// - Throws: ``OutboxError``: `full`, `notPermitted`, or an error of the file.
    package func put(_ item: ArchivedItem, _ body: ((UnsafeRawBufferPointer) -> Void) throws -> Void) throws {
        try checkSpace(for: item.size)
        let folder = netwatch_open_path(path)
        guard folder >= 0 else { throw failure("open", errno) }
        defer { close(folder) }
        let name = OutboxToken.random()
        let file = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o640)
        guard file >= 0 else { throw failure("create a file in", errno) }
        // A child of this process may have the descriptor for a moment: the lock is released by hand.
        defer {
            flock(file, LOCK_UN)
            close(file)
        }
        do {
            // Locked while it is written: what is unlocked and not whole is left of a process that ended.
            guard flock(file, LOCK_EX) == 0, fchmod(file, 0o640) == 0 else { throw failure("create a file in", errno) }
            let writer = try ArchiveWriter(to: file, named: "\(path)/\(name)")
            try writer.write(item, body)
            try writer.end()
            // The group may not open the folder to synchronize it.
            guard fsync(file) == 0, netwatch_syncfs(file) == 0 else { throw failure("synchronize", errno) }
        } catch {
            unlinkat(folder, name, 0)
            throw error
        }
    }

    private func checkSpace(for size: Int64) throws(OutboxError) {
        var status = statvfs()
        guard statvfs(box, &status) == 0 else { return }
        guard UInt64(status.f_bavail) * UInt64(status.f_frsize) >= Self.minimumFreeSpace + UInt64(max(size, 0)) else {
            throw .init(.full, reason: "\(box): too little space is left on the file system; free some")
        }
    }

    private func failure(_ action: String, _ errno: Int32) -> OutboxError {
        let text = "cannot \(action) '\(path)': \(String(cString: strerror(errno)))"
        switch errno {
        case ENOSPC, EDQUOT: return .init(.full, reason: "\(text); free space on the file system")
        case EACCES, EPERM:
            return .init(.notPermitted, reason: "\(text); only members of its group may add: see the folder's group")
        default: return .init(.storageFailed, reason: text)
        }
    }
}

extension IncomingFolder {
    /// Adds the items that are here to the outbox, the oldest first, and removes their files; called by its owner.
    ///
    /// An item that can't be sent, or would not fit into an empty outbox, is not added: its file is moved to the folder
    /// `rejected`. One that the outbox has no room for stays until it has, and holds back no other.
    ///
    /// Large files are copied: this takes as long as the disk needs, on a thread of its own. It ends after the present file
    /// if its task is cancelled.
    ///
    /// - Parameter storage: The outbox.
    /// - Returns: The number of items that were added, and the errors of others.
    package func collect(into storage: BoxStorage) async -> (added: Int, errors: [OutboxError]) {
        await withTaskExecutorPreference(BlockingExecutor.shared) { await collectAll(into: storage) }
    }

    private func collectAll(into storage: BoxStorage) async -> (added: Int, errors: [OutboxError]) {
        var (added, errors): (Int, [OutboxError]) = (0, [])
        for name in names {
            if Task.isCancelled { break }
            do {
                added += try await collect(name, into: storage)
            } catch {
                let failure = OutboxError(error)
                errors.append(failure)
                if failure.code == .full { continue }
                guard failure.code.concernsItem else { break }
                reject(name)
            }
        }
        return (added, errors)
    }

    /// The age in seconds from which a file that is not whole is left of a process that ended.
    private static let abandoned = 60

    private func collect(_ name: String, into storage: BoxStorage) async throws -> Int {
        let file = open("\(path)/\(name)", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        // Removed in between, or a symbolic link, which nobody but an attacker puts here.
        guard file >= 0 else {
            let number = errno
            if number == ENOENT { return 0 }
            let code: OutboxError.Code = FileSystem.isShortage(number) ? .storageFailed : .invalidRequest
            throw OutboxError(code, reason: "\(path)/\(name): \(String(cString: strerror(number)))")
        }
        defer {
            flock(file, LOCK_UN)
            close(file)
        }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink == 1 else {
            throw OutboxError(.invalidRequest, reason: "\(path)/\(name) is no file of its own: it is set aside")
        }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else { return 0 }
        do {
            let reader = try ArchiveReader(of: file, named: "\(path)/\(name)")
            let result = try await BoxImport(into: storage, of: status.st_uid).read(reader)
            unlink("\(path)/\(name)")
            return result.added
        } catch let error as OutboxError where error.code == .damaged {
            // Perhaps it was created a moment ago, and is not locked yet.
            if time(nil) - status.st_mtim.tv_sec < Self.abandoned { return 0 }
            throw error
        }
    }

    /// The names of the files, those first that were written first.
    private var names: [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var files: [(seconds: Int, nanoseconds: Int, name: String)] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            var status = stat()
            guard name != ".", name != "..", fstatat(dirfd(directory), name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                continue
            }
            files.append((status.st_mtim.tv_sec, status.st_mtim.tv_nsec, name))
        }
        return files.sorted(by: <).map(\.name)
    }

    private func reject(_ name: String) {
        mkdir("\(box)/rejected", 0o700)
        rename("\(path)/\(name)", "\(box)/rejected/\(name)")
    }
}

extension OutboxError.Code {
    /// Whether the item can't be added later either.
    fileprivate var concernsItem: Bool {
        [.invalidRequest, .secretRefused, .keyInUse, .damaged, .bodyUnavailable].contains(self)
    }
}
