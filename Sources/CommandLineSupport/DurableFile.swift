import Glibc
package import LinuxSystem

/// Small files that a power failure leaves with their old or with their new contents.
package enum DurableFile {
    /// Replaces a file in one step, with permissions for its owner only (fdatasync(2), rename(2)).
    ///
    /// The contents are written to a file next to it first, whose name ends in `.new`. A file that did not exist is on disk
    /// when the function returns.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - text: The contents.
    /// - Throws: The errno of the call that failed.
    package static func replace(_ path: String, with text: String) throws(SystemError) {
        let (new, isCreated) = (path + ".new", access(path, F_OK) != 0)
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
        let descriptor = try Descriptor("open") { open(new, flags, 0o600) }
        do throws(OutputFailure) {
            try LineOutput(descriptor: descriptor.number).write(text)
        } catch {
            throw error.systemError
        }
        // Otherwise the new name may be on disk before the contents are.
        _ = try retryingOnInterrupt { fdatasync(descriptor.number) }
        _ = try retryingOnInterrupt { rename(new, path) }
        if isCreated { try synchronizeFolder(of: path) }
    }

    /// Synchronizes the folder that contains a file, so that the name of the file is on disk (fsync(2)).
    private static func synchronizeFolder(of path: String) throws(SystemError) {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A directory can be writable and not readable.
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        // Some file systems need no such call, and report that they do not support it.
        guard fsync(descriptor) != 0, errno != EINVAL, errno != ENOTSUP else { return }
        throw .last
    }
}
