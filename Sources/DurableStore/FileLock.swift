import Glibc
import LinuxSystem

/// A lock on a file between processes, which the kernel releases when its holder ends (flock(2)).
///
/// Each value has an open file description of its own, so that two of them in one process exclude each other too.
package final class FileLock: Sendable {
    /// The path of the file.
    package let path: String
    private let descriptor: Descriptor

    /// Opens the file of a lock.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - creates: Whether a missing file is created, for the owner only; otherwise it is opened for reading.
    /// - Throws: ``StoreError`` if it can't be opened.
    package init(at path: String, creates: Bool = true) throws(StoreError) {
        self.path = path
        do throws(SystemError) {
            descriptor = try Descriptor("open") {
                creates
                    ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600) : open(path, O_RDONLY | O_CLOEXEC)
            }
        } catch {
            throw .init("open the lock", path, errno: error.code)
        }
    }

    /// Releases the lock, even if a child process that was forked meanwhile still has the descriptor.
    deinit { unlock() }

    /// Waits for the lock, in the order in which the kernel grants it.
    package func lock(shared: Bool = false) throws(StoreError) {
        _ = try call(shared ? LOCK_SH : LOCK_EX)
    }

    /// Takes the lock if it is free.
    ///
    /// - Returns: Whether it was.
    package func tryLock(shared: Bool = false) throws(StoreError) -> Bool {
        try call((shared ? LOCK_SH : LOCK_EX) | LOCK_NB)
    }

    /// Releases the lock.
    package func unlock() { _ = flock(descriptor.number, LOCK_UN) }

    /// Replaces the contents, which must be short.
    package func write(_ text: String) throws(StoreError) {
        let bytes = Array(text.utf8)
        let count = bytes.withUnsafeBytes { pwrite(descriptor.number, $0.baseAddress, $0.count, 0) }
        guard count == bytes.count, ftruncate(descriptor.number, off_t(bytes.count)) == 0 else {
            throw .init("write the lock file", path, errno: errno)
        }
    }

    /// The contents, up to 256 bytes.
    package var contents: String {
        var bytes = [UInt8](repeating: 0, count: 256)
        let count = bytes.withUnsafeMutableBytes { pread(descriptor.number, $0.baseAddress, $0.count, 0) }
        return String(decoding: bytes.prefix(max(count, 0)), as: UTF8.self)
    }

    /// Overwrites the first byte, which wakes the watches of the file (inotify(7)); on a full disk by an event that needs no
    /// space.
    package func touch() {
        if pwrite(descriptor.number, " ", 1, 0) == 1 { return }
        // The watches have no time limit: that a file which was opened for writing is closed is an event, too.
        let file = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        if file >= 0 { close(file) }
    }

    private func call(_ operation: Int32) throws(StoreError) -> Bool {
        do throws(SystemError) {
            _ = try retryingOnInterrupt("flock") { flock(descriptor.number, operation) }
            return true
        } catch {
            if error.code == EWOULDBLOCK { return false }
            throw .init("take the lock", path, errno: error.code)
        }
    }
}

/// A file whose space is kept for the moment in which the disk is full.
///
/// On a full disk SQLite can't even delete a row: without this file an outbox whose items are delivered would stay full
/// forever.
final class ReserveFile {
    private let path: String
    private static let size: off_t = 1 << 20
    /// Whether the space is there, as far as this process knows.
    private(set) var isAllocated = false

    init(at path: String) {
        self.path = path
        allocate()
    }

    /// Allocates the space, if it is not allocated yet and there is enough.
    func allocate() { isAllocated = hasSpace() }

    private func hasSpace() -> Bool {
        let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { return false }
        defer { close(file) }
        var status = stat()
        if fstat(file, &status) == 0, status.st_blocks * 512 >= Self.size { return true }
        if posix_fallocate(file, 0, Self.size) == 0 { return true }
        ftruncate(file, 0)
        return false
    }

    /// Releases the space.
    ///
    /// - Returns: Whether there was any.
    func release() -> Bool {
        isAllocated = false
        var status = stat()
        guard stat(path, &status) == 0, status.st_blocks > 0 else { return false }
        return truncate(path, 0) == 0
    }
}
