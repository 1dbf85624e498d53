import FoundationEssentials
import Glibc
import HTTPLab
import NetworkClient
import NetworkLab
import Testing

/// The paths of downloaded files, and errors with them.
@Suite(.timeLimit(.minutes(5)))
struct DownloadFileTests {
    private static let entity = DownloadLab.entity(50_000)

    private static func download(
        _ lab: DownloadLab,
        to path: String? = nil,
        _ file: PartServer = .init(entity),
        _ options: DownloadOptions = .init()
    ) async throws -> DownloadedFile {
        let server = try file.serve()
        return try await DownloadLab.session(server).download("file", to: path ?? lab.path, options: options).response()
            .file
    }

    private static func failure(
        _ lab: DownloadLab,
        to path: String? = nil,
        _ options: DownloadOptions = .init()
    ) async throws -> HTTPError {
        let server = try PartServer(entity).serve()
        let request = try DownloadLab.session(server).download("file", to: path ?? lab.path, options: options)
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        // Unwritable files are reported before anything is sent.
        #expect(server.connections.isEmpty)
        #expect(error?.code == .fileFailed)
        #expect(error?.processing == .neverSent)
        return try #require(error)
    }

    @Test func `an existing file is replaced, and its permissions kept`() async throws {
        let lab = try DownloadLab()
        try lab.folder.write("file", "old")
        chmod(lab.path, 0o640)
        let old = open(lab.path, O_RDONLY)
        defer { close(old) }
        _ = try await Self.download(lab, .init(Self.entity), .init(isSynced: false))
        #expect(lab.file == Self.entity)
        #expect(try lab.attributes[.posixPermissions] as? Int == 0o640)
        // A descriptor of the old file still reads the old contents.
        var bytes = [UInt8](repeating: 0, count: 9)
        #expect(read(old, &bytes, 9) == 3)
    }

    @Test func `the part of a file that may only be read can be written by its owner, who continues it`() async throws {
        let lab = try DownloadLab()
        try lab.folder.write("file", "old")
        chmod(lab.path, 0o444)
        let server = try ScriptedServer(always: [
            .readRequest, .send("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 2\r\n\r\na"),
        ])
        let request = try DownloadLab.session(server).download("file", to: lab.path)
        await #expect(throws: HTTPError.self) { try await request.response() }
        let attributes = try FileManager.default.attributesOfItem(atPath: lab.path + ".part")
        #expect(attributes[.posixPermissions] as? Int == 0o644)
        _ = try await Self.download(lab)
        #expect(lab.file == Self.entity)
        #expect(try lab.attributes[.posixPermissions] as? Int == 0o444)
    }

    @Test func `an existing file can be kept`() async throws {
        let lab = try DownloadLab()
        try lab.folder.write("file", "old")
        let error = try await Self.failure(lab, .init(existingFile: .refuse))
        #expect(error.errno == EEXIST)
        #expect(lab.names == ["file"])
        #expect(lab.file == Array("old".utf8))
        unlink(lab.path)
        _ = try await Self.download(lab, .init(Self.entity), .init(existingFile: .refuse))
        #expect(lab.file == Self.entity)
        #expect(lab.names == ["file"])
    }

    @Test func `a file that is created meanwhile is kept too`() async throws {
        let lab = try DownloadLab()
        let latch = try ServerLatch()
        let server = try ScriptedServer(always: [
            .readRequest, .send("HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 2\r\n\r\na"), .await(latch),
            .send("b"), .hold,
        ])
        let options = DownloadOptions(existingFile: .refuse)
        let request = try DownloadLab.session(server).download("file", to: lab.path, options: options)
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        try lab.folder.write("file", "other")
        latch.open()
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.errno == EEXIST)
        #expect(error?.processing == .answered)
        #expect(lab.file == Array("other".utf8))
    }

    @Test func `the target of a link is replaced, and the link kept`() async throws {
        let lab = try DownloadLab()
        try lab.folder.write("there/real", "old")
        symlink("there/real", lab.path)
        _ = try await Self.download(lab)
        #expect(lab.bytes("\(lab.folder.path)/there/real") == Self.entity)
        #expect(try lab.attributes[.type] as? FileAttributeType == .typeSymbolicLink)
        #expect(lab.names == ["file", "there"])
    }

    @Test func `a dangling link is an error`() async throws {
        let lab = try DownloadLab()
        symlink("nowhere", lab.path)
        let error = try await Self.failure(lab)
        #expect(error.errno == ENOENT)
        #expect(error.reason.contains("remove the link"))
    }

    @Test func `directories, missing directories and invalid names are errors`() async throws {
        let lab = try DownloadLab()
        let long = String(repeating: "x", count: 252)
        for (path, number) in [
            (lab.folder.path, EISDIR), ("\(lab.path)/", EISDIR), ("\(lab.folder.path)/no/file", ENOENT),
            ("\(lab.folder.path)/\(long)", ENAMETOOLONG), ("", EINVAL), ("a\0b", EINVAL),
        ] {
            let error = try await Self.failure(lab, to: path)
            #expect(error.errno == number, "\(path.debugDescription): \(error)")
        }
        #expect(lab.names == [])
    }

    @Test(.enabled(if: geteuid() != 0 || access("/proc/self/fd", W_OK) != 0, "root writes everywhere"))
    func `a folder that can't be written is an error`() async throws {
        let error = try await Self.failure(try DownloadLab(), to: "/proc/self/fdinfo/file")
        #expect(error.errno != nil)
    }

    @Test func `a link at the part's path is not followed, and a special file not written`() async throws {
        let lab = try DownloadLab()
        try lab.folder.write("precious", "precious")
        symlink("precious", lab.part)
        #expect(try await Self.failure(lab).errno == ELOOP)
        unlink(lab.part)
        mkfifo(lab.part, 0o600)
        #expect(try await Self.failure(lab).errno == EEXIST)
        unlink(lab.part)
        link("\(lab.folder.path)/precious", lab.part)
        _ = try await Self.download(lab)
        #expect(lab.file == Self.entity)
        #expect(lab.bytes("\(lab.folder.path)/precious") == Array("precious".utf8))
    }

    @Test(
        arguments: [
            "", "nonsense", "netwatch download 2\nurl x\nkey y\netag \"v1\"\n",
            "netwatch download 1\nurl x\netag \"v1\"\n", "netwatch download 1\nkey y\nurl x\n\u{0}\n",
        ]
    )
    func `with an invalid record, the download starts over`(text: String) async throws {
        let lab = try DownloadLab()
        try lab.folder.write("file.part", "wrong")
        try lab.folder.write("file.part.info", text)
        let file = try await Self.download(lab)
        #expect(!file.isResumed)
        #expect(lab.file == Self.entity)
        #expect(lab.names == ["file"])
    }

    @Test func `the part of another URL, or one that is longer than its whole, is not continued`() async throws {
        let lab = try DownloadLab()
        let server = try PartServer(Self.entity).serve()
        let url = "http://127.0.0.1:\(server.port)/file"
        for (wrong, total) in [("\(url)?other", 50_000), (url, 3)] {
            try lab.leavePart([1, 2, 3, 4], of: wrong, [#"etag "v1""#, "total \(total)"])
            _ = try await DownloadLab.session(server).download("file", to: lab.path).response()
            #expect(lab.file == Self.entity)
        }
        #expect(server.requests.map(\.rangeStart) == [nil, nil])
    }

    @Test func `the part can be kept elsewhere`() async throws {
        let lab = try DownloadLab()
        let part = "\(lab.folder.path)/elsewhere"
        let server = try PartServer(Self.entity, cut: 10_000).serve()
        let options = DownloadOptions(partPath: part)
        let retry = RetryPolicy(maximumAttempts: 9, baseDelay: .milliseconds(1))
        let session = try DownloadLab.session(server, retry: retry)
        try lab.folder.write("file.part", "another's")
        _ = try await session.download("file", to: lab.path, options: options).response()
        #expect(lab.file == Self.entity)
        #expect(lab.names == ["file", "file.part"])
    }

    @Test func `two downloads of one file: the second one fails, and the first one does not`() async throws {
        let lab = try DownloadLab()
        let latch = try ServerLatch()
        let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 50000\r\n\r\n"
        let server = try ScriptedServer(always: [
            .readRequest, .send(head), .await(latch), .sendBytes(Self.entity), .readToEnd,
        ])
        let first = try DownloadLab.session(server).download("file", to: lab.path)
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        let error = try await Self.failure(lab)
        #expect(error.errno == EWOULDBLOCK)
        #expect(error.reason.contains("another download"))
        latch.open()
        _ = try await first.response()
        #expect(lab.file == Self.entity)
    }

    @Test func `a download can begin as soon as another one of the file was cancelled`() async throws {
        let lab = try DownloadLab()
        let server = try PartServer(Self.entity).serve()
        let session = try DownloadLab.session(server)
        for _ in 0..<50 {
            let request = session.download("file", to: lab.path, options: .init(request: .init(startsAtOnce: false)))
            let events = request.events
            request.resume()
            for await event in events {
                if case .head = event { request.cancel() }
            }
        }
        _ = try await session.download("file", to: lab.path).response()
        #expect(lab.file == Self.entity)
    }

    @Test func `a full disk is reported, and the received part is kept`() async {
        await #expect(processExitsWith: .success) {
            let lab = try DownloadLab()
            let entity = DownloadLab.entity(3_000_000)
            let server = try PartServer(entity).serve()
            var limit = rlimit(rlim_cur: 1_000_000, rlim_max: 4_000_000)
            signal(SIGXFSZ, SIG_IGN)
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            let session = try DownloadLab.session(server)
            let request = session.download("file", to: lab.path)
            let error = await #expect(throws: HTTPError.self) { try await request.response() }
            #expect(error?.code == .fileFailed)
            #expect(error?.errno == EFBIG)
            #expect(error?.processing == .answered)
            #expect(lab.file == nil)
            limit.rlim_cur = 4_000_000
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
            #expect(try await session.download("file", to: lab.path).response().file.resumedFrom == 1_000_000)
            #expect(lab.file == entity)
        }
    }
}
