import FoundationEssentials
import Glibc
import HTTPLab
import NetworkClient
import NetworkLab

/// A directory for downloads.
struct DownloadLab {
    let folder: LabFolder
    /// The path of the file.
    var path: String { "\(folder.path)/file" }
    var part: String { "\(path).part" }
    var record: String { "\(part).info" }

    init() throws { folder = try LabFolder() }

    /// Returns the contents of the file at a path; nil if there is none.
    func bytes(_ path: String) -> [UInt8]? { (try? Data(contentsOf: URL(filePath: path))).map { Array($0) } }

    /// The downloaded file's contents.
    var file: [UInt8]? { bytes(path) }

    /// The file's metadata; for a link, that of the link itself.
    var attributes: [FileAttributeKey: Any] {
        get throws { try FileManager.default.attributesOfItem(atPath: path) }
    }

    /// The names of all files in the directory.
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? [] }

    /// Leaves a part behind, like a process that was killed.
    func leavePart(_ bytes: [UInt8], of url: String, _ lines: [String]) throws {
        try folder.write("file.part", bytes)
        let key = try Self.key(of: url)
        let text = (["netwatch download 1", "url \(url)", "key \(key)"] + lines + ["end"]).joined(separator: "\n")
        try folder.write("file.part.info", text + "\n")
    }

    static func session(
        _ server: ScriptedServer,
        retry: RetryPolicy = .never,
        monitors: [any EventMonitor] = [],
        cache: HTTPCache? = nil
    ) throws -> HTTPSession {
        try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, eventMonitors: monitors, retry: retry, cache: cache)
        )
    }

    /// Bytes in which each position is distinguishable.
    static func entity(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var generator = SeededGenerator(seed: seed)
        let block = (0..<min(count, 65_536)).map { _ in UInt8.random(in: 0...255, using: &generator) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        while bytes.count < count {
            let start = bytes.count
            bytes += block.prefix(count - start)
            withUnsafeBytes(of: start) { number in
                for (place, byte) in number.enumerated() where start + place < count { bytes[start + place] ^= byte }
            }
        }
        return bytes
    }
}
