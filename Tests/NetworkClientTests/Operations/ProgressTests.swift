import Dispatch
import Foundation
import HTTPLab
import Locking
import NetworkClient
import NetworkClientFoundation
import Testing

/// The progress of bodies: as events, as a sequence, by closures and as objects of Foundation.
@Suite(.timeLimit(.minutes(5)))
struct ProgressTests {
    private let folder: LabFolder

    init() throws { folder = try LabFolder() }

    private static func session(_ server: ScriptedServer, _ monitor: Sendings? = nil) throws -> HTTPSession {
        try HTTPSession(
            baseURL: "http://127.0.0.1:\(server.port)/",
            configuration: .init(timeouts: .lasting, eventMonitors: monitor.map { [$0] } ?? [])
        )
    }

    private static let idle = RequestOptions(startsAtOnce: false)

    @Test func `large bodies report progress for every 256 KiB, or more often`() async throws {
        let server = try ScriptedServer(always: [.forever([.readHead, .discardBody, .response()])])
        let bytes = [UInt8](repeating: 7, count: 40 << 20)
        let path = try folder.write("file", bytes)
        var counts: [[Int]] = []
        for body in [RequestBody.bytes(bytes), .file(path)] {
            let monitor = Sendings()
            _ = try await Self.session(server, monitor).upload("x", from: body).response()
            counts.append(monitor.counts)
        }
        for counts in counts {
            #expect(counts == counts.sorted() && counts.count >= 160 && counts.last == 40 << 20)
        }
    }

    @Test func `a 100 MiB upload from memory reports progress at least 100 times`() async throws {
        let server = try ScriptedServer(always: [.readHead, .discardBody, .response()])
        let body = RequestBody.bytes([UInt8](repeating: 7, count: 100 << 20))
        let request = try Self.session(server).upload("x", from: body, options: Self.idle)
        let progress = request.progress
        request.resume()
        var values: [RequestProgress] = []
        for await value in progress { values.append(value) }
        #expect(values.count >= 100)
        #expect(values.allSatisfy { $0.toSend == 100 << 20 })
        #expect(values.map(\.sent) == values.map(\.sent).sorted() && values.last?.sent == 100 << 20)
        #expect(try await request.response().metrics.bodyBytesSent == 100 << 20)
    }

    @Test func `small and large bodies in memory arrive unchanged`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .response()])])
        let session = try Self.session(server)
        for count in [1, 262_143, 262_144, 262_145, 1_000_000] {
            let bytes = DownloadLab.entity(count)
            let response = try await session.post("x", body: .bytes(bytes)).response()
            #expect(response.metrics.bodyBytesSent == count)
            #expect(server.requests.last?.body == bytes)
            #expect(server.requests.last?.field("Content-Length") == "\(count)")
        }
    }

    @Test func `a resent body is counted from its beginning`() async throws {
        let server = try ScriptedServer(always: [
            .forever([
                .respond { request in
                    request.head.hasPrefix("PUT /a ")
                        ? [.send("HTTP/1.1 307 Temporary Redirect\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")]
                        : [.response()]
                }
            ])
        ])
        let path = try folder.write("file", [UInt8](repeating: 7, count: 1_000_000))
        let request = try Self.session(server).upload("a", from: .file(path), method: .put)
        #expect(try await request.response().metrics.bodyBytesSent == 1_000_000)
        var values: [RequestProgress] = []
        for await value in request.progress { values.append(value) }
        #expect(values == [.init(sent: 1_000_000, toSend: 1_000_000, received: 0, toReceive: 0)])
    }

    @Test func `after the end, the progress is the last value`() async throws {
        let lab = try DownloadLab()
        let server = try ScriptedServer(always: [.forever([.readRequest, .response("12345")])])
        let session = try Self.session(server)
        let request = session.post("x", body: .text("123"))
        _ = try await request.response()
        #expect(await request.last == .init(sent: 3, toSend: 3, received: 5, toReceive: 5))
        let download = session.download("x", to: lab.path)
        _ = try await download.response()
        #expect(await download.last == .init(received: 5, toReceive: 5))
        let invalid = session.get("http://no such host/")
        #expect(await invalid.last == .init())
    }

    @Test func `a closure gets each value in order on its queue, and the last one after the end`() async throws {
        let server = try ScriptedServer(always: [.forever([.readHead, .discardBody, .response("12345")])])
        let session = try Self.session(server)
        let queue = DispatchQueue(label: "progress")
        let request = session.post("x", body: .bytes([UInt8](repeating: 7, count: 1 << 20)), options: Self.idle)
        let values = await withCheckedContinuation { continuation in
            let values = Lock<[RequestProgress]>([])
            request.onProgress(on: queue) { value in
                dispatchPrecondition(condition: .onQueue(queue))
                values.withLock { $0.append(value) }
                if value.received == 5 { continuation.resume(returning: values.withLock { $0 }) }
            }
            .resume()
        }
        #expect(values.map(\.sent) == [1, 2, 3, 4, 4].map { $0 << 18 })
        #expect(values.last == .init(sent: 1 << 20, toSend: 1 << 20, received: 5, toReceive: 5))
        let last = await withCheckedContinuation { continuation in
            request.onProgress { continuation.resume(returning: $0) }
        }
        #expect(last == values.last)
    }

    // MARK: Foundation

    @Test func `the progress of Foundation follows both bodies, and completes its parent`() async throws {
        let server = try ScriptedServer(always: [.readRequest, .response("12345")])
        let request = try Self.session(server).post("x", body: .text("123"), options: Self.idle)
        let parent = Progress(totalUnitCount: 2)
        let (up, down) = (request.uploadProgress(), request.downloadProgress())
        parent.addChild(up, withPendingUnitCount: 1)
        parent.addChild(down, withPendingUnitCount: 1)
        #expect(up.isIndeterminate && down.isIndeterminate)
        request.resume()
        _ = try await request.response()
        while !parent.isFinished { try await Task.sleep(for: .milliseconds(5)) }
        #expect(up.completedUnitCount == 3 && up.totalUnitCount == 3)
        #expect(down.completedUnitCount == 5 && down.totalUnitCount == 5)
        #expect(parent.fractionCompleted == 1)
    }

    @Test func `cancelling, pausing and resuming a parent does the same to the request`() async throws {
        let server = try ScriptedServer(always: [.forever([.readRequest, .hold])])
        let session = try Self.session(server)
        let request = session.get("x", options: Self.idle)
        let parent = Progress(totalUnitCount: 1)
        parent.addChild(request.downloadProgress(), withPendingUnitCount: 1)
        parent.pause()
        while request.state != .paused { try await Task.sleep(for: .milliseconds(5)) }
        parent.resume()
        try await server.wait(for: "the request") { $0.first?.requests.count == 1 }
        parent.cancel()
        let error = await #expect(throws: HTTPError.self) { try await request.response() }
        #expect(error?.code == .cancelled)
    }
}

extension RequestHandle {
    /// The only progress value of a finished request.
    fileprivate var last: RequestProgress? {
        get async {
            var values: [RequestProgress] = []
            for await value in progress { values.append(value) }
            return values.count == 1 ? values[0] : nil
        }
    }
}

/// Records how much of a body was passed to the connection.
private final class Sendings: EventMonitor {
    private let state = Lock<[Int]>([])

    var counts: [Int] { state.withLock { $0 } }

    func request(_ request: RequestHandle, did event: RequestEvent) {
        guard case .sending(let count, _) = event else { return }
        state.withLock { $0.append(count) }
    }
}
