import Glibc

/// The files of this repository.
package enum Repository {
    /// Reads a file, relative to the repository's root.
    package static func read(_ path: String) throws -> String {
        String(decoding: try bytes(of: root + path), as: UTF8.self)
    }

    /// Replaces the contents of a file, relative to the repository's root.
    package static func write(_ text: String, to path: String) throws {
        let descriptor = open(root + path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw FileError(path: path, errno: errno) }
        defer { close(descriptor) }
        try LineOutputWriter.write(Array(text.utf8), to: descriptor)
    }

    /// Returns the absolute path of a file, relative to the repository's root.
    package static func path(_ path: String) -> String { root + path }

    private static let root = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/"

    /// Reads a file.
    package static func bytes(of path: String) throws -> [UInt8] {
        guard let file = fopen(path, "re") else { throw FileError(path: path, errno: errno) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return bytes
    }
}

/// A file that cannot be read.
package struct FileError: Error {
    package let path: String
    package let errno: Int32
}
