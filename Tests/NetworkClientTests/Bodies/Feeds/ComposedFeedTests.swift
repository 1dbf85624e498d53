import HTTPLab
import HTTPSerialization
import NIOCore
import Testing

@testable import NetworkClient

/// Forms, bytes and throttled bodies, piece by piece.
@Suite(.timeLimit(.minutes(5)))
struct ComposedFeedTests {
    private let folder: LabFolder

    init() throws { folder = try LabFolder() }

    private func source(_ form: MultipartForm) throws -> BodySource {
        try .form(form.encoded(boundary: "B"), isReplayable: form.isReplayable)
    }

    private func part(_ name: String, _ contents: String) -> String {
        "--B\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n\r\n\(contents)\r\n"
    }

    @Test func `a form is provided in order with its announced length, each time`() async throws {
        let file = MultipartPart.file(try folder.write("a.txt", "file"), name: "b")
        let stream = MultipartStream.replayable(length: 6) { WatchedSequence([Array("str".utf8), Array("eam".utf8)]) }
        let empty = MultipartPart.file(try folder.write("empty", ""), name: "e")
        let form: MultipartForm = [.text("text", name: "a"), file, .stream(stream, name: "c"), empty]
        let source = try self.source(form)
        let head = { (name: String, file: String, type: String) in
            "--B\r\nContent-Disposition: form-data; name=\"\(name)\"; filename=\"\(file)\"\r\nContent-Type: \(type)\r\n\r\n"
        }
        let expected = [
            part("a", "text"), head("b", "a.txt", "text/plain"), "file\r\n", part("c", "stream"),
            head("e", "empty", "application/octet-stream"), "\r\n--B--\r\n",
        ]
        .joined()
        #expect(source.length == Int64(expected.utf8.count))
        for _ in 1...2 {
            let given = try await OpenedFeed.pieces(of: source).flatMap(\.self)
            #expect(String(decoding: given, as: UTF8.self) == expected)
        }
    }

    @Test func `a part is opened when the previous one has ended`() async throws {
        let second = WatchedSequence([[50]])
        let form: MultipartForm = [
            .stream(.once(WatchedSequence([[49]])), name: "a"), .stream(.once(second), name: "b"),
        ]
        let source = try self.source(form)
        #expect(source.length == nil && !source.isReplayable)
        let feed = try await OpenedFeed(source)
        _ = try await feed.next()
        #expect(try await feed.next() == [49])
        #expect(second.asked.value == 0)
        _ = try await feed.next()
        #expect(second.asked.value == 0)
        #expect(try await feed.next() == [50])
        try await feed.close()
        let error = await #expect(throws: HTTPError.self) { try await OpenedFeed(source) }
        #expect(error?.code == .bodyNotReplayable)
    }

    @Test func `a form with a missing file is rejected immediately, and one with a changed file sends nothing`()
        async throws
    {
        let path = try folder.write("a", "a")
        let form: MultipartForm = [.text("x", name: "x"), .file(path, name: "a"), .file(folder.path + "/b", name: "b")]
        let missing = #expect(throws: HTTPError.self) { try self.source(form) }
        #expect(missing?.reason.hasPrefix("\(folder.path)/b can't be opened") == true)
        try folder.write("b", "b")
        let source = try self.source(form)
        try folder.write("b", "bb")
        let changed = await #expect(throws: HTTPError.self) { try await OpenedFeed(source) }
        #expect(changed?.reason.hasPrefix("\(folder.path)/b changed") == true)
    }

    @Test func `a stream with a wrong length fails the form`() async throws {
        let form: MultipartForm = [.stream(.once(WatchedSequence([[1]]), length: 2), name: "a"), .text("x", name: "x")]
        let source = try self.source(form)
        let error = await #expect(throws: HTTPError.self) { try await OpenedFeed.pieces(of: source) }
        #expect(error?.code == .bodyUnavailable)
    }

    @Test(arguments: [0, 1, 262_144, 262_145])
    func `bytes are provided in pieces`(count: Int) async throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let pieces = try await OpenedFeed.pieces(of: .bytes(bytes))
        #expect(pieces.flatMap(\.self) == bytes)
        #expect(pieces.allSatisfy { !$0.isEmpty && $0.count <= 262_144 })
    }

    @Test func `a throttled body is sent in packets, with a pause after each`() async throws {
        let bytes = (0..<1_000).map { UInt8(truncatingIfNeeded: $0) }
        let throttle = Throttle(packetSize: 300, delay: .milliseconds(20))
        let source = BodySource.bytes(bytes).throttled(throttle)
        #expect(source.length == 1_000 && source.isReplayable)
        let start = ContinuousClock.now
        let pieces = try await OpenedFeed.pieces(of: source)
        #expect(pieces.map(\.count) == [300, 300, 300, 100])
        #expect(pieces.flatMap(\.self) == bytes)
        // No upper bound: only that it was not faster than it may be.
        #expect(start.duration(to: .now) >= .milliseconds(60))
    }

    @Test(arguments: [100_000, 65_536, 300_000])
    func `a packet may be larger than the pieces of a file`(packetSize: Int) async throws {
        let folder = try LabFolder()
        let path = try folder.write("file", [UInt8](repeating: 7, count: 700_000))
        let throttle = Throttle(packetSize: packetSize, delay: .seconds(3_600))
        let feed = try await OpenedFeed(.file(path).throttled(throttle))
        var sent = 0
        while sent < packetSize { sent += try await feed.next()?.count ?? 0 }
        #expect(sent == packetSize)
        let waiting = try await feed.ask()
        try await feed.close()
        await #expect(throws: CancellationError.self) { try await waiting.get() }
    }

    @Test func `closing a throttled feed closes its source`() async throws {
        let sequence = WatchedSequence([[1, 2]])
        let reading = SequenceFeed.reading({ sequence }, { ByteBuffer(bytes: $0) })
        let source = BodySource.once(length: nil, reading).throttled(.init(packetSize: 1, delay: .seconds(3_600)))
        let feed = try await OpenedFeed(source)
        #expect(try await feed.next() == [1])
        let waiting = try await feed.ask()
        try await feed.close()
        await #expect(throws: CancellationError.self) { try await waiting.get() }
        #expect(sequence.asked.value == 1)
    }

    @Test func `a packet has at least one byte, and a pause is never negative`() {
        let throttle = Throttle(packetSize: -1, delay: .seconds(-1))
        #expect(throttle.packetSize == 1 && throttle.delay == .zero)
        #expect(Throttle() == Throttle(packetSize: 16_384, delay: .milliseconds(200)))
    }
}
