import Glibc

/// The files of this repository.
enum Repository {
    /// Reads a file, named from the repository's root.
    static func read(_ path: String) throws -> String {
        let root = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        return String(decoding: try bytes(of: "/\(root)/\(path)"), as: UTF8.self)
    }

    /// Reads a file.
    static func bytes(of path: String) throws -> [UInt8] {
        guard let file = fopen(path, "re") else { throw FileError(path: path, errno: errno) }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return bytes
    }
}

/// A file that can't be read.
struct FileError: Error {
    let path: String
    let errno: Int32
}
