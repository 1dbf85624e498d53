import DurableStore
import Foundation
import HTTPLab
import NetworkClient
import NetworkLab
import Outbox
import Testing

/// Downloads as items: a program that was away finds the file, as a whole.
@Suite(.timeLimit(.minutes(15))) struct DownloadItemTests {
    private static let content = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 7) }
    private static let head = "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 200000\r\n\r\n"
    /// The first 100,000 bytes, and the end of the connection.
    private static let interrupted: [ServerStep] = [.send(head), .sendBytes(Array(content[..<100_000])), .close]

    /// Responds with the file, or the rest of it.
    private static func file(_ request: AnsweringServer.Request) -> [ServerStep] {
        let from = request["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
        if from == 0 { return [.send(head), .sendBytes(content)] }
        let lines = [
            "HTTP/1.1 206 Partial Content", "ETag: \"v1\"", "Content-Length: \(content.count - from)",
            "Content-Range: bytes \(from)-\(content.count - 1)/\(content.count)",
        ]
        return [.send(lines.joined(separator: "\r\n") + "\r\n\r\n"), .sendBytes(Array(content[from...]))]
    }

    private func target(_ lab: OutboxLab) -> String { "\(lab.folder.path)/files/map.bin" }

    /// The names of all files in the folder of the download.
    private func names(_ lab: OutboxLab) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(lab.folder.path)/files").sorted()
    }

    private func makeLab(respond: @escaping @Sendable (AnsweringServer.Request) -> [ServerStep]) throws -> OutboxLab {
        let lab = try OutboxLab(respond: respond)
        try FileManager.default.createDirectory(atPath: "\(lab.folder.path)/files", withIntermediateDirectories: true)
        return lab
    }

    private func sha256(_ bytes: [UInt8], in lab: OutboxLab) throws -> String {
        let output = try LabProcess.run("/usr/bin/sha256sum", [try lab.folder.write("sum", bytes)]).output
        return String(output.prefix(64))
    }

    @Test(arguments: [true, false])
    func `a program that was away finds the file`(checksDigest: Bool) async throws {
        let lab = try makeLab(respond: Self.file)
        let adding = try await lab.open(OutboxLab.addsOnly)
        let digest = checksDigest ? try sha256(Self.content, in: lab).uppercased() : nil
        try lab.folder.write("files/map.bin", "old")
        let id = try await lab.lane(adding).download("maps/7", to: target(lab), sha256: digest)
        await adding.shutdown()
        let outcome = try #require(await lab.open().next(1).first)
        #expect(outcome.id == id && outcome.end == .delivered && outcome.response?.status == 200)
        #expect(outcome.response?.fields["ETag"] == "\"v1\"" && outcome.method == "GET")
        #expect(try Data(contentsOf: .init(filePath: target(lab))) == Data(Self.content))
        #expect(try names(lab) == ["map.bin"])
        #expect(lab.server.requests.value.map(\.path) == ["/v1/maps/7"])
        #expect(lab.server.requests.value[0]["Idempotency-Key"] == nil)
    }

    @Test func `a file with another digest is refused, and the old one stays`() async throws {
        let lab = try makeLab(respond: Self.file)
        let outbox = try await lab.open()
        try lab.folder.write("files/map.bin", "old")
        let wanted = String(repeating: "0", count: 64)
        try await lab.lane(outbox).download("maps/7", to: target(lab), sha256: wanted)
        let outcome = try #require(await outbox.next(1).first)
        #expect(outcome.end == .refused && outcome.reason.contains("instead of \(wanted)"))
        #expect(try Data(contentsOf: .init(filePath: target(lab))) == Data("old".utf8))
        #expect(try names(lab) == ["map.bin"])
    }

    @Test(.timeLimit(.minutes(5)))
    func `an outbox is closed although the file that was there can't be read to its end`() async throws {
        let lab = try makeLab(respond: Self.file)
        let adding = try await lab.open(OutboxLab.addsOnly)
        try await lab.lane(adding).download("maps/7", to: target(lab), sha256: String(repeating: "0", count: 64))
        await adding.shutdown()
        #expect(mkfifo(target(lab), 0o600) == 0)
        let outbox = try await lab.open()
        // Succeeds once the pipe is opened for reading.
        var writer: Int32 = -1
        while writer < 0 {
            writer = open(target(lab), O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            try await Task.sleep(for: .milliseconds(2))
        }
        defer { close(writer) }
        await outbox.shutdown(within: .zero)
        let item = try #require(await lab.open(OutboxLab.addsOnly).items().first)
        #expect(item.state == .waiting && item.attempts == 0)
        #expect(lab.server.requests.value.isEmpty)
    }

    @Test func `a status about the item refuses it with the response`() async throws {
        let lab = try makeLab { _ in [.response("no such map", status: "404 Not Found")] }
        let outbox = try await lab.open()
        try await lab.lane(outbox).download("maps/7", to: target(lab))
        let outcome = try #require(await outbox.next(1).first)
        #expect(outcome.end == .refused && outcome.response?.status == 404)
        #expect(outcome.response?.body == Array("no such map".utf8))
        #expect(try names(lab) == [])
    }

    /// Opens an outbox until its lane is paused after an interrupted download, and ends that pause.
    private func interrupt(_ lab: OutboxLab) async throws -> String {
        let outbox = try await lab.open()
        try await lab.lane(outbox).download("maps/7", to: target(lab))
        while try await outbox.storage.lanes().first?.pause == nil { try await Task.sleep(for: .milliseconds(1)) }
        await outbox.shutdown()
        let after = try await lab.open(OutboxLab.addsOnly)
        try await after.storage.setPaused(false, lane: "readings")
        await after.shutdown()
        let part = try #require(try names(lab).first { $0.hasSuffix(".part") })
        #expect(!FileManager.default.fileExists(atPath: target(lab)))
        return "files/\(part)"
    }

    private func interruptingLab() throws -> OutboxLab {
        try makeLab { $0["Range"] == nil ? Self.interrupted : Self.file($0) }
    }

    @Test func `an interrupted download continues with all that a killed process received`() async throws {
        let lab = try interruptingLab()
        let part = try await interrupt(lab)
        // Received, and not synchronized before the process was killed.
        try lab.folder.write(part, Array(Self.content[..<150_000]))
        #expect(try await lab.open().next(1).first?.end == .delivered)
        #expect(lab.server.requests.value.last?["Range"] == "bytes=150000-")
        #expect(try Data(contentsOf: .init(filePath: target(lab))) == Data(Self.content))
    }

    @Test func `after a power failure it continues with what was synchronized`() async throws {
        let lab = try interruptingLab()
        let part = try await interrupt(lab)
        // Blocks that were not synchronized may have any contents.
        try lab.folder.write(part, Array(Self.content[..<100_000]) + [UInt8](repeating: 0, count: 50_000))
        try await failPower(lab)
        #expect(try await lab.open().next(1).first?.end == .delivered)
        #expect(lab.server.requests.value.last?["Range"] == "bytes=100000-")
        #expect(try Data(contentsOf: .init(filePath: target(lab))) == Data(Self.content))
    }

    @Test func `after a power failure that cut the part or its record it starts over`() async throws {
        for cutsRecord in [true, false] {
            let lab = try makeLab { $0.connection == 0 ? Self.interrupted : Self.file($0) }
            let part = try await interrupt(lab)
            try lab.folder.write(cutsRecord ? "\(part).info" : part, [])
            try await failPower(lab)
            #expect(try await lab.open().next(1).first?.end == .delivered)
            #expect(lab.server.requests.value.last?["Range"] == nil)
            #expect(try Data(contentsOf: .init(filePath: target(lab))) == Data(Self.content))
        }
    }

    /// Makes the marks those of an earlier boot.
    private func failPower(_ lab: OutboxLab) async throws {
        let outbox = try await lab.open(OutboxLab.addsOnly)
        try await outbox.storage.store.write { try $0.run("UPDATE item SET part = 'x' || substr(part, 2)") }
        await outbox.shutdown()
    }

    @Test func `a file that an earlier process has received is put in its place without a request`() async throws {
        let lab = try makeLab(respond: Self.file)
        let adding = try await lab.open(OutboxLab.addsOnly)
        let digest = try sha256(Self.content, in: lab)
        try await lab.lane(adding).download("maps/7", to: target(lab), sha256: digest)
        let check = try await adding.storage.store.read { try $0.first("SELECT file_check FROM item") { $0.text(0) } }
        let token = try #require((check ?? nil)?.split(separator: " ").last)
        try lab.folder.write("files/.netwatch-\(token)", Self.content)
        await adding.shutdown()
        #expect(try await lab.open().next(1).first?.end == .delivered)
        #expect(lab.server.requests.value.isEmpty)
        #expect(try Data(contentsOf: .init(filePath: target(lab))) == Data(Self.content))
        #expect(try names(lab) == ["map.bin"])
    }

    @Test func `a response that is not confirmed is no file`() async throws {
        let lab = try makeLab { _ in [.response("please sign in")] }
        let outbox = try await lab.open()
        let lane = lab.lane(outbox, .init(confirmation: .field("X-Server")))
        let id = try await lane.download("maps/7", to: target(lab))
        while try await outbox.storage.lanes().first?.pause == nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(try await outbox.items().first?.failure?.contains("captive portal") == true)
        try await outbox.cancel(id)
        #expect(try await outbox.next(1).first?.end == .cancelled)
        #expect(try names(lab) == [])
    }

    @Test func `cancelling an interrupted download removes its part`() async throws {
        let lab = try interruptingLab()
        _ = try await interrupt(lab)
        let outbox = try await lab.open(OutboxLab.addsOnly)
        try await outbox.cancel(try #require(try await outbox.items().first?.id))
        #expect(try names(lab) == [])
    }

    @Test func `a folder that is gone when it is sent refuses the item, and nothing else`() async throws {
        let lab = try makeLab(respond: Self.file)
        let adding = try await lab.open(OutboxLab.addsOnly)
        try await lab.lane(adding).download("maps/7", to: target(lab))
        try await lab.lane(adding).download("maps/8", to: "\(lab.folder.path)/other.bin")
        await adding.shutdown()
        try FileManager.default.removeItem(atPath: "\(lab.folder.path)/files")
        let outcomes = try await lab.open().next(2)
        #expect(Set(outcomes.map { "\($0.reference) \($0.end)" }) == ["maps/7 refused", "maps/8 delivered"])
    }

    @Test func `the same download with the same key is one item`() async throws {
        let lab = try makeLab(respond: Self.file)
        let outbox = try await lab.open(OutboxLab.addsOnly)
        let lane = lab.lane(outbox)
        let options = ItemOptions(key: .custom("k"))
        let id = try await lane.download("maps/7", to: target(lab), options: options)
        #expect(try await lane.download("maps/7", to: target(lab), options: options) == id)
        let error = await #expect(throws: OutboxError.self) {
            try await lane.download("maps/7", to: target(lab) + "2", options: options)
        }
        #expect(error?.code == .keyInUse)
        await outbox.shutdown()
    }

    @Test func `wrong paths and digests are refused, with what to do`() async throws {
        let lab = try makeLab(respond: Self.file)
        let outbox = try await lab.open(OutboxLab.addsOnly)
        for (path, digest, text) in [
            ("map.bin", nil, "not the absolute path"), ("\(lab.folder.path)/none/map.bin", nil, "create it first"),
            ("\(lab.folder.path)/files", nil, "no regular file"), (target(lab), "abc", "64 hexadecimal digits"),
        ] {
            let error = await #expect(throws: OutboxError.self) {
                try await lab.lane(outbox).download("maps/7", to: path, sha256: digest)
            }
            #expect(error?.code == .invalidRequest && error?.reason.contains(text) == true, "\(path)")
        }
        let batches = lab.lane(outbox, .init(batch: .ndjson(items: 5, linger: .zero)))
        await #expect(throws: OutboxError.self) { try await batches.download("maps/7", to: target(lab)) }
    }
}
