import Glibc
import HTTPLab
import Locking
import NetworkLab
import Testing

@testable import NetworkClient

/// Files whose path is chosen from the head of the response, and requests that become downloads.
@Suite(.timeLimit(.minutes(5)))
struct ChosenDestinationTests {
    private static let entity = DownloadLab.entity(300_000)

    /// A server that always sends the entity, with fields.
    private static func server(_ fields: String..., status: String = "200 OK") throws -> ScriptedServer {
        try ScriptedServer(always: [
            .forever([.respond { _ in PartServer(entity, fields: fields).respond(status, [], entity) }])
        ])
    }

    @Test func `a closure chooses the file by the head and the suggested name`() async throws {
        let lab = try DownloadLab()
        let server = try Self.server(
            #"Content-Disposition: attachment; filename="x"; filename*=UTF-8''..%2F%C3%A4.bin"#,
            "X-Kind: a"
        )
        let request = try DownloadLab.session(server).download("reports/latest") { head, name in
            "\(lab.folder.path)/\(head.headerFields.count { $0.name.rawName == "X-Kind" })-\(name)"
        }
        let response = try await request.response()
        #expect(response.file == .init(path: "\(lab.folder.path)/1-ä.bin", size: 300_000, resumedFrom: 0))
        #expect(response.suggestedFileName == "ä.bin")
        #expect(lab.bytes("\(lab.folder.path)/1-ä.bin") == Self.entity)
        #expect(lab.names == ["1-ä.bin"])
    }

    @Test func `a download with any method sends its body and parameters`() async throws {
        let lab = try DownloadLab()
        let server = try Self.server(status: "201 Created")
        let session = try DownloadLab.session(server)
        let chosen = session.download("export?a=1", method: .post, parameters: ["q": "x"]) { _, name in
            "\(lab.folder.path)/\(name)"
        }
        #expect(try await chosen.response().status == 201)
        let path = session.download("export", to: lab.path, method: .put, body: .text("?"))
        #expect(try await path.response().file.size == 300_000)
        let requests = server.requests
        #expect(
            requests.map { $0.head.prefix { $0 != "\r\n" } } == ["POST /export?a=1 HTTP/1.1", "PUT /export HTTP/1.1"]
        )
        #expect(requests.map { String(decoding: $0.body, as: UTF8.self) } == ["q=x", "?"])
        #expect(requests.allSatisfy { $0.field("Range") == nil })
        #expect(lab.names == ["export", "file"])
        #expect(lab.file == Self.entity)
    }

    @Test func `an error of the closure fails the request, and leaves no file`() async throws {
        struct NoRoom: Error {}
        let (lab, server) = (try DownloadLab(), try Self.server())
        let session = try DownloadLab.session(server)
        let error = await #expect(throws: HTTPError.self) {
            try await session.download("x") { _, _ in throw NoRoom() }.response()
        }
        #expect(error?.code == .fileFailed && error?.processing == .answered && error?.cause is NoRoom)
        try lab.folder.write("x", "old")
        let existing = await #expect(throws: HTTPError.self) {
            try await session.download("x", options: .init(existingFile: .refuse)) { _, name in
                "\(lab.folder.path)/\(name)"
            }
            .response()
        }
        #expect(existing?.code == .fileFailed && existing?.errno == EEXIST)
        #expect(mkfifo("\(lab.folder.path)/pipe", 0o600) == 0)
        let device = await #expect(throws: HTTPError.self) {
            try await session.download("pipe") { _, name in "\(lab.folder.path)/\(name)" }.response()
        }
        #expect(device?.code == .fileFailed && device?.errno == EINVAL)
        #expect(lab.names == ["pipe", "x"])
        #expect(lab.bytes("\(lab.folder.path)/x") == Array("old".utf8))
    }

    @Test func `an interrupted download continues in the file that was chosen first`() async throws {
        let lab = try DownloadLab()
        let server = try PartServer(Self.entity, cut: 100_000).serve()
        let retry = RetryPolicy(maximumAttempts: 9, baseDelay: .milliseconds(1))
        let monitor = Offsets()
        let session = try DownloadLab.session(server, retry: retry, monitors: [monitor])
        let counter = Counter()
        let request = session.download("data") { _, name in "\(lab.folder.path)/\(counter.next())-\(name)" }
        let file = try await request.response().file
        #expect(file.size == 300_000 && file.resumedFrom == 200_000)
        #expect(lab.names == ["1-data"])
        #expect(lab.bytes("\(lab.folder.path)/1-data") == Self.entity)
        #expect(monitor.offsets == [100_000, 200_000])
        #expect(monitor.totals == [300_000, 300_000])
    }

    @Test func `a status other than 2xx chooses no file`() async throws {
        let server = try Self.server(status: "404 Not Found")
        let error = await #expect(throws: HTTPError.self) {
            try await DownloadLab.session(server).download("x") { _, _ in "/nonexistent/x" }.response()
        }
        #expect(error?.code == .unacceptableStatus && error?.body == Self.entity)
    }

    @Test func `a data request becomes a download if its head says so`() async throws {
        let lab = try DownloadLab()
        let server = try ScriptedServer(always: [
            .forever([
                .respond { request in
                    request.head.hasPrefix("GET /large")
                        ? PartServer(Self.entity).whole() : [.response("small", status: "200 OK")]
                }
            ])
        ])
        let options = RequestOptions(becomesDownload: { head, name in
            let length = head.headerFields[.contentLength].flatMap { Int($0) } ?? 0
            return length > 1_000 ? "\(lab.folder.path)/\(name)" : nil
        })
        let session = try DownloadLab.session(server)
        let large = try await session.get("large.bin", options: options).response()
        #expect(large.file == .init(path: "\(lab.folder.path)/large.bin", size: 300_000, resumedFrom: 0))
        #expect(large.bytes.isEmpty)
        #expect(lab.names == ["large.bin"])
        #expect(lab.bytes("\(lab.folder.path)/large.bin") == Self.entity)
        let small = try await session.get("small", options: options).response()
        #expect(small.file == nil)
        #expect(small.bytes == Array("small".utf8))
    }

    @Test func `a stream becomes a download`() async throws {
        let (lab, server) = (try DownloadLab(), try Self.server("Content-Disposition: attachment; filename=a.bin"))
        let session = try DownloadLab.session(server)
        let response = try await session.stream(.get, "x").response()
        #expect(response.suggestedFileName == "a.bin")
        #expect(response.url == "http://127.0.0.1:\(server.port)/x")
        let path = "\(lab.folder.path)/\(response.suggestedFileName)"
        let file = try await response.body.save(to: .file(path))
        #expect(file == .init(path: path, size: 300_000, resumedFrom: 0))
        #expect(lab.bytes(path) == Self.entity)
        let again = try await session.stream(.get, "x").response()
        let error = await #expect(throws: HTTPError.self) {
            try await again.body.save(to: .file(path, existing: .refuse))
        }
        #expect(error?.errno == EEXIST)
        #expect(lab.names == ["a.bin"])
    }

    @Test(arguments: [false, true])
    func `cancelling ends a stream into a pipe that nobody opens or reads`(isOpen: Bool) async throws {
        let (lab, server) = (try DownloadLab(), try Self.server())
        let response = try await DownloadLab.session(server).stream(.get, "x").response()
        let path = "\(lab.folder.path)/pipe"
        #expect(mkfifo(path, 0o600) == 0)
        let reader = isOpen ? open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC) : -1
        defer { close(reader) }
        let saving = Task { try await response.body.save(to: .file(path)) }
        // Nothing announces that it waits; where it does not yet, it ends as well.
        try await Task.sleep(for: .milliseconds(100))
        saving.cancel()
        let error = await #expect(throws: HTTPError.self) { try await saving.value }
        #expect(error?.code == .cancelled)
        _ = try await server.waitForEnds()
    }

    @Test func `a stream that breaks off leaves no file`() async throws {
        let lab = try DownloadLab()
        let server = try PartServer(Self.entity, cut: 100_000).serve()
        let response = try await DownloadLab.session(server).stream(.get, "x").response()
        let error = await #expect(throws: HTTPError.self) { try await response.body.save(to: .file(lab.path)) }
        #expect(error?.code == .bodyTruncated)
        #expect(lab.names == [])
    }
}

/// Counts calls.
private final class Counter: Sendable {
    private let count = Lock(0)

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}

/// Records where downloads were continued.
private final class Offsets: EventMonitor {
    private let state = Lock<[(Int64, Int64?)]>([])

    var offsets: [Int64] { state.withLock { $0.map(\.0) } }
    var totals: [Int64?] { state.withLock { $0.map(\.1) } }

    func request(_ request: RequestHandle, did event: RequestEvent) {
        guard case .resumedDownload(let offset, let total) = event else { return }
        state.withLock { $0.append((offset, total)) }
    }
}
