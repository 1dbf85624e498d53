import Glibc

/// A file of `Tests/Fixtures`.
enum Fixture {
    /// The whole file; empty if it cannot be read, which no test accepts as a capture.
    static func bytes(_ name: String) -> [UInt8] { read("\(tests)/Fixtures/\(name)") }

    /// The names of the files in a folder of `Tests`, in no order; none if it cannot be read.
    static func names(in folder: String) -> [String] {
        guard let directory = opendir("\(tests)/\(folder)") else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        return names
    }

    private static let tests = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

    private static func read(_ path: String) -> [UInt8] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = fread(&chunk, 1, chunk.count, file)
            guard count > 0 else { return bytes }
            bytes += chunk[..<count]
        }
    }
}
