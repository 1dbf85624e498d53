import Glibc
import HTTPLab
import NetworkClient
import Testing

/// Servers that send other ranges than requested.
@Suite(.timeLimit(.minutes(5)))
struct LyingServerTests {
    private static let entity = DownloadLab.entity(200_000)
    private static let file = PartServer(entity)

    /// A response to a request from byte 100,000 on.
    struct Lie: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let lines: [String]
        var tag: String?
        /// Whether the response has no validator.
        var hasNoTag = false
        var body = Array(entity[100_000...])

        static let all = [
            Lie(testDescription: "another first byte", lines: ["Content-Range: bytes 100001-199999/200000"]),
            Lie(
                testDescription: "the whole as a part",
                lines: ["Content-Range: bytes 0-199999/200000"],
                body: entity
            ),
            Lie(testDescription: "another length", lines: ["Content-Range: bytes 100000-199999/200001"]),
            Lie(testDescription: "garbage", lines: ["Content-Range: some of it"]),
            Lie(testDescription: "another unit", lines: ["Content-Range: lines 100000-199999/200000"]),
            Lie(testDescription: "no Content-Range", lines: []),
            Lie(
                testDescription: "two of them",
                lines: ["Content-Range: bytes 100000-199999/200000", "Content-Range: bytes 0-9/200000"]
            ),
            Lie(
                testDescription: "several parts",
                lines: ["Content-Type: multipart/byteranges; boundary=x", "Content-Range: bytes 100000-199999/200000"]
            ),
            Lie(
                testDescription: "another version",
                lines: ["Content-Range: bytes 100000-199999/200000"],
                tag: #""v2""#
            ),
            Lie(
                testDescription: "a weak version",
                lines: ["Content-Range: bytes 100000-199999/200000"],
                tag: #"W/"v1""#
            ),
            Lie(
                testDescription: "no version",
                lines: ["Content-Range: bytes 100000-199999/200000"],
                hasNoTag: true,
                body: [UInt8](repeating: 7, count: 100_000)
            ),
            Lie(
                testDescription: "a longer body",
                lines: ["Content-Range: bytes 100000-199999/200000"],
                body: Array(entity[50_000...])
            ),
            Lie(
                testDescription: "compressed",
                lines: ["Content-Range: bytes 100000-199999/200000", "Content-Encoding: gzip"]
            ),
        ]
    }

    @Test(arguments: Lie.all)
    func `after a wrong range, the whole file is requested`(lie: Lie) async throws {
        let lab = try DownloadLab()
        let server = try ScriptedServer(always: [
            .forever([
                .respond { request in
                    guard request.rangeStart != nil else { return Self.file.whole() }
                    let file = lie.hasNoTag ? PartServer(Self.entity, tag: nil) : Self.file
                    return file.respond("206 Partial Content", lie.lines, lie.body, tag: lie.tag)
                }
            ])
        ])
        let url = "http://127.0.0.1:\(server.port)/file"
        try lab.leavePart(Array(Self.entity.prefix(100_000)), of: url, [#"etag "v1""#, "total 200000"])
        let file = try await DownloadLab.session(server).download("file", to: lab.path).response().file
        #expect(!file.isResumed)
        #expect(lab.file == Self.entity)
        #expect(lab.names == ["file"])
        try await server.wait(for: "both requests") { $0.flatMap(\.requests).count == 2 }
        #expect(server.requests.map(\.rangeStart) == [100_000, nil])
    }

    @Test func `a wrong range whose body is cut off leads to one request for the whole file`() async throws {
        let lab = try DownloadLab()
        let cut = PartServer(Self.entity, cut: 5)
        let server = try ScriptedServer(always: [
            .forever([
                .respond { request in
                    guard request.rangeStart != nil else { return Self.file.whole() }
                    let range = "Content-Range: bytes 100001-100050/200000"
                    return cut.respond("206 Partial Content", [range], Array(Self.entity[100_001...100_050]))
                }
            ])
        ])
        let url = "http://127.0.0.1:\(server.port)/file"
        try lab.leavePart(Array(Self.entity.prefix(100_000)), of: url, [#"etag "v1""#, "total 200000"])
        let retry = RetryPolicy(maximumAttempts: 9, baseDelay: .milliseconds(1))
        let file = try await DownloadLab.session(server, retry: retry).download("file", to: lab.path).response().file
        #expect(!file.isResumed)
        #expect(lab.file == Self.entity)
        #expect(lab.names == ["file"])
        #expect(server.requests.map(\.rangeStart) == [100_000, nil])
    }

    @Test func `a large part that lies leaves nothing to the attempt that follows on another connection`() async throws
    {
        let lab = try DownloadLab()
        let latch = try ServerLatch()
        let lie = "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 5-9/10\r\nContent-Length: 100000000\r\n\r\n"
        let server = try ScriptedServer(always: [
            .readRequest, .await(latch), .response("warm"),
            .forever([.respond { $0.rangeStart == nil ? Self.file.whole() : [.send(lie), .readToEnd] }]),
        ])
        let session = try DownloadLab.session(server)
        let warm = [session.get("a"), session.get("b")]
        try await server.wait(for: "two connections") { $0.flatMap(\.requests).count == 2 }
        latch.open()
        for request in warm { #expect(try await request.string() == "warm") }
        let url = "http://127.0.0.1:\(server.port)/file"
        try lab.leavePart(Array(Self.entity.prefix(100_000)), of: url, [#"etag "v1""#, "total 200000"])
        #expect(try await session.download("file", to: lab.path).response().file.isResumed == false)
        #expect(lab.file == Self.entity)
        #expect(server.connections.count == 2)
    }

    @Test func `a range without a validator is not appended to a pipe`() async throws {
        let other = DownloadLab.entity(200_000, seed: 2)
        let server = try ScriptedServer { number in
            let file = number == 0 ? PartServer(Self.entity, cut: 1_000) : PartServer(other, tag: nil)
            return [.forever([.respond { $0.rangeStart.map { file.rest(from: $0) } ?? file.whole() }])]
        }
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        let retry = RetryPolicy(maximumAttempts: 9, baseDelay: .milliseconds(1))
        let request = try DownloadLab.session(server, retry: retry).download("", to: .descriptor(ends[1]))
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        close(ends[1])
        #expect(error?.code == .invalidResponse)
        #expect(error?.reason.contains("without its version") == true)
        var written = [UInt8](repeating: 0, count: 65_536)
        #expect(read(ends[0], &written, written.count) == 1_000)
        #expect(written.prefix(1_000).elementsEqual(Self.entity.prefix(1_000)))
        close(ends[0])
        #expect(server.requests.map(\.rangeStart) == [nil, 1_000])
    }

    @Test func `a server that never sends the whole file fails the download, without mixing versions`() async throws {
        let lab = try DownloadLab()
        let server = try ScriptedServer(always: [
            .forever([.respond { _ in Self.file.respond("206 Partial Content", [], [1, 2, 3]) }])
        ])
        let url = "http://127.0.0.1:\(server.port)/file"
        try lab.leavePart(Array(Self.entity.prefix(100_000)), of: url, [#"etag "v1""#, "total 200000"])
        let request = try DownloadLab.session(server).download("file", to: lab.path)
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .invalidResponse)
        #expect(error?.reason.contains("sent a part of the file (206) although the whole file was requested") == true)
        #expect(lab.file == nil)
    }

    @Test func `more bytes than announced are rejected`() async throws {
        let lab = try DownloadLab()
        let chunk = "Transfer-Encoding: chunked\r\nContent-Range: bytes 100000-199999/200000\r\nETag: \"v1\"\r\n\r\n"
        let body = Array("2ee00\r\n".utf8) + [UInt8](repeating: 1, count: 0x2ee00) + Array("\r\n0\r\n\r\n".utf8)
        let server = try ScriptedServer(always: [
            .readRequest, .sendBytes(Array("HTTP/1.1 206 Partial Content\r\n\(chunk)".utf8) + body), .readToEnd,
        ])
        let url = "http://127.0.0.1:\(server.port)/file"
        try lab.leavePart(Array(Self.entity.prefix(100_000)), of: url, [#"etag "v1""#, "total 200000"])
        let request = try DownloadLab.session(server).download("file", to: lab.path)
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .invalidResponse)
        let whole = try Self.file.serve()
        #expect(try await DownloadLab.session(whole).download("file", to: lab.path).response().file.isResumed == false)
        #expect(lab.file == Self.entity)
    }
}
