import Glibc
import Locking
import NIOCore

/// A file that is being written, in a folder of its own; it is removed unless it is moved.
///
/// It is locked (flock(2)) while it is written, so that other processes do not take it for one that a killed process has left.
final class NewCacheFile: Sendable {
    let path: String
    private let descriptor: Int32

    /// Creates a file; nil if that fails, for example because the disk is full.
    init?(in folder: String) {
        guard let file = Self.createLocked(in: folder) else { return nil }
        (path, descriptor) = file
    }

    /// How often a file is created that another process removes before it is locked.
    private static let maximumAttempts = 10

    /// Creates and locks a file; another one if a process removed it as abandoned before it was locked.
    private static func createLocked(in folder: String) -> (path: String, descriptor: Int32)? {
        for _ in 0..<maximumAttempts {
            let path = "\(folder)/new/\(getpid())-\(String(UInt64.random(in: 0...UInt64.max), radix: 16))"
            let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard descriptor >= 0 else { return nil }
            // A file system without locks is used without.
            let isLocked = flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK
            var status = stat()
            if isLocked, fstat(descriptor, &status) == 0, status.st_nlink > 0 { return (path, descriptor) }
            close(descriptor)
        }
        return nil
    }

    deinit {
        // No effect if it was moved.
        unlink(path)
        close(descriptor)
    }

    /// Sets the time of its use, more precisely than the kernel does.
    func touch() {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        futimens(descriptor, [now, now])
    }

    /// Appends bytes; returns whether all of them were written.
    func write(_ bytes: some Sequence<UInt8>) -> Bool {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}

/// A large body, which is written to a file while it is received.
///
/// Unchecked, because all members are used on the queue of its cache, one after the other.
final class SpilledBody: @unchecked Sendable {
    private let folder: String
    private var file: NewCacheFile?
    private(set) var length: Int64 = 0
    private(set) var checksum = BodyChecksum()
    private var hasFailed = false

    /// Creates a body without a file, which is made for its first bytes.
    init(in folder: String) { self.folder = folder }

    /// The path of its file; nil without one.
    var path: String? { file?.path }

    func append(_ bytes: ByteBuffer) {
        guard !hasFailed else { return }
        file = file ?? NewCacheFile(in: folder)
        hasFailed = file?.write(bytes.readableBytesView) != true
        length += Int64(bytes.readableBytes)
        bytes.withUnsafeReadableBytes { checksum.add($0) }
    }

    /// Returns whether everything was written.
    func finish() -> Bool {
        file?.touch()
        return file != nil && !hasFailed
    }

    /// Removes the file.
    func discard() {
        hasFailed = true
        file = nil
    }
}

/// The number of bytes in a folder, in a file that all its processes change under a lock.
///
/// A crash between a change and its count leaves a small difference, which ends when the folder is next examined.
final class CacheCounter: Sendable {
    /// The file, or -1 if there is none.
    ///
    /// The lock is for the threads of this process.
    private let descriptor: Lock<Int32>

    init(_ path: String) {
        descriptor = Lock(open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600))
    }

    deinit { descriptor.withLock { if $0 >= 0 { _ = close($0) } } }

    /// The number; nil if the file is damaged or can't be read.
    var value: Int? { locked { Self.read($0) } }

    func add(_ change: Int) {
        _ = locked { file -> Int? in
            guard let value = Self.read(file) else { return nil }
            Self.write(max(0, value + change), file)
            return value
        }
    }

    func set(_ value: Int) {
        _ = locked { file -> Int? in
            Self.write(value, file)
            return value
        }
    }

    private func locked(_ body: (Int32) -> Int?) -> Int? {
        descriptor.withLock { file in
            guard file >= 0 else { return nil }
            flock(file, LOCK_EX)
            defer { flock(file, LOCK_UN) }
            return body(file)
        }
    }

    /// The number and its complement; a new file is zero.
    private static func read(_ file: Int32) -> Int? {
        var words: [UInt64] = [0, 0]
        let count = words.withUnsafeMutableBytes { pread(file, $0.baseAddress, 16, 0) }
        if count == 0 { return 0 }
        guard count == 16, words[0] == ~words[1], words[0] <= UInt64(Int.max / 2) else { return nil }
        return Int(words[0])
    }

    private static func write(_ value: Int, _ file: Int32) {
        let words: [UInt64] = [UInt64(value), ~UInt64(value)]
        _ = words.withUnsafeBytes { pwrite(file, $0.baseAddress, 16, 0) }
    }
}
