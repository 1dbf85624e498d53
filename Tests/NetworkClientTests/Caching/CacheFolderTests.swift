import Glibc
import HTTPLab
import NIOCore
import NetworkClientCore
import NetworkLab
import Testing

@testable import NetworkClient

/// The folder of a cache: crashes, damage, limits, permissions, several users of it.
@Suite(.timeLimit(.minutes(5)))
struct CacheFolderTests {
    private let lab: LabFolder
    private var path: String { "\(lab.path)/cache" }

    init() throws { lab = try LabFolder() }

    private func cache(_ limit: Int = 1 << 24) throws -> HTTPCache {
        try HTTPCache(folder: path, limit: limit) { 1_767_225_600 }
    }

    private func store(_ url: String, _ body: [UInt8], in cache: HTTPCache) {
        let response = CachedResponse(
            status: 200,
            reason: "OK",
            fields: .init([.init("Cache-Control", "max-age=9")]),
            requestTime: 1_767_225_600,
            responseTime: 1_767_225_600
        )
        let writer = CacheWriter(cache, epoch: cache.epoch)
        for start in stride(from: 0, to: body.count, by: 50_000) {
            writer.append(ByteBuffer(bytes: body[start..<min(body.count, start + 50_000)]))
        }
        writer.commit(response, to: url, .init())
        cache.flush()
    }

    /// The stored body, checked as for a delivery.
    private func body(_ url: String, in cache: HTTPCache) throws -> [UInt8]? {
        guard let match = cache.match(url, .init()) else { return nil }
        switch match.entry.body {
        case .bytes(let bytes): return Array(bytes.readableBytesView)
        case .file(let path):
            guard CacheFileReader.checked(path, match.entry.record) != nil else { return nil }
            return try FileBytes.read(path)
        }
    }

    private func files() throws -> [String] {
        var found: [String] = []
        for number in 0..<256 {
            let folder = "\(path)/v1/\(String(number + 256, radix: 16).dropFirst())"
            found += ((try? FolderNames.read(folder)) ?? []).map { "\(folder)/\($0)" }
        }
        return found
    }

    private static let small = Array("small".utf8)
    private static let large = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }

    @Test(arguments: [small, large, []])
    func `a body is read as it was stored, also by another process`(body: [UInt8]) throws {
        store("http://a/", body, in: try cache())
        #expect(try self.body("http://a/", in: try cache()) == body)
        #expect(try self.body("http://a/b", in: try cache()) == nil)
    }

    @Test func `a file that is being written is not lost to a process that opens the folder`() throws {
        let folder = path
        _ = try CacheFolder(folder, limit: 1 << 20)
        let (isDone, openings) = (Observed(false), Observed(0))
        // As other processes do, whose locks are their own too.
        let openers = try (0..<2).map { _ in
            try LabThread {
                while !isDone.value {
                    if (try? CacheFolder(folder, limit: 1 << 20)) != nil { openings.update { $0 += 1 } }
                }
            }
        }
        var lost = 0
        for round in 1... where lost == 0 {
            if NewCacheFile(in: "\(folder)/v1").map({ access($0.path, F_OK) }) != 0 { lost += 1 }
            if round >= 5_000, openings.value >= 1_000 { break }
        }
        isDone.update { $0 = true }
        for opener in openers { opener.join() }
        #expect(lost == 0)
    }

    @Test func `files and folders are for their owner only`() throws {
        store("http://a/", Self.large, in: try cache())
        for file in try files() + ["\(path)/v1/size"] {
            #expect(try fileMode(file) & 0o777 == 0o600)
        }
        for folder in ["", "/v1", "/v1/new"] {
            #expect(try fileMode(path + folder) & 0o777 == 0o700)
        }
    }

    @Test(arguments: [small, large])
    func `a file that ends at any byte is no response`(body: [UInt8]) throws {
        store("http://a/", body, in: try cache())
        let stored = try files()
        let wholes = try stored.map { try FileBytes.read($0) }
        for (file, whole) in zip(stored, wholes) {
            for count in stride(from: 0, to: whole.count, by: max(1, whole.count / 400)) {
                for (file, whole) in zip(stored, wholes) { try write(whole, to: file) }
                try write(Array(whole.prefix(count)), to: file)
                #expect(try self.body("http://a/", in: try cache()) == nil, "\(count) bytes of \(file)")
            }
        }
    }

    @Test(arguments: [small, large])
    func `a damaged byte anywhere is no wrong response`(body: [UInt8]) throws {
        store("http://a/", body, in: try cache())
        let stored = try files()
        let wholes = try stored.map { try FileBytes.read($0) }
        for (file, whole) in zip(stored, wholes) {
            for position in stride(from: 0, to: whole.count, by: max(1, whole.count / 400)) {
                for (file, whole) in zip(stored, wholes) { try write(whole, to: file) }
                var damaged = whole
                damaged[position] ^= 1 << (position % 8)
                try write(damaged, to: file)
                #expect(try self.body("http://a/", in: try cache()) == nil, "byte \(position) of \(file)")
            }
        }
    }

    /// Writes a file that may have been removed as damaged.
    private func write(_ bytes: [UInt8], to file: String) throws {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(descriptor) }
        _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }

    @Test func `the entries unused for longest are removed when the limit is reached`() throws {
        let cache = try cache(40 << 10)
        for number in 0..<9 { store("http://a/\(number)", [UInt8(number)], in: cache) }
        #expect(try body("http://a/0", in: cache) == [0])
        for number in 9..<12 { store("http://a/\(number)", [UInt8(number)], in: cache) }
        #expect(cache.size <= 40 << 10 && cache.size > 0)
        #expect(try body("http://a/0", in: cache) == [0])
        #expect(try body("http://a/11", in: cache) == [11])
        #expect(try body("http://a/1", in: cache) == nil)
        store("http://a/large", [UInt8](repeating: 1, count: 20 << 10), in: cache)
        #expect(try body("http://a/large", in: cache) == nil, "more than a quarter of the limit")
    }

    @Test func `the size follows what is stored, replaced and removed`() throws {
        let cache = try cache()
        store("http://a/", Self.large, in: cache)
        #expect(cache.size == 4_096 + 200_704)
        store("http://a/", Self.large, in: cache)
        #expect(cache.size == 4_096 + 200_704)
        store("http://a/", Self.small, in: cache)
        #expect(cache.size == 4_096)
        #expect(try files().count == 1)
        try cache.remove("http://a/")
        // The URL of a session has its port.
        store("http://a:80/", Self.small, in: cache)
        try cache.remove("http://a/")
        cache.flush()
        #expect(try body("http://a:80/", in: cache) == nil)
        cache.removeAll()
        #expect(cache.size == 0)
        #expect(try files().isEmpty)
    }

    @Test(arguments: [small, large])
    func `an update that can't be written keeps the stored response`(body: [UInt8]) throws {
        let cache = try cache()
        store("http://a/", body, in: cache)
        let size = cache.size
        let match = try #require(cache.match("http://a/", .init()))
        // No file can be created, as on a full disk.
        #expect(rmdir("\(path)/v1/new") == 0)
        var response = match.response
        response.responseTime += 1
        _ = cache.update(match, response, epoch: cache.epoch)
        cache.flush()
        #expect(cache.match("http://a/", .init())?.response == match.response)
        #expect(try self.body("http://a/", in: cache) == body)
        #expect(cache.size == size)
    }

    @Test func `a damaged size is counted again`() throws {
        store("http://a/", Self.small, in: try cache())
        try write([1, 2, 3], to: "\(path)/v1/size")
        let cache = try cache()
        store("http://b/", Self.small, in: cache)
        #expect(cache.size == 2 * 4_096)
    }

    @Test func `what a killed process has left is removed, and what another one writes is not`() throws {
        let first = try cache()
        try write([1], to: "\(path)/v1/new/1-dead")
        let written = try #require(first.store.makeSpilledBody())
        written.append(ByteBuffer(bytes: [1]))
        _ = try cache()
        #expect(try FolderNames.read("\(path)/v1/new").count == 1)
        withExtendedLifetime(written) {}
    }

    @Test func `two users of a folder see each other's entries and limit`() throws {
        let (first, second) = (try cache(64 << 10), try cache(64 << 10))
        for number in 0..<40 { store("http://a/\(number)", [1], in: number % 2 == 0 ? first : second) }
        #expect(first.size == second.size && first.size <= 64 << 10)
        #expect(try body("http://a/39", in: first) == [1])
        #expect(try body("http://a/38", in: second) == [1])
    }

    @Test func `a folder that others can write, or no folder, is refused`() throws {
        mkdir(path, 0o700)
        chmod(path, 0o777)
        let open = #expect(throws: HTTPError.self) { try cache() }
        #expect(open?.code == .fileFailed && open?.reason.contains("others must not be able to write it") == true)
        rmdir(path)
        try lab.write("cache", "")
        #expect(throws: HTTPError.self) { try cache() }
        #expect(throws: HTTPError.self) { try HTTPCache(folder: "\(lab.path)/a/b") }
    }

    @Test func `no name of a file contains a URL, and a symbolic link is not followed`() throws {
        store("http://secret/", Self.small, in: try cache())
        let file = try #require(try files().first)
        #expect(!file.contains("secret"))
        try lab.write("copy", try FileBytes.read(file))
        unlink(file)
        symlink("\(lab.path)/copy", file)
        #expect(try body("http://secret/", in: try cache()) == nil)
    }
}
