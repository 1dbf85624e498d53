import FoundationEssentials
import Glibc
import HTTPLab
import NetworkClient
import Testing

/// Forms that are written to files before they are sent.
@Suite(.timeLimit(.minutes(5)))
struct FormWritingTests {
    private let folder: LabFolder

    init() throws { folder = try LabFolder() }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() }
    }

    @Test func `the file is sent, any number of times`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response()])])
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

    @Test func `an existing file stays until the new one is complete`() async throws {
        let path = try folder.write("form", "before")
        let form: MultipartForm = [.stream(.once(WatchedSequence([[1]]), length: 2), name: "a")]
        let error = await #expect(throws: HTTPError.self) { try await form.write(to: path) }
        #expect(error?.code == .bodyUnavailable && error?.processing == .neverSent)
        #expect(try names == ["form"])
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("before".utf8))
        _ = try await MultipartForm().write(to: path)
        #expect(try Data(contentsOf: URL(filePath: path)).starts(with: Data("--netwatch-".utf8)))
    }

    @Test func `the error for an unwritable file names its path and the reason`() async throws {
        let path = folder.path + "/none/form"
        let error = await #expect(throws: HTTPError.self) { try await MultipartForm().write(to: path) }
        #expect(error?.code == .fileFailed && error?.errno == ENOENT)
        #expect(error?.reason == "can't write \(path): No such file or directory, errno 2: make the folder first")
    }

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func `a form written over a private file stays private, also while it is written`() async throws {
        let path = try folder.write("form", "before")
        chmod(path, 0o600)
        let parts = PausedSequence([1, 2])
        let form: MultipartForm = [.stream(.once(parts, length: 2), name: "a")]
        async let body = form.write(to: path)
        await parts.isAsked()
        for name in try names { #expect(try mode("\(folder.path)/\(name)") == 0o600) }
        parts.open()
        _ = try await body
        #expect(try mode(path) == 0o600)
        #expect(try Data(contentsOf: URL(filePath: path)).starts(with: Data("--netwatch-".utf8)))
        #expect(try names == ["form"])
    }

    @Test func `a task that is cancelled while a stream gives nothing ends, and leaves no file`() async throws {
        let path = try folder.write("form", "before")
        let parts = PausedSequence([1, 2])
        let form: MultipartForm = [.stream(.once(parts, length: 2), name: "a")]
        let task = Task { _ = try await form.write(to: path) }
        await parts.isAsked()
        task.cancel()
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try names == ["form"])
        #expect(try Data(contentsOf: URL(filePath: path)) == Data("before".utf8))
    }

    @Test func `a form written through a link replaces the target, and keeps the link`() async throws {
        let target = try folder.write("target", "before")
        let link = folder.path + "/link"
        try #require(symlink("target", link) == 0)
        let body = try await MultipartForm().write(to: link)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "target")
        #expect(try Data(contentsOf: URL(filePath: target)).starts(with: Data("--netwatch-".utf8)))
        let server = try ScriptedServer(always: [.readRequest, .response()])
        let session = try HTTPSession(baseURL: "http://127.0.0.1:\(server.port)/", configuration: .lasting)
        _ = try await session.upload("a", from: body).response()
        let sent = try #require(server.connections.first?.requests.first).body
        #expect(try sent == Array(Data(contentsOf: URL(filePath: target))))
    }

    @Test func `a form is not written to a device or a pipe`() async throws {
        let path = folder.path + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        let error = await #expect(throws: HTTPError.self) { try await MultipartForm().write(to: path) }
        #expect(error?.code == .fileFailed)
        #expect(error?.reason.contains(path) == true)
        #expect(try names == ["pipe"])
    }

    @Test func `a new file has the default permissions of the process`() async throws {
        let path = folder.path + "/form"
        let mask = umask(0o022)
        umask(mask)
        _ = try await MultipartForm().write(to: path)
        #expect(try mode(path) == 0o666 & ~Int(mask))
    }
}

/// A sequence that provides its bytes only after it is opened, and reports the first request.
private final class PausedSequence: AsyncSequence, Sendable {
    typealias Element = [UInt8]
    typealias Failure = Never

    private let bytes: [UInt8]
    private let asked = AsyncStream<Void>.makeStream()
    private let gate = AsyncStream<Void>.makeStream()

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Waits until the first piece is requested.
    func isAsked() async { for await _ in asked.stream { return } }

    /// Releases the pieces.
    func open() { gate.continuation.finish() }

    func makeAsyncIterator() -> Iterator { .init(sequence: self, rest: bytes[...]) }

    struct Iterator: AsyncIteratorProtocol {
        let sequence: PausedSequence
        var rest: ArraySlice<UInt8>

        mutating func next() async -> [UInt8]? {
            sequence.asked.continuation.yield()
            for await _ in sequence.gate.stream {}
            return rest.popFirst().map { [$0] }
        }
    }
}
