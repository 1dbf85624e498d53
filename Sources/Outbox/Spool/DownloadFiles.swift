import Glibc

/// The operations on the files of a download.
struct DownloadFiles: Sendable {
    let target: DownloadTarget

    /// The reason why the received file is not put in its place.
    struct Failure: Error {
        /// The errno; nil if the contents are wrong.
        var errno: Int32?
        var reason: String

        /// Whether the item alone is concerned, rather than this machine's disk.
        var isOfItem: Bool { errno.map { DownloadFiles.isOfItem($0) } ?? true }
    }

    /// Whether an error of a download's file is lasting, and of this file alone: its folder is missing, or forbidden.
    static func isOfItem(_ errno: Int32) -> Bool {
        [ENOENT, ENOTDIR, EISDIR, EACCES, EPERM, ELOOP, ENAMETOOLONG, EINVAL, EXDEV].contains(errno)
    }

    /// Puts the file in its place if an earlier process has received it and has ended before that.
    ///
    /// - Returns: Whether the file is there, with the right digest.
    /// - Throws: ``Failure``.
    func finishEarlier() throws -> Bool {
        guard let wanted = target.sha256 else {
            // Whether the response was the destination's own is not known.
            unlink(target.staged)
            return false
        }
        if (try? FileSystem.sha256(ofFileAt: target.path)) == wanted { return true }
        guard access(target.staged, F_OK) == 0 else { return false }
        try place()
        return true
    }

    /// Cuts a part back to what is on disk for certain, if it is from an earlier boot.
    ///
    /// - Parameters:
    ///   - mark: The mark of the item; nil before its first attempt.
    ///   - boot: The identifier of the running system.
    /// - Returns: The mark to store; nil if the stored one holds.
    func prepare(_ mark: PartMark?, boot: String) -> PartMark? {
        if mark?.boot == boot { return nil }
        if let mark, mark.length > 0, mark.record == recordDigest, size >= mark.length,
            truncate(target.part, off_t(mark.length)) == 0
        {
            return .init(boot: boot, length: mark.length, record: mark.record)
        }
        unlink(target.part)
        unlink(target.record)
        return .init(boot: boot)
    }

    /// Synchronizes the part, its record and their folder.
    ///
    /// - Returns: What is on disk now; nil if there is nothing to continue.
    func synchronize(boot: String) -> PartMark? {
        guard let record = recordDigest else { return nil }
        let length = size
        let isDone = [target.part, target.record, target.folder].allSatisfy { path in
            let file = open(path, O_RDONLY | O_CLOEXEC)
            guard file >= 0 else { return false }
            defer { close(file) }
            return fsync(file) == 0
        }
        // The version may have changed in between.
        return isDone && length > 0 && record == recordDigest
            ? .init(boot: boot, length: length, record: record) : nil
    }

    /// Checks the received file, and puts it in its place; the file that was there is replaced, and its mode kept.
    ///
    /// - Throws: ``Failure``. A file with a wrong digest is removed.
    func place() throws(Failure) {
        if let wanted = target.sha256 {
            guard let found = try? FileSystem.sha256(ofFileAt: target.staged) else {
                throw .init(errno: EIO, reason: "cannot read \(target.staged), the received file")
            }
            guard found == wanted else {
                unlink(target.staged)
                let reason = "the SHA-256 of the received file is \(found), instead of \(wanted)"
                throw .init(errno: nil, reason: reason)
            }
        }
        var status = stat()
        if stat(target.path, &status) == 0 { chmod(target.staged, status.st_mode & 0o777) }
        try call("replace", target.path) { rename(target.staged, target.path) }
        let folder = open(target.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { if folder >= 0 { close(folder) } }
        try call("synchronize", target.folder) { folder < 0 ? -1 : fsync(folder) }
    }

    private func call(_ action: String, _ path: String, _ body: () -> Int32) throws(Failure) {
        guard body() != 0 else { return }
        throw .init(
            errno: errno,
            reason: "cannot \(action) \(path): \(String(cString: strerror(errno)))"
        )
    }

    /// The size of the part in bytes; 0 without one.
    var size: Int64 {
        var status = stat()
        return stat(target.part, &status) == 0 ? Int64(status.st_size) : 0
    }

    private var recordDigest: String? { try? FileSystem.sha256(ofFileAt: target.record) }
}
