import COutbox
import Glibc
import LinuxSystem
import Synchronization

/// The folder of the bodies that are too large for the database.
///
/// A file is complete and synchronized before the row that names it is stored, and is removed after that row. A file that
/// no row names is left from a process that ended in between; it is locked while its row is being stored.
struct Spool: Sendable {
    /// The size in bytes up to which bodies are stored in the database.
    static let largestInlineBody = 64 << 10

    let folder: String

    /// A file of the spool whose row is not stored yet; unlocked when it is released.
    final class Draft: Sendable {
        let name: String
        let path: String
        let descriptor: Int32
        /// The file that is removed when the row is stored.
        let source: String?

        init(name: String, path: String, descriptor: Int32, source: String? = nil) {
            (self.name, self.path, self.descriptor, self.source) = (name, path, descriptor, source)
        }

        deinit { close(descriptor) }

        /// Locks the file, so that no process takes it for one that was left behind.
        ///
        /// - Returns: Whether it has its name still: a process may have removed it before.
        func lock() -> Bool {
            // Where there are no locks, no process removes anything.
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { return false }
            var (own, named) = (stat(), stat())
            return fstat(descriptor, &own) == 0 && lstat(path, &named) == 0 && own.st_ino == named.st_ino
        }

        /// Removes the moved file from its old place: the row is stored.
        func commit() { if let source { unlink(source) } }

        /// Removes the file: there is no row.
        func discard() { unlink(path) }
    }

    /// Returns the path of a file.
    func path(_ name: String) -> String { "\(folder)/\(name)" }

    /// Stores the contents that a closure writes.
    func write(_ body: (_ write: ([UInt8]) throws -> Void) async throws -> Void) async throws -> Draft {
        let draft = try create()
        do {
            try await body { bytes in try Self.write(bytes, draft) }
            // It may take seconds, for which no thread of Swift's tasks should wait.
            try await BlockingWork.run { try sync(draft) }
            return draft
        } catch {
            draft.discard()
            throw error
        }
    }

    /// Stores a file's contents under a name of the spool.
    func take(_ source: String, moves: Bool) throws(OutboxError) -> Draft {
        _ = try FileSystem.regularFile(at: source)
        if moves, let draft = try link(source) { return draft }
        let draft = try create(removing: moves ? source : nil)
        do throws(OutboxError) {
            try copy(source, to: draft)
            try sync(draft)
            return draft
        } catch {
            draft.discard()
            throw error
        }
    }

    /// Removes the files that no row names.
    ///
    /// - Parameter isNamed: Whether a row names a file; called while the file is locked.
    /// - Throws: The closure's error.
    func sweep(isNamed: (String) async throws -> Bool) async throws {
        for name in names where try await !isNamed(name) {
            let file = open(path(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
            guard file >= 0 else { continue }
            defer { close(file) }
            // Locked: a process is about to store its row.
            guard flock(file, LOCK_EX | LOCK_NB) == 0 else { continue }
            if try await !isNamed(name) { unlink(path(name)) }
        }
    }

    private var names: [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    // MARK: Writing

    /// How many files are made in turn, if other processes lock or remove them.
    private static let creationLimit = 100

    private func create(removing source: String? = nil) throws(OutboxError) -> Draft {
        for _ in 0..<Self.creationLimit {
            let name = Self.makeName()
            let file = open(path(name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard file >= 0 else { throw FileSystem.error("create", path(name), errno) }
            let draft = Draft(name: name, path: path(name), descriptor: file, source: source)
            if draft.lock() { return draft }
            draft.discard()
        }
        throw FileSystem.error("lock a new file in", folder, EWOULDBLOCK)
    }

    /// Gives a file a second name in the spool; its first is removed when the row is stored, so that no moment is without.
    ///
    /// - Returns: nil where that is not possible: on another file system, or while another process has the file locked.
    private func link(_ source: String) throws(OutboxError) -> Draft? {
        let name = Self.makeName()
        guard Glibc.link(source, path(name)) == 0 else { return nil }
        let file = open(path(name), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            unlink(path(name))
            return nil
        }
        let draft = Draft(name: name, path: path(name), descriptor: file, source: source)
        guard draft.lock() else {
            draft.discard()
            return nil
        }
        fchmod(file, 0o600)
        do throws(OutboxError) { try sync(draft) } catch {
            draft.discard()
            throw error
        }
        return draft
    }

    private func copy(_ source: String, to draft: Draft) throws(OutboxError) {
        let input = open(source, O_RDONLY | O_CLOEXEC)
        guard input >= 0 else { throw FileSystem.error("read the body", source, errno, .bodyUnavailable) }
        defer { close(input) }
        if ioctl(draft.descriptor, Self.cloneRequest, input) == 0 { return }
        var copied = netwatch_copy_file_range(input, draft.descriptor, 1 << 30)
        while copied > 0 { copied = netwatch_copy_file_range(input, draft.descriptor, 1 << 30) }
        if copied == 0 { return }
        // From another kind of file system: what is there is continued.
        guard errno != ENOSPC, errno != EDQUOT, errno != EIO else { throw FileSystem.error("copy", source, errno) }
        var failure: OutboxError?
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while failure == nil {
            let count = read(input, &buffer, buffer.count)
            if count == 0 { return }
            guard count > 0 else { throw FileSystem.error("read the body", source, errno, .bodyUnavailable) }
            do throws(OutboxError) { try Self.write(Array(buffer[..<count]), draft) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private static func write(_ bytes: [UInt8], _ draft: Draft) throws(OutboxError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(draft.descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw FileSystem.error("write", draft.path, errno) }
            rest = rest.dropFirst(count)
        }
    }

    private func sync(_ draft: Draft) throws(OutboxError) {
        guard fsync(draft.descriptor) == 0 else { throw FileSystem.error("synchronize", draft.path, errno) }
        let directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { throw FileSystem.error("open", folder, errno) }
        defer { close(directory) }
        guard fsync(directory) == 0 else { throw FileSystem.error("synchronize", folder, errno) }
    }

    private static func makeName() -> String { OutboxToken.random() }

    /// `FICLONE` of `linux/fs.h`.
    private static let cloneRequest: UInt = 0x4004_9409
}

/// Random text that can't be guessed.
enum OutboxToken {
    private static let counter = Atomic(UInt64.random(in: .min ... .max))

    /// A key of 128 bits in hexadecimal digits: a counter that begins anywhere, and 64 random bits.
    ///
    /// Neighbours in time are neighbours in the indices of the keys: items that are stored together change few pages there.
    static func key() -> String {
        let count = counter.wrappingAdd(1, ordering: .relaxed).newValue
        return withUnsafeBytes(of: (count.bigEndian, UInt64.random(in: .min ... .max))) { $0.hexadecimal }
    }

    /// 128 bits in hexadecimal digits.
    static func random() -> String {
        let numbers = (UInt64.random(in: .min ... .max), UInt64.random(in: .min ... .max))
        return withUnsafeBytes(of: numbers) { $0.hexadecimal }
    }
}

/// Work that blocks, on threads of its own rather than those of Swift's tasks.
enum BlockingWork {
    private static let threads = ThreadPool(name: "outbox-files")

    static func run<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            threads.enqueue { continuation.resume(with: Result { try body() }) }
        }
    }
}
