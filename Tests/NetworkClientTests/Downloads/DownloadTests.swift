import FoundationEssentials
import Glibc
import HTTPLab
import NetworkClient
import NetworkLab
import Testing

/// Downloads that are truncated and continued.
@Suite(.timeLimit(.minutes(5)))
struct DownloadTests {
    private static let entity = DownloadLab.entity(300_000)

    @Test func `a download stores the whole file, and leaves nothing else`() async throws {
        let (lab, server) = (try DownloadLab(), try PartServer(Self.entity).serve())
        let request = try DownloadLab.session(server).download("file?secret=1", to: lab.path)
        let response = try await request.response()
        #expect(response.status == 200)
        #expect(try await request.ending().get().bytes.isEmpty)
        #expect(response.file == (try await request.response().file))
        #expect(response.file.path == lab.path)
        #expect(response.file.size == 300_000)
        #expect(!response.file.isResumed)
        #expect(lab.file == Self.entity)
        #expect(lab.names == ["file"])
        #expect(server.requests[0].field("Accept-Encoding") == "identity")
        #expect(server.requests[0].field("Range") == nil)
    }

    @Test func `a truncated download is continued in another session`() async throws {
        let lab = try DownloadLab()
        let server = try ScriptedServer { number in
            let file = PartServer(Self.entity, cut: number == 0 ? 100_000 : nil)
            return [.forever([.respond { file.steps(for: $0) }])]
        }
        let first = try DownloadLab.session(server).download("file?secret=1", to: lab.path)
        let error = await #expect(throws: HTTPError.self) { try await first.response() }
        #expect(error?.code == .bodyTruncated)
        #expect(lab.file == nil)
        let file = try await DownloadLab.session(server).download("file?secret=1", to: lab.path).response().file
        #expect(file.resumedFrom == 100_000)
        #expect(file.size == 300_000)
        #expect(lab.file == Self.entity)
        #expect(lab.names == ["file"])
        #expect(server.requests.map(\.rangeStart) == [nil, 100_000])
        #expect(server.requests[1].field("If-Range") == #""v1""#)
    }

    /// Waits until this process has a file open, and returns a copy of its descriptor.
    private static func copyOfDescriptor(of path: String) async throws -> Int32 {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            let names = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")
            // The descriptors of other tests stay as they are.
            let name = names.first { target(of: $0) == path }
            if let number = name.flatMap(Int32.init) { return fcntl(number, F_DUPFD_CLOEXEC, 0) }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw LabError("wait for \(path)", errno: ETIMEDOUT)
    }

    /// What a descriptor of this process refers to.
    private static func target(of descriptor: String) -> String? {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    }

    /// As in a child process between fork(2) and execve(2).
    @Test func `a download is continued while the descriptor of its part has a copy`() async throws {
        let lab = try DownloadLab()
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\nETag: \"v1\"\r\n\r\n"
        let server = try ScriptedServer { number in
            if number == 0 { return [.readRequest, .send(head + "12345"), .hold] }
            return [.forever([.respond { PartServer(Self.entity).steps(for: $0) }])]
        }
        let first = try DownloadLab.session(server).download("file", to: lab.path)
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        let copy = try await Self.copyOfDescriptor(of: lab.part)
        defer { close(copy) }
        first.cancel()
        await #expect(throws: HTTPError.self) { try await first.response() }
        let file = try await DownloadLab.session(server).download("file", to: lab.path).response().file
        #expect(file.size == 300_000)
    }

    @Test func `the record of a part contains no secrets`() async throws {
        let (lab, server) = (try DownloadLab(), try PartServer(Self.entity, cut: 9).serve())
        let url = "http://u:p@127.0.0.1:\(server.port)/x?key=1"
        let request = try DownloadLab.session(server).download(url, to: lab.path)
        await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(lab.bytes(lab.part) == Array(Self.entity.prefix(9)))
        let record = String(decoding: try #require(lab.bytes(lab.record)), as: UTF8.self)
        #expect(record.contains("url http://127.0.0.1:\(server.port)/x\n"))
        #expect(record.contains("etag \"v1\"\ntotal 300000\n"))
        #expect(!record.contains("key=1") && !record.contains("u:p"))
    }

    @Test func `with a retry policy, one request continues by itself`() async throws {
        let lab = try DownloadLab()
        let server = try PartServer(Self.entity, cut: 70_000).serve()
        let retry = RetryPolicy(maximumAttempts: 9, baseDelay: .milliseconds(1))
        let request = try DownloadLab.session(server, retry: retry).download("file", to: lab.path)
        #expect(try await request.response().file.resumedFrom == 280_000)
        #expect(lab.file == Self.entity)
        #expect(server.requests.map(\.rangeStart) == [nil, 70_000, 140_000, 210_000, 280_000])
    }

    @Test func `without a strong validator, each attempt starts over`() async throws {
        for tag in [#"W/"v1""#, nil] {
            let lab = try DownloadLab()
            let server = try ScriptedServer { number in
                let file = PartServer(Self.entity, tag: tag, cut: number < 2 ? 100_000 : nil)
                return [.forever([.respond { file.steps(for: $0) }])]
            }
            let retry = RetryPolicy(maximumAttempts: 9, baseDelay: .milliseconds(1))
            let request = try DownloadLab.session(server, retry: retry).download("file", to: lab.path)
            #expect(try await request.response().file.isResumed == false)
            #expect(lab.file == Self.entity)
            #expect(server.requests.map(\.rangeStart) == [nil, nil, nil])
        }
    }

    @Test func `a part that can't be continued is removed`() async throws {
        let (lab, server) = (try DownloadLab(), try PartServer(Self.entity, tag: nil, cut: 100_000).serve())
        let request = try DownloadLab.session(server).download("file", to: lab.path)
        await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(lab.names == [])
    }

    @Test func `an old enough date is a validator`() async throws {
        let dates = ["Last-Modified: Fri, 20 Nov 2026 10:00:00 GMT", "Date: Fri, 20 Nov 2026 10:02:00 GMT"]
        let lab = try DownloadLab()
        let server = try ScriptedServer { number in
            let file = PartServer(Self.entity, tag: nil, fields: dates, cut: number == 0 ? 100_000 : nil)
            return [.forever([.respond { $0.rangeStart.map { file.rest(from: $0) } ?? file.whole() }])]
        }
        let session = try DownloadLab.session(server)
        await #expect(throws: HTTPError.self) { try await session.download("file", to: lab.path).response() }
        #expect(try await session.download("file", to: lab.path).response().file.resumedFrom == 100_000)
        #expect(lab.file == Self.entity)
        #expect(server.requests[1].field("If-Range") == "Fri, 20 Nov 2026 10:00:00 GMT")
    }

    @Test func `a changed file is downloaded completely`() async throws {
        let other = DownloadLab.entity(200_000, seed: 2)
        let lab = try DownloadLab()
        let server = try ScriptedServer { number in
            let file = number == 0 ? PartServer(Self.entity, cut: 100_000) : PartServer(other, tag: #""v2""#)
            return [.forever([.respond { file.steps(for: $0) }])]
        }
        let session = try DownloadLab.session(server)
        await #expect(throws: HTTPError.self) { try await session.download("file", to: lab.path).response() }
        let file = try await session.download("file", to: lab.path).response().file
        #expect(!file.isResumed)
        #expect(lab.file == other)
        #expect(server.requests.map(\.rangeStart) == [nil, 100_000])
    }

    @Test func `a server without range support sends the whole file`() async throws {
        let lab = try DownloadLab()
        let server = try ScriptedServer { number in
            let file = PartServer(Self.entity, cut: number == 0 ? 100_000 : nil)
            return [.forever([.respond { _ in file.whole() }])]
        }
        let session = try DownloadLab.session(server)
        await #expect(throws: HTTPError.self) { try await session.download("file", to: lab.path).response() }
        #expect(try await session.download("file", to: lab.path).response().file.isResumed == false)
        #expect(lab.file == Self.entity)
    }

    @Test func `a complete part is moved to its final path`() async throws {
        let (lab, server) = (try DownloadLab(), try PartServer(Self.entity).serve())
        let url = "http://127.0.0.1:\(server.port)/file"
        try lab.leavePart(Self.entity, of: url, [#"etag "v1""#, "total 300000"])
        let response = try await DownloadLab.session(server).download("file", to: lab.path).response()
        #expect(response.status == 416)
        #expect(response.file.resumedFrom == 300_000)
        #expect(lab.file == Self.entity)
        #expect(lab.names == ["file"])
    }

    @Test(.timeLimit(.minutes(5)), arguments: [false, true])
    func `a 416 for a file of another length starts over`(hasCache: Bool) async throws {
        let shorter = Array(Self.entity.prefix(200_000))
        let lab = try DownloadLab()
        // It ignores If-Range.
        let server = try ScriptedServer(always: [
            .forever([
                .respond { request in
                    let file = PartServer(shorter, tag: nil)
                    guard request.rangeStart != nil else { return file.whole() }
                    return file.respond("416 Range Not Satisfiable", ["Content-Range: bytes */200000"], [])
                }
            ])
        ])
        let url = "http://127.0.0.1:\(server.port)/file"
        try lab.leavePart(Self.entity, of: url, [#"etag "v1""#, "total 300000"])
        let session = try DownloadLab.session(server, cache: hasCache ? HTTPCache() : nil)
        let file = try await session.download("file", to: lab.path).response().file
        #expect(file.size == 200_000)
        #expect(lab.file == shorter)
        #expect(server.requests.map(\.rangeStart) == [300_000, nil])
    }

    @Test(arguments: [404, 500, 204])
    func `an unsuccessful response changes no file`(status: Int) async throws {
        let lab = try DownloadLab()
        let body = status == 204 ? "" : "sorry"
        let server = try ScriptedServer(always: [.readRequest, .response(body, status: "\(status) X")])
        let url = "http://127.0.0.1:\(server.port)/file"
        try lab.leavePart(Array(Self.entity.prefix(100)), of: url, [#"etag "v1""#, "total 300000"])
        try lab.folder.write("file", "old")
        let request = try DownloadLab.session(server).download("file", to: lab.path)
        let response = try await request.ending().get()
        #expect(response.status == status)
        #expect(response.file == nil)
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .unacceptableStatus)
        #expect(error?.body == Array(body.utf8))
        #expect(lab.file == Array("old".utf8))
        #expect(lab.bytes(lab.part) == Array(Self.entity.prefix(100)))
        #expect(server.requests.map(\.rangeStart) == [100])
    }

    @Test func `an unexpectedly compressed body is written decompressed`() async throws {
        let lab = try DownloadLab()
        let server = try ScriptedServer(always: [
            .forever([
                .respond { _ in
                    PartServer(compressed(Self.entity), fields: ["Content-Encoding: gzip"]).whole()
                }
            ])
        ])
        let file = try await DownloadLab.session(server).download("file", to: lab.path).response().file
        #expect(file.size == 300_000)
        #expect(lab.file == Self.entity)
    }

    @Test func `a custom transport's body is written to the file too`() async throws {
        let lab = try DownloadLab()
        let session = try HTTPSession(configuration: .init(transport: Halves(bytes: Self.entity)))
        let url = "http://nowhere.invalid/file"
        try lab.leavePart(Array(Self.entity.prefix(150_000)), of: url, [#"etag "v1""#, "total 300000"])
        #expect(try await session.download(url, to: lab.path).response().file.resumedFrom == 150_000)
        #expect(lab.file == Self.entity)
        let missing = session.download("http://nowhere.invalid/no", to: lab.path)
        #expect(try await missing.ending().get().status == 404)
    }

    @Test func `a Range field set by the user is rejected`() async throws {
        let (lab, server) = (try DownloadLab(), try PartServer(Self.entity).serve())
        let session = try DownloadLab.session(server)
        let request = session.download("file", to: lab.path, headers: [.range: "bytes=5-"])
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .invalidConfiguration)
        #expect(lab.names == [])
    }
}

/// Returns the second half of a file to a request for it.
private struct Halves: Transport {
    let bytes: [UInt8]

    func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard request.head.headerFields[.range] == "bytes=\(bytes.count / 2)-" else {
            return .init(head: .init(status: .notFound))
        }
        let range = "bytes \(bytes.count / 2)-\(bytes.count - 1)/\(bytes.count)"
        let fields: HTTPFields = [.contentRange: range, .eTag: #""v1""#]
        return .init(
            head: .init(status: .partialContent, headerFields: fields),
            body: Array(bytes[(bytes.count / 2)...])
        )
    }
}
