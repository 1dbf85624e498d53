import Glibc

/// A small file that is written as a whole.
enum WholeFile {
    /// Replaces a file in one step, with permissions for its owner only; see rename(2).
    ///
    /// A symbolic link is followed, and what is not a regular file, such as `/dev/null`, is written to as it is.
    ///
    /// - Parameters:
    ///   - bytes: The contents.
    ///   - path: The path.
    /// - Throws: `fileFailed`.
    static func write(_ bytes: [UInt8], to path: String) throws(HTTPError) {
        let path = resolved(path)
        if let existing = try FileCall.status(path), !existing.isRegular {
            return try writeInPlace(bytes, to: path)
        }
        let new = "\(path).new"
        let descriptor = try lockedFile(new)
        defer { close(descriptor) }
        do throws(HTTPError) {
            try FileCall.make("write", new) { ftruncate(descriptor, 0) }
            try FileCall.write(bytes, to: descriptor, new)
            try FileCall.make("write", new) { fsync(descriptor) }
            try FileCall.make("write", path) { rename(new, path) }
        } catch {
            unlink(new)
            throw error
        }
    }

    /// Opens a new file that no other process or thread writes until it is closed (flock(2)).
    ///
    /// One that a killed process has left is used again; another user's is removed.
    private static func lockedFile(_ path: String) throws(HTTPError) -> Int32 {
        while true {
            let flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK
            let descriptor = open(path, flags, 0o600)
            if descriptor < 0, errno == ELOOP || errno == ENXIO || errno == EACCES || errno == EISDIR {
                try FileCall.make("write", path) { unlink(path) }
                continue
            }
            try FileCall.make("write", path) { descriptor }
            flock(descriptor, LOCK_EX)
            if isCurrent(descriptor, path) { return descriptor }
            close(descriptor)
        }
    }

    /// Whether an open file still has its path, and is one's own; another user's is removed.
    private static func isCurrent(_ descriptor: Int32, _ path: String) -> Bool {
        var (opened, named) = (stat(), stat())
        guard fstat(descriptor, &opened) == 0, lstat(path, &named) == 0,
            opened.st_ino == named.st_ino, opened.st_dev == named.st_dev
        else { return false }
        if opened.st_uid == geteuid(), opened.st_nlink == 1, opened.st_mode & ~0o700 == S_IFREG { return true }
        unlink(path)
        return false
    }

    /// Returns the path of the file that a symbolic link leads to.
    private static func resolved(_ path: String) -> String {
        guard let resolved = realpath(path, nil) else { return path }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func writeInPlace(_ bytes: [UInt8], to path: String) throws(HTTPError) {
        let descriptor = try FileCall.make("write", path) { open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY) }
        defer { close(descriptor) }
        try FileCall.write(bytes, to: descriptor, path)
    }
}
