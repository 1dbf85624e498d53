import FoundationEssentials
import Glibc
import HTTPLab
import NetworkClient
import NetworkLab
import Testing

/// Parts of downloads: which are kept, with which permissions, and which are trusted.
@Suite(.timeLimit(.minutes(5)))
struct KeptPartTests {
    private static let entity = DownloadLab.entity(50_000)
    private static let lines = [#"etag "v1""#, "total 50000"]

    @Test func `a part is kept though its download is cancelled while it is being opened`() async throws {
        let lab = try DownloadLab()
        // However late the cancellation is, nothing of the file has been received.
        let server = try ScriptedServer(always: [.readRequest, .hold])
        let session = try DownloadLab.session(server)
        try lab.leavePart(Array(Self.entity.prefix(1_000)), of: "http://127.0.0.1:\(server.port)/file", Self.lines)
        for _ in 0..<30 {
            let request = session.download("file", to: lab.path)
            request.cancel()
            await #expect(throws: HTTPError.self) { try await request.response() }
        }
        #expect(lab.names == ["file.part", "file.part.info"])
        #expect(lab.bytes(lab.part) == Array(Self.entity.prefix(1_000)))
    }

    @Test(arguments: [false, true])
    func `the part of a private file is private from its beginning`(isContinuable: Bool) async throws {
        let lab = try DownloadLab()
        try lab.folder.write("file", "old")
        chmod(lab.path, 0o600)
        let latch = try ServerLatch()
        let head = "HTTP/1.1 200 OK\r\nETag: \"a\"\r\nContent-Length: 2\r\n\r\na"
        let server = try ScriptedServer(always: [.readRequest, .send(head), .await(latch), .send("b"), .readToEnd])
        let session = try DownloadLab.session(server)
        let request =
            isContinuable ? session.download("file", to: lab.path) : session.download("file", to: .file(lab.path))
        // It is opened before anything is sent.
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        let part = try #require(lab.names.first { $0.hasSuffix(".part") })
        #expect(try fileMode("\(lab.folder.path)/\(part)") & 0o777 == 0o600)
        latch.open()
        _ = try await request.response()
        #expect(try fileMode(lab.path) & 0o777 == 0o600)
        #expect(lab.names == ["file"])
    }

    /// Whether this process can change the owner of files.
    private static var canGiveFiles: Bool {
        guard let folder = try? LabFolder(), (try? folder.write("file", "")) != nil else { return false }
        return chown("\(folder.path)/file", 12_345, 12_345) == 0
    }

    @Test(.enabled(if: canGiveFiles, "only root can give files away"), arguments: [".part", ".part.info"])
    func `a part or record of another user is not continued`(ending: String) async throws {
        let lab = try DownloadLab()
        let server = try PartServer(Self.entity).serve()
        try lab.leavePart(Array(repeating: 0, count: 1_000), of: "http://127.0.0.1:\(server.port)/file", Self.lines)
        #expect(chown(lab.path + ending, 12_345, 12_345) == 0)
        let file = try await DownloadLab.session(server).download("file", to: lab.path).response().file
        #expect(!file.isResumed)
        #expect(lab.file == Self.entity)
        #expect(lab.names == ["file"])
        #expect(try lab.attributes[.ownerAccountID] as? Int == Int(geteuid()))
    }

    @Test func `a record that can't be put in its place leaves nothing`() async throws {
        let lab = try DownloadLab()
        mkdir(lab.record, 0o700)
        let server = try PartServer(Self.entity).serve()
        let request = try DownloadLab.session(server).download("file", to: lab.path)
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .fileFailed)
        #expect(!lab.names.contains("file.part.info.new"))
    }
}
