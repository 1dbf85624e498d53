import FoundationEssentials
import Glibc
import HTTPLab
import NetworkClient
import Testing

/// Forms that are written to files first.
@Suite(.timeLimit(.minutes(5)))
struct FormWritingTests {
    private let folder: LabFolder

    init() throws { folder = try LabFolder() }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    @Test func `the file is what is sent, as often as it takes`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .answer()])])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        let stream = MultipartStream.once(WatchedSequence([[1, 2], [3]]))
        let form: MultipartForm = [.text("x", name: "a"), .stream(stream, name: "b")]
        let path = folder.path + "/form"
        let body = try await form.write(to: path)
        #expect(try names == ["form"])
        _ = try await session.upload("a", from: body).response()
        _ = try await session.upload("a", from: body).response()
        let requests = server.connections.flatMap(\.requests)
        try #require(requests.count == 2)
        #expect(requests[0] == requests[1])
        #expect(try requests[0].body == Array(Data(contentsOf: URL(filePath: path))))
        let boundary = try #require(requests[0].head.split(separator: "boundary=").last?.prefix { $0 != "\r\n" })
        #expect(String(decoding: requests[0].body.prefix(boundary.utf8.count + 2), as: UTF8.self) == "--\(boundary)")
    }

    @Test func `a file that is there stays until the new one is whole`() async throws {
        let path = try folder.write("form", "before")
        let form: MultipartForm = [.stream(.once(WatchedSequence([[1]]), length: 2), name: "a")]
        let error = await #expect(throws: HTTPError.self) { try await form.write(to: path) }
        #expect(error?.code == .bodyUnavailable && error?.processing == .neverSent)
        #expect(try names == ["form"])
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("before".utf8))
        _ = try await MultipartForm().write(to: path)
        #expect(try Data(contentsOf: URL(filePath: path)).starts(with: Data("--netwatch-".utf8)))
    }

    @Test func `a file that can't be written is told with its path and why`() async throws {
        let path = folder.path + "/none/form"
        let error = await #expect(throws: HTTPError.self) { try await MultipartForm().write(to: path) }
        #expect(error?.code == .fileFailed && error?.errno == ENOENT)
        #expect(error?.reason == "\(path) can't be written (No such file or directory, errno 2)")
    }
}
