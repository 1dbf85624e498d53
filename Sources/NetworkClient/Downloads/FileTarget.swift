import Glibc

/// What becomes of a file that is there already where another one is to be.
public enum ExistingFile: Sendable, Hashable {
    /// It is replaced, in one moment: whoever reads it has the old one or the new one whole.
    case replace
    /// It stays, and the request fails.
    case refuse
}

/// The place of a file that is to come.
struct FileTarget: Sendable, Hashable {
    /// The path; where it was a link to a file, what that leads to.
    let path: String
    /// Whether what is there is no file that could be replaced, but a device or a pipe, which is written as it is.
    let isSpecial: Bool

    /// Looks at what is there.
    init(_ path: String, _ existing: ExistingFile) throws(HTTPError) {
        guard !path.isEmpty, !path.utf8.contains(0) else {
            throw .file("write", "'\(path.filter { $0 != "\0" })'", errno: EINVAL)
        }
        guard let there = try FileCall.status(path, followsLink: false) else {
            guard path.utf8.last != 0x2F else { throw .file("write", path, errno: EISDIR) }
            self.path = path
            isSpecial = false
            return
        }
        let status = there.isLink ? try FileCall.status(path) : there
        guard status?.isFolder != true else { throw .file("write", path, errno: EISDIR) }
        isSpecial = status.map { !$0.isRegular } ?? false
        // A link stays one: what it leads to is replaced. To a pipe there may be no other path, as behind /dev/stdout.
        self.path = there.isLink && !isSpecial ? try Self.resolved(path) : path
        if existing == .refuse, !isSpecial { throw .file("write", path, errno: EEXIST) }
    }

    /// The folder in which it is.
    var folder: String {
        guard let slash = path.utf8.lastIndex(of: 0x2F) else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// realpath(3).
    private static func resolved(_ path: String) throws(HTTPError) -> String {
        guard let resolved = realpath(path, nil) else {
            throw .file("follow the link", path, errno: errno, "remove the link, or let it lead to a file")
        }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
