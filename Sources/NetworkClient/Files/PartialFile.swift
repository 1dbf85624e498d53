import Glibc
import NIOCore
import NetworkClientCore

/// An incomplete file next to its final path, with a record of its version: the process may be killed at any time, and
/// the next one finds the beginning of exactly one version.
///
/// The order of operations guarantees that: the part is truncated, then the record replaced (atomically, with
/// rename(2)), then bytes are appended. The complete part is moved to its final path before its record is removed. A
/// lock (flock(2)), which ends with the process, excludes other writers.
///
/// Unchecked, because only one job of its ``SinkWriter`` at a time uses it.
final class PartialFile: FileSink, @unchecked Sendable {
    let isRestartable = true
    let mayBlock = false
    private let plan: Plan
    private let paths: Paths
    /// The URL of the file, by which an existing part is recognized; nil for a file that can't be continued.
    private let url: HTTPURL?
    private var descriptor: Int32 = -1
    private var position: off_t = 0
    /// Whether the existing part belongs to this download, which then keeps or removes it; a part that was found stays
    /// until it is truncated.
    private var isOurs = false
    /// Whether the part was moved to its final path.
    private var isMoved = false

    /// The options for writing a file.
    struct Plan: Sendable {
        /// The path of the part; nil for the final path with `.part` appended.
        var partPath: String?
        /// Whether other processes can continue the part; if not, it has a random name.
        var isContinuable = true
        /// The treatment of an existing file.
        var existing = ExistingFile.replace
        /// Whether the file is flushed to disk before the request ends.
        var isSynced = true
    }

    fileprivate struct Paths {
        let target: FileTarget
        let part: String
        let record: String
    }

    init(_ target: FileTarget, _ plan: Plan, of url: HTTPURL? = nil) {
        self.plan = plan
        self.url = url
        paths = .init(target, plan)
    }

    func open() throws(HTTPError) -> DownloadPart {
        guard plan.isContinuable else {
            try create(paths.part)
            try resembleTarget()
            return .init()
        }
        try openLocked(paths.part)
        try resembleTarget()
        return try part()
    }

    func restart(_ part: DownloadPart) throws(HTTPError) {
        try checkPart()
        isOurs = true
        try FileCall.make("empty", paths.part) { ftruncate(descriptor, 0) }
        position = 0
        guard plan.isContinuable else { return }
        guard let record = url.flatMap({ PartRecord(of: $0, part).bytes }) else {
            unlink(paths.record)
            return
        }
        try Self.replace(paths.record, by: record)
    }

    func write(_ bytes: ByteBuffer) throws(HTTPError) {
        var rest = bytes
        while rest.readableBytes > 0 {
            let count = try FileCall.make("write", paths.part) {
                rest.withUnsafeReadableBytes { pwrite(descriptor, $0.baseAddress, $0.count, position) }
            }
            rest.moveReaderIndex(forwardBy: count)
            position += off_t(count)
        }
    }

    /// Throws an error if the file is at its final path already, where nobody may find it empty.
    private func checkPart() throws(HTTPError) {
        guard isMoved else { return }
        throw FileCall.failure("write", paths.target.path, errno: EEXIST, "its download is complete")
    }

    func finish() throws(HTTPError) {
        try checkPart()
        try becomeLike(paths.target.path)
        if plan.isSynced {
            try FileCall.make("write", paths.part) { fsync(descriptor) }
        } else {
            // Some file systems report only here that they are full (close(2)).
            let copy = try FileCall.make("write", paths.part) { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
            try FileCall.make("write", paths.part) { Glibc.close(copy) }
        }
        let isReplacing = plan.existing == .replace
        try Self.move(paths.part, to: paths.target.path, isReplacing: isReplacing)
        isOurs = false
        isMoved = true
        if plan.isContinuable { unlink(paths.record) }
        if plan.isSynced { try Self.sync(folder: paths.target.folder) }
    }

    func close(isKept: Bool) {
        if isOurs, !isKept || !plan.isContinuable {
            unlink(paths.part)
            if plan.isContinuable { unlink(paths.record) }
        }
        if descriptor >= 0 {
            // A child process that was forked meanwhile keeps the lock until it executes its program (flock(2)).
            flock(descriptor, LOCK_UN)
            Glibc.close(descriptor)
        }
        descriptor = -1
    }
}

extension PartialFile.Paths {
    fileprivate init(_ target: FileTarget, _ plan: PartialFile.Plan) {
        self.target = target
        if plan.isContinuable {
            part = plan.partPath ?? "\(target.path).part"
        } else {
            part = "\(target.folder)/.netwatch-\(RandomToken.short(words: 1)).part"
        }
        record = "\(part).info"
    }
}

extension PartialFile {
    /// Returns the existing part of this URL.
    private func part() throws(HTTPError) -> DownloadPart {
        let size = try FileCall.status(of: descriptor, paths.part).st_size
        guard size > 0, let bytes = Self.read(paths.record), let record = PartRecord(bytes),
            record.key == url?.downloadKey
        else { return .init() }
        var part = record.part
        part.length = Int64(size)
        guard part.isContinuable else { return .init() }
        position = size
        return part
    }

    /// Returns the record's bytes; nil if there is none.
    static func read(_ path: String) -> [UInt8]? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        // A record that another user wrote is not trusted.
        guard let status = try? FileCall.status(of: descriptor, path), status.isRegular, status.isOwn else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: PartRecord.limit + 1)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    /// Replaces a small file atomically.
    private static func replace(_ path: String, by bytes: [UInt8]) throws(HTTPError) {
        let new = "\(path).new"
        // Left by a process that was killed, or put there by another user.
        unlink(new)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = try FileCall.make("write", new) { Glibc.open(new, flags, 0o600) }
        defer { Glibc.close(descriptor) }
        do throws(HTTPError) {
            try FileCall.write(bytes, to: descriptor, new)
            try FileCall.make("write", path) { rename(new, path) }
        } catch {
            unlink(new)
            throw error
        }
    }

    /// Copies owner, group and permissions of the file that is replaced.
    private func becomeLike(_ path: String) throws(HTTPError) {
        guard let existing = try FileCall.status(path) else { return }
        guard !existing.isFolder else { throw FileCall.failure("write", path, errno: EISDIR) }
        // Only root can change the owner of a file; for other users it stays theirs.
        _ = fchown(descriptor, existing.st_uid, .max)
        resemble(existing)
    }

    /// rename(2), or link(2) if nothing may be replaced.
    private static func move(_ part: String, to path: String, isReplacing: Bool) throws(HTTPError) {
        if !isReplacing {
            if link(part, path) == 0 {
                unlink(part)
                return
            }
            // A file system without hard links can't do this in one step.
            guard errno == EPERM || errno == ENOTSUP || errno == ENOSYS, try FileCall.status(path) == nil else {
                throw FileCall.failure("write", path, errno: EEXIST)
            }
        }
        try FileCall.make("write", path) { rename(part, path) }
    }

    /// Flushes the directory's new entry to disk; see fsync(2).
    private static func sync(folder: String) throws(HTTPError) {
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A directory can be writable and not readable.
        guard descriptor >= 0 else { return }
        defer { Glibc.close(descriptor) }
        // Some file systems need no such flush, and report that they don't support it.
        guard fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP else { return }
        throw FileCall.failure("write", folder, errno: errno)
    }
}

/// Creating and opening parts, with the right owner and permissions.
extension PartialFile {
    /// The open(2) flags for every part: a symbolic link is not followed, and a FIFO does not block.
    private static let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

    /// Creates a file with an unused name.
    func create(_ part: String) throws(HTTPError) {
        descriptor = try FileCall.make("write", paths.target.path) { make(part) }
        isOurs = true
    }

    /// open(2); only the owner can read the part if it is to replace an existing file.
    private func make(_ part: String) -> Int32 {
        let isAlone = access(paths.target.path, F_OK) != 0 && errno == ENOENT
        return Glibc.open(part, Self.flags | O_CREAT | O_EXCL, isAlone ? 0o666 : 0o600)
    }

    /// Opens the part, which is created if it does not exist, and locks it.
    func openLocked(_ part: String) throws(HTTPError) {
        while true {
            let isMade = try openOrMake(part)
            guard descriptor >= 0 else { continue }
            let status = try FileCall.status(of: descriptor, part)
            guard status.isRegular else {
                throw FileCall.failure("write", part, errno: EEXIST, "there is something else than a file: remove it")
            }
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                throw FileCall.failure("lock", part, errno: errno, errno == EWOULDBLOCK ? Self.busy : nil)
            }
            // The previous holder of the lock may have renamed or removed the part in the meantime.
            let present = try FileCall.status(part, followsLink: false)
            if let present, present.st_ino == status.st_ino, present.st_dev == status.st_dev {
                // On some file systems, all files belong to one user, including the one that was just created.
                if present.st_nlink <= 1, isMade || present.isOwn {
                    isOurs = status.st_size == 0
                    return
                }
                try remove(part, present)
            }
            Glibc.close(descriptor)
            descriptor = -1
        }
    }

    private static let busy = "another download of the same file is under way: wait for it, or end it"

    /// Opens the part.
    ///
    /// - Returns: Whether it was created.
    private func openOrMake(_ part: String) throws(HTTPError) -> Bool {
        descriptor = make(part)
        if descriptor >= 0 { return true }
        guard errno == EEXIST else {
            if errno != EINTR { throw FileCall.failure("write", part, errno: errno) }
            return false
        }
        descriptor = Glibc.open(part, Self.flags)
        switch errno {
        case _ where descriptor >= 0: break
        case EINTR, ENOENT: break
        case let number:
            guard number == EACCES, let present = try FileCall.status(part, followsLink: false), !present.isOwn else {
                throw FileCall.failure("write", part, errno: number)
            }
            try remove(part, present)
        }
        return false
    }

    /// Removes a part that has another hard link, whose contents must not change, or that another user wrote.
    private func remove(_ part: String, _ present: stat) throws(HTTPError) {
        guard unlink(part) != 0, errno != ENOENT else { return }
        let advice = "it is another user's: let it be removed, or put the part elsewhere"
        throw FileCall.failure("remove", part, errno: errno, present.isOwn ? nil : advice)
    }

    /// Copies group and permissions of the file that is to be replaced, so that no additional users can read the part.
    ///
    /// Its owner can write it, also if the file may only be read: the next download continues it.
    func resembleTarget() throws(HTTPError) {
        guard var existing = try FileCall.status(paths.target.path), existing.isRegular else { return }
        existing.st_mode |= 0o600
        resemble(existing)
    }

    /// Copies group and permissions of another file.
    func resemble(_ existing: stat) {
        // Only members of a group can assign files to it; if that fails, the file's own group gets no more than others
        // do.
        let isItsGroup = fchown(descriptor, .max, existing.st_gid) == 0
        let others = existing.st_mode & 0o007
        let group = existing.st_mode & 0o070
        fchmod(descriptor, existing.st_mode & 0o700 | (isItsGroup ? group : group & others << 3) | others)
    }
}
