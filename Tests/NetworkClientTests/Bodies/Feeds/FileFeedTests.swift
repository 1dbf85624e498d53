import Glibc
import HTTPLab
import NIOCore
import NIOPosix
import NetworkLab
import Testing

@testable import NetworkClient

/// Reading files that are being sent, and detecting changes to them.
@Suite(.timeLimit(.minutes(5)))
struct FileFeedTests {
    private let folder: LabFolder

    init() throws { folder = try LabFolder() }

    private func bytes(_ count: Int) -> [UInt8] { (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) } }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 600_000])
    func `a file is provided unchanged, in pieces`(size: Int) async throws {
        let source = try BodySource.file(folder.write("file", bytes(size)))
        #expect(source.length == Int64(size))
        #expect(source.isReplayable)
        for _ in 1...2 {
            let pieces = try await OpenedFeed.pieces(of: source)
            #expect(pieces.flatMap(\.self) == bytes(size))
            #expect(pieces.count == (size + 65_535) / 65_536)
        }
    }

    @Test(arguments: [(0, false), (262_144, false), (262_145, true)])
    func `a file is long if one read does not suffice for it`(size: Int, isLong: Bool) throws {
        let source = try BodySource.file(folder.write("file", bytes(size)))
        #expect(source.isLong == isLong)
        let reading = SequenceFeed.reading({ WatchedSequence([]) }, { ByteBuffer(bytes: $0) })
        #expect(BodySource.once(length: nil, reading).isLong)
    }

    @Test func `a missing file, a directory and a special file are rejected immediately`() throws {
        func failure(_ path: String) -> HTTPError? { #expect(throws: HTTPError.self) { try BodySource.file(path) } }
        let missing = try #require(failure(folder.path + "/none"))
        #expect(missing.code == .bodyUnavailable && missing.processing == .neverSent && missing.errno == ENOENT)
        #expect(missing.reason == "\(folder.path)/none can't be opened (No such file or directory, errno 2)")
        let directory = try #require(failure(folder.path))
        #expect(directory.errno == EISDIR)
        #expect(directory.reason.hasPrefix("\(folder.path) can't be sent: send the files in it"))
        #expect(mkfifo(folder.path + "/pipe", 0o600) == 0)
        #expect(failure(folder.path + "/pipe")?.reason.contains("is no regular file") == true)
        #expect(symlink("loop", folder.path + "/loop") == 0)
        #expect(failure(folder.path + "/loop")?.errno == ELOOP)
        try folder.write("file", "x")
        #expect(failure(folder.path + "/file\0.txt")?.errno == EINVAL)
        #expect(failure("")?.errno == ENOENT)
    }

    @Test(.enabled(if: geteuid() != 0, "root reads everything"))
    func `an unreadable file is rejected immediately`() throws {
        let path = try folder.write("file", "x")
        #expect(chmod(path, 0) == 0)
        let error = #expect(throws: HTTPError.self) { try BodySource.file(path) }
        #expect(error?.errno == EACCES)
    }

    @Test func `a file that has changed since its length was announced is not sent`() async throws {
        let path = try folder.write("file", "0123456789")
        let source = try BodySource.file(path)
        try folder.write("file", "012345678901")
        let error = await #expect(throws: HTTPError.self) { try await OpenedFeed(source) }
        #expect(error?.code == .bodyUnavailable)
        #expect(
            error?.reason == "\(path) changed while it was sent: 10 bytes were promised, and it has 12 now; send a copy"
        )
        #expect(unlink(path) == 0)
        #expect(await #expect(throws: HTTPError.self) { try await OpenedFeed(source) }?.errno == ENOENT)
    }

    /// Changes a file of three reads after the first one, and returns how many bytes of it were provided.
    private func read(_ change: (String) throws -> Void) async throws -> (count: Int, error: HTTPError?) {
        let path = try folder.write("file", bytes(700_000))
        let feed = try await OpenedFeed(.file(path))
        var count = try await feed.next()?.count ?? 0
        // The second read may be under way; the third is not.
        try change(path)
        let error = await #expect(throws: HTTPError.self) {
            while let piece = try await feed.next() { count += piece.count }
        }
        try await feed.close()
        return (count, error)
    }

    @Test func `a file that grows is never sent whole`() async throws {
        let (count, error) = try await read { path in try append("x", to: path) }
        #expect(count == 524_288)
        #expect(error?.reason.contains("700000 bytes were promised, and it has 700001 now") == true)
    }

    @Test func `a file that shrinks is never made longer`() async throws {
        let (count, error) = try await read { path in #expect(truncate(path, 600_000) == 0) }
        #expect(count == 524_288)
        #expect(error?.reason.contains("700000 bytes were promised, and it ended after 600000") == true)
    }

    @Test func `a file that is written to is never sent as a mix`() async throws {
        let (count, error) = try await read { path in
            let descriptor = open(path, O_WRONLY)
            #expect(write(descriptor, "x", 1) == 1)
            // A coarse clock may not have advanced since the file was made.
            var times = [timespec(tv_sec: 1, tv_nsec: 0), timespec(tv_sec: 1, tv_nsec: 0)]
            #expect(futimens(descriptor, &times) == 0)
            close(descriptor)
        }
        #expect(count == 524_288)
        #expect(error?.reason.contains("it was written to meanwhile") == true)
    }

    /// As where the file's server no longer replies.
    @Test func `a piece that is still being read fails when the feed is closed`() async throws {
        let source = try BodySource.file(folder.write("file", bytes(175_000)))
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let piece = loop.flatSubmit {
            do {
                let feed = try source.makeFeed(loop)
                defer { feed.close() }
                return feed.next()
            } catch {
                return loop.makeFailedFuture(error)
            }
        }
        await #expect(throws: CancellationError.self) { try await piece.get() }
    }

    @Test func `a file is closed once it is read or abandoned`() async throws {
        let path = try folder.write("file", bytes(175_000))
        let feed = try await OpenedFeed(.file(path))
        #expect(try openDescriptors(of: path) == 0)
        _ = try await feed.next()
        #expect(try openDescriptors(of: path) == 1)
        try await feed.close()
        // A read in progress retains it a little longer.
        while try openDescriptors(of: path) > 0 { try await Task.sleep(for: .milliseconds(1)) }
    }

    private func append(_ text: String, to path: String) throws {
        let descriptor = open(path, O_WRONLY | O_APPEND)
        #expect(write(descriptor, text, text.utf8.count) == text.utf8.count)
        close(descriptor)
    }

    private func openDescriptors(of path: String) throws -> Int {
        let folder = try #require(opendir("/proc/self/fd"))
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            var target = [CChar](repeating: 0, count: 4_096)
            let length = readlink("/proc/self/fd/\(name)", &target, target.count)
            let bytes = target.prefix(max(0, length)).map { UInt8(bitPattern: $0) }
            if String(decoding: bytes, as: UTF8.self) == path { count += 1 }
        }
        return count
    }
}
