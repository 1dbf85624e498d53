import Crypto
import Glibc
import OutboxCore

/// The properties of a referenced file, which it must still have when it is sent.
package struct FileCheck: Sendable, Hashable {
    /// The size in bytes.
    package var size: Int64
    /// The time of the last change in nanoseconds since 1970 (`st_mtim`).
    package var modified: Int64
    /// The inode's number.
    package var inode: UInt64
    /// The SHA-256 of the contents, in hexadecimal digits.
    package var sha256: String

    /// The stored form.
    var text: String { "\(size) \(modified) \(inode) \(sha256)" }

    init(text: String) {
        let words = text.split(separator: " ")
        size = words.first.flatMap { Int64($0) } ?? -1
        modified = words.dropFirst().first.flatMap { Int64($0) } ?? -1
        inode = words.dropFirst(2).first.flatMap { UInt64($0) } ?? 0
        sha256 = words.dropFirst(3).first.map(String.init) ?? ""
    }

    /// Reads a file's properties and contents.
    init(ofFileAt path: String) throws(OutboxError) {
        let status = try FileSystem.regularFile(at: path)
        size = Int64(status.st_size)
        modified = status.modified
        inode = UInt64(status.st_ino)
        sha256 = try FileSystem.sha256(ofFileAt: path)
    }

    /// Returns whether a file has the contents, which are read.
    ///
    /// - Throws: ``OutboxError/Code/storageFailed`` if that is not known, for lack of descriptors or memory.
    func matches(fileAt path: String) throws(OutboxError) -> Bool {
        try Self.unlessLost { () throws(OutboxError) in try FileSystem.sha256(ofFileAt: path) == sha256 }
    }

    /// Returns whether a file has still the contents; they are read only if its time or inode has changed.
    ///
    /// - Throws: As ``matches(fileAt:)``.
    func holds(forFileAt path: String) throws(OutboxError) -> Bool {
        try Self.unlessLost { () throws(OutboxError) in
            let status = try FileSystem.regularFile(at: path)
            guard Int64(status.st_size) == size else { return false }
            if status.modified == modified, UInt64(status.st_ino) == inode { return true }
            return try FileSystem.sha256(ofFileAt: path) == sha256
        }
    }

    /// Returns the result of a closure; false if the file that it reads is lost.
    private static func unlessLost(_ look: () throws(OutboxError) -> Bool) throws(OutboxError) -> Bool {
        do throws(OutboxError) {
            return try look()
        } catch {
            if error.code == .storageFailed { throw error }
            return false
        }
    }
}

extension stat {
    /// The time of the last change in nanoseconds since 1970, clamped to 64 bits: a file may have any.
    fileprivate var modified: Int64 {
        (Duration.seconds(st_mtim.tv_sec) + .nanoseconds(st_mtim.tv_nsec)).wholeNanoseconds
    }
}

/// Calls on files, with errors that name them.
enum FileSystem {
    /// Returns the status of a regular file.
    static func regularFile(at path: String) throws(OutboxError) -> stat {
        var status = stat()
        guard stat(path, &status) == 0 else { throw error("read the body", path, errno, .bodyUnavailable) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .init(.bodyUnavailable, reason: "\(path) is no regular file: give its contents as a sequence")
        }
        return status
    }

    /// Returns the SHA-256 of a file's contents in hexadecimal digits.
    static func sha256(ofFileAt path: String) throws(OutboxError) -> String {
        var hash = SHA256()
        try read(path) { hash.update(bufferPointer: $0) }
        return hash.finalize().hexadecimal
    }

    /// Reads a file from its beginning to its end.
    static func read(_ path: String, _ body: (UnsafeRawBufferPointer) -> Void) throws(OutboxError) {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { throw error("read the body", path, errno, .bodyUnavailable) }
        defer { close(file) }
        var buffer = [UInt8](repeating: 0, count: 1 << 18)
        while true {
            let count = Glibc.read(file, &buffer, buffer.count)
            if count == 0 { return }
            guard count > 0 else { throw error("read the body", path, errno, .bodyUnavailable) }
            buffer.withUnsafeBytes { body(.init(rebasing: $0[..<count])) }
        }
    }

    /// Returns the free space in bytes of a folder's file system.
    static func freeSpace(of folder: String) -> Int64 {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return .max / 2 }
        return Int64(status.f_bavail) * Int64(status.f_frsize)
    }

    /// Removes files whose rows are gone; a failure leaves them behind.
    static func remove(_ paths: [String]) { for path in paths { unlink(path) } }

    /// Whether an error says nothing about the file: the process or the machine has no descriptor or memory left.
    static func isShortage(_ errno: Int32) -> Bool { [EMFILE, ENFILE, ENOMEM].contains(errno) }

    /// Returns the error of a call on a file: of the storage, unless another code is given and the file is at fault.
    static func error(
        _ action: String,
        _ path: String,
        _ errno: Int32,
        _ code: OutboxError.Code = .storageFailed
    ) -> OutboxError {
        let text = "cannot \(action) \(path): \(String(cString: strerror(errno)))"
        if errno == ENOSPC || errno == EDQUOT { return .init(.full, reason: "\(text); free space on the file system") }
        return .init(isShortage(errno) ? .storageFailed : code, reason: text)
    }
}

extension SHA256Digest {
    /// The digits of the digest.
    var hexadecimal: String { withUnsafeBytes { $0.hexadecimal } }
}

extension UnsafeRawBufferPointer {
    /// The bytes as lowercase hexadecimal digits.
    var hexadecimal: String {
        String(unsafeUninitializedCapacity: count * 2) { digits in
            for (index, byte) in enumerated() {
                digits[index * 2] = Self.digit(byte >> 4)
                digits[index * 2 + 1] = Self.digit(byte & 0xF)
            }
            return count * 2
        }
    }

    private static func digit(_ number: UInt8) -> UInt8 { number + (number < 10 ? 0x30 : 0x57) }
}
