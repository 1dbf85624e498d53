import Glibc

/// A file of `Tests/Fixtures`.
enum Fixture {
    /// The whole file; empty if it can't be read, which no test takes for a capture.
    static func bytes(_ name: String, here: String = #filePath) -> [UInt8] {
        let parts = here.split(separator: "/").dropLast(3)
        return read("/" + parts.joined(separator: "/") + "/Fixtures/\(name)")
    }

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
