import Glibc

/// The file of a download, which appears as a whole: until then its bytes are in files with random names next to it.
package struct DownloadTarget: Sendable, Hashable {
    /// The path of the file.
    package var path: String
    /// The SHA-256 that it must have, in hexadecimal digits; nil for any.
    package var sha256: String?
    /// Random text in the names of the files until it is complete.
    package var token: String

    init(path: String, sha256: String?) {
        (self.path, self.sha256) = (path, sha256?.lowercased())
        token = OutboxToken.random()
    }

    /// Creates a target from the parameters of a program.
    ///
    /// - Throws: ``OutboxError/Code/invalidRequest``.
    init(checking path: String, _ sha256: String?) throws(OutboxError) {
        guard path.hasPrefix("/"), !path.hasSuffix("/") else {
            throw .init(
                .invalidRequest,
                reason: "the path '\(path)' of the download is not the absolute path of a file"
            )
        }
        if let sha256, sha256.utf8.count != 64 || !sha256.allSatisfy(\.isHexDigit) {
            throw .init(
                .invalidRequest,
                reason: "'\(sha256)' is no SHA-256: it has 64 hexadecimal digits"
            )
        }
        self.init(path: Self.resolved(path), sha256: sha256)
        var status = stat()
        if stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            guard stat(self.path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
            throw .init(.invalidRequest, reason: "\(self.path) is no regular file, and can't be replaced")
        }
        throw .init(
            .invalidRequest,
            reason: "the folder '\(folder)' of the download does not exist: create it first"
        )
    }

    /// Returns the file that a symbolic link leads to, or else the path.
    private static func resolved(_ path: String) -> String {
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    init(path: String, text: String) {
        self.path = path
        let words = text.split(separator: " ")
        sha256 = words.first.flatMap { $0 == "-" ? nil : String($0) }
        token = words.dropFirst().first.map(String.init) ?? ""
    }

    /// The stored form of digest and token.
    var text: String { "\(sha256 ?? "-") \(token)" }

    /// The text that two downloads with the same key have in common.
    var identity: String { "download\n\(path)\n\(sha256 ?? "-")" }

    /// The folder of the file.
    var folder: String {
        let end = path.lastIndex(of: "/") ?? path.startIndex
        return end == path.startIndex ? "/" : String(path[..<end])
    }

    /// The path of the complete file before its digest is checked.
    var staged: String { "\(folder)/.netwatch-\(token)" }
    /// The path of the bytes that were received so far.
    var part: String { "\(staged).part" }
    /// The path of the record of the version that the part is of.
    var record: String { "\(part).info" }
    /// The paths of the files that are removed when the item ends.
    var leftovers: [String] { [staged, part, record, "\(record).new"] }
}

/// The beginning of a part that is on disk for certain.
///
/// Within the boot in which it was synchronized, all of the part can be continued, also after the process was killed.
/// After another boot the power may have failed: only the beginning is continued.
struct PartMark: Sendable, Hashable {
    /// The identifier of the boot.
    var boot: String
    /// The number of bytes.
    var length: Int64
    /// The SHA-256 of the record of the part's version; empty without one.
    var record: String

    init(boot: String, length: Int64 = 0, record: String = "") {
        (self.boot, self.length, self.record) = (boot, length, record)
    }

    init?(text: String?) {
        let words = (text ?? "").split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, let length = Int64(words[1]) else { return nil }
        self.init(boot: String(words[0]), length: length, record: String(words[2]))
    }

    /// The stored form.
    var text: String { "\(boot) \(length) \(record)" }
}
