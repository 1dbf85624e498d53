import Glibc
import Locking
import NIOCore
import NetworkClientCore

/// Entries in a folder: a file each, and one for a large body.
///
/// Several processes may use a folder. A file appears complete or not at all (rename(2)), and all that is read is checked, so
/// that neither a crash nor damage leads to anything but a missing entry. `docs/decisions/0019-http-cache.md` has the
/// reasons.
final class CacheFolder: CacheStore {
    /// The folder of this version of the format.
    let path: String
    private let limit: Int
    private let counter: CacheCounter

    /// The size from which a body has a file of its own, in bytes.
    static let inlineLimit = 65_536
    /// The largest record that is read, in bytes.
    private static let largestRecord = 4 << 20
    /// The number of bytes before a record: the format, its length and its checksum.
    private static let headerSize = 24

    /// Opens a folder, which is created if its parent exists.
    ///
    /// - Parameters:
    ///   - folder: The path.
    ///   - limit: The maximum number of bytes.
    /// - Throws: `fileFailed` if it can't be used.
    init(_ folder: String, limit: Int) throws(HTTPError) {
        path = "\(folder)/v1"
        self.limit = max(0, limit)
        try Self.makeFolder(folder)
        // A folder that can't be written is still read.
        for path in [path, "\(path)/new"] where mkdir(path, 0o700) != 0 {
            guard errno != EEXIST, errno != EROFS, errno != EACCES else { continue }
            throw FileCall.failure("make", path, errno: errno)
        }
        counter = .init("\(path)/size")
        removeAbandoned()
    }

    private static func makeFolder(_ folder: String) throws(HTTPError) {
        if mkdir(folder, 0o700) == 0 { return }
        let number = errno
        guard let status = try FileCall.status(folder) else {
            throw FileCall.failure("make the cache", folder, errno: number, "name a folder whose parent exists")
        }
        guard status.isFolder else {
            throw FileCall.failure("use the cache", folder, errno: ENOTDIR, "name a folder")
        }
        guard status.isOwn, status.st_mode & 0o022 == 0 else {
            let advice = "it has to belong to this user, and others must not be able to write it: name another folder"
            throw FileCall.failure("use the cache", folder, errno: EPERM, advice)
        }
    }

    var blocks: Bool { true }
    var size: Int { counter.value ?? 0 }
    var maximumEntrySize: Int { limit / 4 }

    private func file(_ key: CacheKey) -> String { "\(path)/\(key.text.prefix(2))/\(key.text.dropFirst(2))" }

    private func bodyFile(_ key: CacheKey, _ identifier: UInt64) -> String {
        "\(file(key)).\(String(identifier, radix: 16))"
    }

    // MARK: Reading

    func read(_ key: CacheKey) -> CacheEntry? {
        let path = file(key)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let entry = entry(key, descriptor) else {
            remove(key)
            return nil
        }
        touch(descriptor, entry)
        return entry
    }

    private func entry(_ key: CacheKey, _ descriptor: Int32) -> CacheEntry? {
        guard let bytes = Self.contents(descriptor), let (record, length) = Self.record(bytes) else { return nil }
        guard record.bodyFile == 0 else {
            let path = bodyFile(key, record.bodyFile)
            guard let status = try? FileCall.status(path, followsLink: false), status.isRegular,
                Int64(status.st_size) == record.bodyLength
            else { return nil }
            return .init(key: key, record: record, body: .file(path))
        }
        let body = ByteBuffer(bytes: bytes[length...])
        guard Int64(body.readableBytes) == record.bodyLength, BodyChecksum.of(body) == record.bodyChecksum else {
            return nil
        }
        return .init(key: key, record: record, body: .bytes(body))
    }

    /// Reads a whole file; nil if it is too large.
    private static func contents(_ descriptor: Int32) -> [UInt8]? {
        var status = stat()
        let limit = largestRecord + inlineLimit
        guard fstat(descriptor, &status) == 0, status.isRegular, status.st_size <= limit else { return nil }
        let size = Int(status.st_size)
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            count = max(0, Glibc.read(descriptor, buffer.baseAddress, size))
        }
        return bytes.count == size ? bytes : nil
    }

    /// Returns the record at the start of a file, and the number of bytes up to its end.
    static func record(_ bytes: [UInt8]) -> (CacheRecord, end: Int)? {
        guard bytes.count >= headerSize, bytes.starts(with: CacheRecord.magic) else { return nil }
        let length = number(bytes[8..<16])
        guard length <= UInt64(bytes.count - headerSize) else { return nil }
        let end = headerSize + Int(length)
        let content = Array(bytes[headerSize..<end])
        guard number(bytes[16..<24]) == checksum(content), let record = CacheRecord(content) else { return nil }
        return (record, end)
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt64 {
        var checksum = BodyChecksum()
        bytes.withUnsafeBytes { checksum.add($0) }
        return UInt64(checksum.value)
    }

    /// Marks an entry as used; without permission to write, nothing is removed either.
    private func touch(_ descriptor: Int32, _ entry: CacheEntry) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let times = [now, now]
        futimens(descriptor, times)
        if case .file(let path) = entry.body { utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW) }
    }

    // MARK: Writing

    func write(_ record: CacheRecord, _ body: NewCachedBody, under key: CacheKey) {
        var record = record
        var bytes = ByteBuffer()
        switch body {
        case .bytes(let given):
            bytes = given
            (record.bodyLength, record.bodyChecksum) = (Int64(given.readableBytes), BodyChecksum.of(given))
        case .file(let spilled):
            guard let identifier = place(spilled, under: key) else { return }
            (record.bodyLength, record.bodyChecksum) = (spilled.length, spilled.checksum.value)
            record.bodyFile = identifier
        }
        guard !write(record, bytes, under: key), record.bodyFile != 0 else { return }
        remove(bodyFile(key, record.bodyFile), size: record.bodyLength)
    }

    /// Stores another record with the body of an entry; without success, the entry stays as it was.
    func update(_ entry: CacheEntry) {
        var bytes = ByteBuffer()
        if case .bytes(let stored) = entry.body { bytes = stored }
        _ = write(entry.record, bytes, under: entry.key)
    }

    /// Gives a body its name; nil if that fails.
    private func place(_ body: SpilledBody, under key: CacheKey) -> UInt64? {
        guard body.finish(), let file = body.path else { return nil }
        let identifier = UInt64.random(in: 1...UInt64.max)
        guard move(file, to: bodyFile(key, identifier)) else { return nil }
        count(Self.rounded(body.length))
        return identifier
    }

    /// Writes the file of a record, and of its body if that has no file of its own.
    ///
    /// - Returns: Whether it was written; if not, what was stored under the key is still there.
    private func write(_ record: CacheRecord, _ body: ByteBuffer, under key: CacheKey) -> Bool {
        let content = record.bytes
        var bytes = CacheRecord.magic
        for number in [UInt64(content.count), Self.checksum(content)] {
            for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        bytes += content
        bytes += body.readableBytesView
        let old = placed(under: key, except: record.bodyFile)
        guard content.count <= Self.largestRecord, let new = NewCacheFile(in: path), new.write(bytes) else {
            return false
        }
        new.touch()
        guard move(new.path, to: file(key)) else { return false }
        if let body = old?.body { unlink(body) }
        count(Self.rounded(Int64(bytes.count)) - (old?.size ?? 0))
        if counter.value.map({ $0 > limit }) ?? true { evict() }
        return true
    }

    /// Moves a file to its name, in a folder that is created if necessary.
    private func move(_ new: String, to path: String) -> Bool {
        if rename(new, path) == 0 { return true }
        guard errno == ENOENT, let end = path.lastIndex(of: "/") else { return false }
        mkdir(String(path[..<end]), 0o700)
        return rename(new, path) == 0
    }

    /// Returns the size of what is stored under a key, and the file of its body unless it has a given identifier.
    private func placed(under key: CacheKey, except kept: UInt64) -> (size: Int, body: String?)? {
        let descriptor = open(file(key), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard let bytes = Self.contents(descriptor) else { return (0, nil) }
        let size = Self.rounded(Int64(bytes.count))
        guard let (record, _) = Self.record(bytes), record.bodyFile != 0, record.bodyFile != kept else {
            return (size, nil)
        }
        return (size + Self.rounded(record.bodyLength), bodyFile(key, record.bodyFile))
    }

    func makeSpilledBody() -> SpilledBody? { SpilledBody(in: path) }

    // MARK: Removing

    func remove(_ key: CacheKey) {
        guard let old = placed(under: key, except: 0) else { return }
        guard unlink(file(key)) == 0 else { return }
        if let body = old.body { unlink(body) }
        count(-old.size)
    }

    private func remove(_ path: String, size: Int64) {
        if unlink(path) == 0 { count(-Self.rounded(size)) }
    }

    func removeAll(of key: CacheKey) {
        // Their files are in the same folder, next to those of bodies.
        let folder = key.text.prefix(2)
        for name in (try? FolderNames.read("\(path)/\(folder)")) ?? [] {
            guard let other = CacheKey(digits: "\(folder)\(name)"), other.hasLocation(of: key) else { continue }
            remove(other)
        }
    }

    func removeAll() {
        for file in files() { unlink(file.path) }
        counter.set(0)
    }

    /// The space that a file takes, in whole blocks.
    private static func rounded(_ size: Int64) -> Int { Int(clamping: size).advanced(by: 4_095) / 4_096 * 4_096 }

    private func count(_ change: Int) { if change != 0 { counter.add(change) } }

    /// Removes the files that were unused for longest, until a tenth of the space is free.
    private func evict() {
        var files = files()
        var total = files.reduce(0) { $0 + $1.size }
        if total > limit {
            files.sort { $0.time < $1.time }
            for file in files where total > limit / 10 * 9 {
                unlink(file.path)
                total -= file.size
            }
        }
        counter.set(total)
    }

    private struct StoredFile {
        let path: String
        let size: Int
        /// The time of the last use, in nanoseconds.
        let time: Int64
    }

    /// Returns all files of entries.
    private func files() -> [StoredFile] {
        var files: [StoredFile] = []
        for number in 0..<256 {
            let digits = String(number + 256, radix: 16).dropFirst()
            let folder = "\(path)/\(digits)"
            for name in (try? FolderNames.read(folder)) ?? [] {
                var status = stat()
                let path = "\(folder)/\(name)"
                guard lstat(path, &status) == 0, status.isRegular else { continue }
                let time = Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)
                files.append(.init(path: path, size: Self.rounded(Int64(status.st_size)), time: time))
            }
        }
        return files
    }

    /// Removes the files that killed processes have left: those that nobody has locked.
    private func removeAbandoned() {
        for name in (try? FolderNames.read("\(path)/new")) ?? [] {
            let file = "\(path)/new/\(name)"
            let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            guard descriptor >= 0 else { continue }
            if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { unlink(file) }
            close(descriptor)
        }
    }
}
