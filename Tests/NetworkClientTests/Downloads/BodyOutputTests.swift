import Glibc
import HTTPLab
import NetworkClient
import NetworkLab
import Testing

/// Responses that are written to a file or a descriptor.
@Suite(.timeLimit(.minutes(5)))
struct BodyOutputTests {
    private static let entity = DownloadLab.entity(300_000)

    @Test func `the response to a POST is written to a file`() async throws {
        let lab = try DownloadLab()
        let server = try ScriptedServer(always: [
            .forever([.respond { _ in PartServer(Self.entity).respond("201 Created", [], Self.entity) }])
        ])
        let request = try DownloadLab.session(server)
            .download("", to: .file(lab.path), method: .post, body: .text("?"))
        let response = try await request.response()
        #expect(response.status == 201)
        #expect(response.file.size == 300_000)
        #expect(lab.file == Self.entity)
        #expect(lab.names == ["file"])
    }

    @Test func `a truncated response leaves no file`() async throws {
        let lab = try DownloadLab()
        let server = try PartServer(Self.entity, cut: 100_000).serve()
        let session = try DownloadLab.session(server)
        let request = session.download("", to: .file(lab.path))
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .bodyTruncated)
        #expect(lab.names == [])
    }

    @Test func `the response to HEAD is not a file`() async throws {
        let lab = try DownloadLab()
        let server = try ScriptedServer(always: [
            .readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"), .hold,
        ])
        let request = try DownloadLab.session(server).download("", to: .file(lab.path), method: .head)
        #expect(try await request.ending().get().file == nil)
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .unacceptableStatus)
        #expect(lab.names == [])
    }

    /// Fields of a 204, which has no body whatever they say (RFC 9112, 6.3).
    static let fieldsOfNoBody = ["Content-Length: 5", "Content-Length: 99999999999999", "Content-Encoding: br"]

    @Test(arguments: fieldsOfNoBody, [false, true])
    func `a 204 has no body, regardless of its fields`(field: String, isPost: Bool) async throws {
        let (lab, file) = (try DownloadLab(), try DownloadLab())
        let server = try ScriptedServer(always: [
            .forever([.readRequest, .send("HTTP/1.1 204 No Content\r\n\(field)\r\n\r\n")])
        ])
        let session = try DownloadLab.session(server)
        let method: HTTPRequest.Method = isPost ? .post : .get
        let response = try await session.download("", to: .file(lab.path), method: method).response()
        #expect(response.status == 204)
        #expect(response.file.size == 0)
        #expect(lab.file == [])
        let descriptor = open(file.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let written = try await session.download("", to: .descriptor(descriptor), method: method).response()
        #expect(written.status == 204)
        #expect(file.file == [])
        #expect(try await session.request(method, "").response().bytes.isEmpty)
        #expect(server.connections.count == 1)
    }

    @Test func `a truncated response is continued on a descriptor`() async throws {
        let lab = try DownloadLab()
        let server = try PartServer(Self.entity, cut: 100_000).serve()
        let retry = RetryPolicy(maximumAttempts: 9, baseDelay: .milliseconds(1))
        let session = try DownloadLab.session(server, retry: retry)
        let descriptor = open(lab.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let file = try await session.download("", to: .descriptor(descriptor)).response().file
        #expect(file.path == nil)
        #expect(file.resumedFrom == 200_000)
        #expect(lab.file == Self.entity)
    }

    @Test func `bytes that were written to a descriptor are not written twice`() async throws {
        let lab = try DownloadLab()
        let server = try PartServer(Self.entity, tag: nil, cut: 100_000).serve()
        let retry = RetryPolicy(maximumAttempts: 9, baseDelay: .milliseconds(1))
        let session = try DownloadLab.session(server, retry: retry)
        let descriptor = open(lab.path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(descriptor) }
        let request = session.download("", to: .descriptor(descriptor))
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .bodyTruncated)
        #expect(server.requests.count == 1)
    }

    @Test func `a pipe without a reader is an error, and raises no signal`() async throws {
        let server = try PartServer(DownloadLab.entity(3_000_000)).serve()
        let lab = try DownloadLab()
        let pipe = lab.path + ".pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        // No process that another test starts keeps the reader open.
        let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        let writer = open(pipe, O_WRONLY | O_CLOEXEC)
        close(reader)
        let request = try DownloadLab.session(server).download("", to: .descriptor(writer))
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        close(writer)
        #expect(error?.code == .fileFailed)
        #expect(error?.errno == EPIPE)
    }

    @Test func `a device is written in place`() async throws {
        let server = try PartServer(Self.entity).serve()
        let session = try DownloadLab.session(server)
        #expect(try await session.download("file", to: "/dev/null").response().file.size == 300_000)
        let full = session.download("file", to: "/dev/full")
        let error = await #expect(throws: HTTPError.self) { try await full.response() }
        #expect(error?.errno == ENOSPC)
        #expect(error?.reason.contains("make room") == true)
        let closed = session.download("", to: .descriptor(-1))
        let refused = await #expect(throws: HTTPError.self) { try await closed.response() }
        #expect(refused?.errno == EBADF)
        #expect(refused?.processing == .neverSent)
    }

    @Test func `a link to a pipe is written in place`() async throws {
        let lab = try DownloadLab()
        let server = try PartServer(DownloadLab.entity(3_000)).serve()
        let session = try DownloadLab.session(server)
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        symlink("/proc/self/fd/\(ends[1])", lab.path)
        for path in ["/dev/fd/\(ends[1])", "/proc/self/fd/\(ends[1])", lab.path] {
            #expect(try await session.download("file", to: path).response().file.size == 3_000)
            _ = try await session.download("", to: .file(path)).response()
            var bytes = [UInt8](repeating: 0, count: 6_000)
            #expect(read(ends[0], &bytes, bytes.count) == 6_000)
        }
        for end in ends { close(end) }
        #expect(lab.names == ["file"])
    }

    @Test func `a slow reader applies back-pressure to the server`() async throws {
        let entity = DownloadLab.entity(20_000_000)
        let server = try ScriptedServer(always: [
            .readRequest, .send("HTTP/1.1 200 OK\r\nContent-Length: 20000000\r\n\r\n"), .sendBytes(entity), .readToEnd,
        ])
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        let request = try DownloadLab.session(server).download("", to: .descriptor(ends[1]))
        let reading = ends[0]
        let bytes: [UInt8] = try await withCheckedThrowingContinuation { continuation in
            do {
                _ = try LabThread {
                    var bytes: [UInt8] = []
                    var buffer = [UInt8](repeating: 0, count: 65_536)
                    while bytes.count < 20_000_000 {
                        let count = read(reading, &buffer, buffer.count)
                        guard count > 0 else { break }
                        bytes += buffer.prefix(count)
                    }
                    continuation.resume(returning: bytes)
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(bytes == entity)
        #expect(try await request.response().file.size == 20_000_000)
        for end in ends { close(end) }
    }
}
