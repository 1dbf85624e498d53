import Glibc
import NIOCore
import NetworkClientCore

/// A file in the making, beside its place, with a record of what it is: the process may end at any moment, and what
/// another one then finds is the beginning of one version.
///
/// Its order: the part is emptied, then the record written again (in one moment, by rename(2)), then bytes are added,
/// each batch behind the last. The whole part takes its place before its record goes. A lock (flock(2)), which ends
/// with the process, keeps others away.
///
/// Unchecked, because one job of its ``SinkWriter`` at a time touches it.
final class PartialFile: FileSink, @unchecked Sendable {
    let isRestartable = true
    let mayBlock = false
    private let plan: Plan
    private let paths: Paths
    /// Where the file comes from, by which a part is known again; nil for one that is not continued.
    private let url: HTTPURL?
    private var descriptor: Int32 = -1
    private var position: off_t = 0
    /// Whether what is there is of this download, to keep or to remove; a part that was found stays, until it is
    /// emptied.
    private var isOurs = false

    /// How a file is made.
    struct Plan: Sendable {
        /// Where its part is; nil beside it, with `.part` at the end of the name.
        var partPath: String?
        /// Whether the part is for other processes to go on with; if not, it has a name that nobody else knows.
        var isContinuable = true
        /// What becomes of a file that is there.
        var existing = ExistingFile.replace
        /// Whether the file is on the disk before the request ends.
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

    func finish() throws(HTTPError) {
        try becomeLike(paths.target.path)
        if plan.isSynced {
            try FileCall.make("write", paths.part) { fsync(descriptor) }
        } else {
            // Some file systems tell only here that they have no room (close(2)).
            let copy = try FileCall.make("write", paths.part) { fcntl(descriptor, F_DUPFD_CLOEXEC, 0) }
            try FileCall.make("write", paths.part) { Glibc.close(copy) }
        }
        let isReplacing = plan.existing == .replace
        try Self.move(paths.part, to: paths.target.path, isReplacing: isReplacing)
        isOurs = false
        if plan.isContinuable { unlink(paths.record) }
        if plan.isSynced { try Self.sync(folder: paths.target.folder) }
    }

    func close(isKept: Bool) {
        if isOurs, !isKept || !plan.isContinuable {
            unlink(paths.part)
            if plan.isContinuable { unlink(paths.record) }
        }
        if descriptor >= 0 { Glibc.close(descriptor) }
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
    /// What is there of this URL.
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

    /// The record's bytes; nil where there are none.
    static func read(_ path: String) -> [UInt8]? {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { return nil }
        defer { Glibc.close(descriptor) }
        // What another user has noted is not believed.
        guard let status = try? FileCall.status(of: descriptor, path), status.isRegular, status.isOwn else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: PartRecord.limit + 1)
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        return count < 0 ? nil : Array(bytes.prefix(count))
    }

    /// Writes a small file so that it is there as it was, or as it is to be.
    private static func replace(_ path: String, by bytes: [UInt8]) throws(HTTPError) {
        let new = "\(path).new"
        // What is left there of a process that was killed, or of somebody else.
        unlink(new)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW
        let descriptor = try FileCall.make("write", new) { Glibc.open(new, flags, 0o600) }
        defer { Glibc.close(descriptor) }
        do throws(HTTPError) {
            try write(bytes, to: descriptor, new)
            try FileCall.make("write", path) { rename(new, path) }
        } catch {
            unlink(new)
            throw error
        }
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32, _ path: String) throws(HTTPError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = try FileCall.make("write", path) {
                rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            }
            rest = rest.dropFirst(count)
        }
    }

    /// Takes owner, group and permissions of the file that is replaced.
    private func becomeLike(_ path: String) throws(HTTPError) {
        guard let existing = try FileCall.status(path) else { return }
        guard !existing.isFolder else { throw .file("write", path, errno: EISDIR) }
        // Only root can give files away; others keep their own.
        _ = fchown(descriptor, existing.st_uid, .max)
        resemble(existing)
    }

    /// rename(2), or where nothing may be replaced, link(2).
    private static func move(_ part: String, to path: String, isReplacing: Bool) throws(HTTPError) {
        if !isReplacing {
            if link(part, path) == 0 {
                unlink(part)
                return
            }
            // A file system without links can't do it in one step.
            guard errno == EPERM || errno == ENOTSUP || errno == ENOSYS, try FileCall.status(path) == nil else {
                throw .file("write", path, errno: EEXIST)
            }
        }
        try FileCall.make("write", path) { rename(part, path) }
    }

    /// Lets the folder's new entry be on the disk; see fsync(2).
    private static func sync(folder: String) throws(HTTPError) {
        let descriptor = Glibc.open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A folder can be written and not read.
        guard descriptor >= 0 else { return }
        defer { Glibc.close(descriptor) }
        // Some file systems have nothing to do there, and say that they can't.
        guard fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP else { return }
        throw .file("write", folder, errno: errno)
    }
}

/// Making and opening parts: whose they are, and who can read them.
extension PartialFile {
    /// What open(2) is told of every part: a link that somebody has put there is not followed, a pipe not waited for.
    private static let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

    /// Makes a file of a name that there is not.
    func create(_ part: String) throws(HTTPError) {
        descriptor = try FileCall.make("write", paths.target.path) { make(part) }
        isOurs = true
    }

    /// The corresponding C function is `open`: the file is nobody else's yet if there is one whose place it is to take.
    private func make(_ part: String) -> Int32 {
        let isAlone = access(paths.target.path, F_OK) != 0 && errno == ENOENT
        return Glibc.open(part, Self.flags | O_CREAT | O_EXCL, isAlone ? 0o666 : 0o600)
    }

    /// Opens the part, made if it is not there, and locks it.
    func openLocked(_ part: String) throws(HTTPError) {
        while true {
            let isMade = try openOrMake(part)
            guard descriptor >= 0 else { continue }
            let status = try FileCall.status(of: descriptor, part)
            guard status.isRegular else {
                throw .file("write", part, errno: EEXIST, "there is something else than a file: remove it")
            }
            if flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
                throw .file("lock", part, errno: errno, errno == EWOULDBLOCK ? Self.busy : nil)
            }
            // The holder of the lock may have put the part in its place meanwhile, or removed it.
            let present = try FileCall.status(part, followsLink: false)
            if let present, present.st_ino == status.st_ino, present.st_dev == status.st_dev {
                // Some file systems say of all their files that they are one user's: also of what was just made.
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
    /// - Returns: Whether it was made.
    private func openOrMake(_ part: String) throws(HTTPError) -> Bool {
        descriptor = make(part)
        if descriptor >= 0 { return true }
        guard errno == EEXIST else {
            if errno != EINTR { throw .file("write", part, errno: errno) }
            return false
        }
        descriptor = Glibc.open(part, Self.flags)
        switch errno {
        case _ where descriptor >= 0: break
        case EINTR, ENOENT: break
        case let number:
            guard number == EACCES, let present = try FileCall.status(part, followsLink: false), !present.isOwn else {
                throw .file("write", part, errno: number)
            }
            try remove(part, present)
        }
        return false
    }

    /// Removes what has another name too, and is not to change under that one, or whose bytes somebody else has chosen.
    private func remove(_ part: String, _ present: stat) throws(HTTPError) {
        guard unlink(part) != 0, errno != ENOENT else { return }
        let advice = "it is another user's: let it be removed, or put the part elsewhere"
        throw .file("remove", part, errno: errno, present.isOwn ? nil : advice)
    }

    /// Takes group and permissions of the file that is to be replaced, so that no more people can read the part.
    func resembleTarget() throws(HTTPError) {
        guard let existing = try FileCall.status(paths.target.path), existing.isRegular else { return }
        resemble(existing)
    }

    /// Takes group and permissions of another file.
    func resemble(_ existing: stat) {
        // Only who is in a group can give files to it: with another one, that gets no more than everybody.
        let isItsGroup = fchown(descriptor, .max, existing.st_gid) == 0
        let others = existing.st_mode & 0o007
        let group = existing.st_mode & 0o070
        fchmod(descriptor, existing.st_mode & 0o700 | (isItsGroup ? group : group & others << 3) | others)
    }
}
