import CommandLineSupport
import Glibc

/// Writes files so that nobody ever sees a part of one.
enum AtomicFile {
    /// Puts a file in the place of another, or where there was none (rename(2)).
    ///
    /// It is written beside its place first, so that what was there stays if that fails. The rights are those of any new
    /// file (umask(2)). A link stays one: what it leads to is replaced. What is no regular file, such as a device or a
    /// pipe, is written where it is.
    static func write(_ bytes: [UInt8], to path: String) throws(OutputFailure) {
        var status = stat()
        guard stat(path, &status) == 0 else { return try replace(path, by: bytes) }
        guard status.st_mode & S_IFMT == S_IFREG else { return try write(bytes, into: path) }
        try replace(resolved(path), by: bytes)
    }

    /// realpath(3).
    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func write(_ bytes: [UInt8], into path: String) throws(OutputFailure) {
        let descriptor: Int32
        do throws(SystemError) {
            descriptor = try retryingOnInterrupt { open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY) }
        } catch {
            throw .failed(error)
        }
        defer { close(descriptor) }
        try LineOutput(descriptor: descriptor).write(bytes)
    }

    private static func replace(_ path: String, by bytes: [UInt8]) throws(OutputFailure) {
        var template = Array((path + ".XXXXXX").utf8CString)
        let descriptor = mkstemp(&template)
        guard descriptor >= 0 else { throw .failed(.last) }
        do throws(OutputFailure) {
            defer { close(descriptor) }
            try LineOutput(descriptor: descriptor).write(bytes)
            try check(fchmod(descriptor, 0o666 & ~CreationMask.current))
            try check(fsync(descriptor))
            try check(rename(template, path))
        } catch {
            unlink(template)
            throw error
        }
    }

    private static func check(_ result: Int32) throws(OutputFailure) {
        if result != 0 { throw .failed(.last) }
    }
}
