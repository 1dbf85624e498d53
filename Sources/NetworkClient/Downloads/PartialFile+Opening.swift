import Glibc

/// Making and opening parts: whose they are, and who can read them.
extension PartialFile {
    /// What open(2) is told of every part: a link that somebody has put there is not followed, a pipe not waited for.
    private static let flags = O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY

    /// Makes a file of a name that there is not.
    func create(_ part: String) throws(HTTPError) {
        descriptor = try FileCall.make("make", part) { make(part) }
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
            // Whoever held the lock may have put the part in its place meanwhile, or removed it.
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
